/*
 * openblas.c: opens OpenBLAS; see openblas.h.
 */
#include "openblas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

static openblas_sgemm *sgemm;

static void open_once(void)
{
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **)&sgemm = dlsym(library, "cblas_sgemm");
}

openblas_sgemm *openblas_find_sgemm(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    return sgemm;
}
