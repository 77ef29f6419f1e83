/*
 * demangle.h: names of C++ functions and variables as their authors write them, by the demangler of
 * the C++ runtime. Without one, and for names that it does not know, the mangled name stays.
 */
#ifndef LOCKSTEP_BASE_DEMANGLE_H
#define LOCKSTEP_BASE_DEMANGLE_H

/* "tools::fill<float, 3>" of "_ZN5tools4fillIfLi3EEEvPT_": without return type and parameters.
 * malloc'd. */
char *lk_demangle(const char *mangled);

/* "tools::fill" of the same, and "tile" of a variable of a function: without template arguments and
 * unnamed namespaces too. malloc'd. */
char *lk_demangle_briefly(const char *mangled);

#endif
