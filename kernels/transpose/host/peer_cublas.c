/*
 * peer_cublas.c: the same transposition by cuBLAS (geam, which adds two matrices, each of them
 * transposed or not), for 'lockstep bench'. The library is opened at run time and never needed.
 */
#include "peer.h"

#include <dlfcn.h>
#include <stdio.h>

typedef struct cublas_context *cublas_handle;
enum { OP_N, OP_T };

static struct {
    cublas_handle handle; /* NULL: not here */
    int (*create)(cublas_handle *);
    int (*version)(cublas_handle, int *);
    int (*stream)(cublas_handle, void *);
    int (*sgeam)(cublas_handle, int transpose_a, int transpose_b, int m, int n, const float *alpha,
                 const float *a, int lda, const float *beta, const float *b, int ldb, float *c,
                 int ldc);
} cublas;

static cublas_handle open_library(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", NULL};
    static int tried;
    void *library = NULL;
    if (tried++)
        return cublas.handle;
    for (int i = 0; names[i] && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return NULL;
    *(void **)&cublas.create = dlsym(library, "cublasCreate_v2");
    *(void **)&cublas.version = dlsym(library, "cublasGetVersion_v2");
    *(void **)&cublas.stream = dlsym(library, "cublasSetStream_v2");
    *(void **)&cublas.sgeam = dlsym(library, "cublasSgeam");
    if (!cublas.create || !cublas.version || !cublas.stream || !cublas.sgeam ||
        cublas.create(&cublas.handle) != 0)
        cublas.handle = NULL;
    return cublas.handle;
}

/* cuBLAS counts by columns: our rows x cols is its cols x rows, and the result its rows x cols. */
int transpose_cublas_run(const struct lk_peer_call *call)
{
    const float one = 1, zero = 0;
    int rows = (int)call->value[0], cols = (int)call->value[1];
    float *out = call->buffer[1];
    if (!open_library())
        return -1;
    int status = cublas.stream(cublas.handle, call->stream);
    return status ? status
                  : cublas.sgeam(cublas.handle, OP_T, OP_N, rows, cols, &one, call->buffer[0], cols,
                                 &zero, out, rows, out, rows);
}

const char *transpose_cublas_version(void)
{
    static char text[32];
    int version;
    if (!open_library() || cublas.version(cublas.handle, &version) != 0)
        return NULL;
    snprintf(text, sizeof text, "cuBLAS %d.%d.%d", version / 10000, version / 100 % 100,
             version % 100);
    return text;
}
