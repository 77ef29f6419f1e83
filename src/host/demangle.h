/*
 * demangle.h: names of C++ functions and variables as their authors write them, by the demangler of
 * the C++ runtime. Without one, and for names that it cannot demangle, the mangled name stays.
 */
#ifndef LOCKSTEP_HOST_DEMANGLE_H
#define LOCKSTEP_HOST_DEMANGLE_H

/* "tools::fill<float, 3>" of "_ZN5tools4fillIfLi3EEEvPT_": without return type and parameters.
 * malloc'd. */
char *host_demangle(const char *mangled);

/* "tools::fill" of the same, and "tile" of a variable of a function: without template arguments and
 * unnamed namespaces too. malloc'd. */
char *host_demangle_briefly(const char *mangled);

#endif
