/*
 * peer_cublas.c: the same product by cuBLAS in f32 (no TF32), opened at run time, for
 * 'lockstep bench'.
 */
#include "matmul.h"

#include "peer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

/* As far as cublas_v2.h is needed here. */
typedef struct cublas_context *handle_t;
enum { CUBLAS_OP_N = 0, CUBLAS_DEFAULT_MATH = 0 };

static struct {
    handle_t handle;
    int (*set_stream)(handle_t, void *stream);
    int (*sgemm)(handle_t, int of_a, int of_b, int m, int n, int k, const float *alpha,
                 const float *a, int lda, const float *b, int ldb, const float *beta, float *c,
                 int ldc);
    char version[32];
} cublas;

static void *open_library(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* Leaves cublas.handle NULL if anything is missing. */
static void open_once(void)
{
    void *library = open_library();
    if (!library)
        return;
    int (*create)(handle_t *) = (int (*)(handle_t *))dlsym(library, "cublasCreate_v2");
    int (*set_math)(handle_t, int) = (int (*)(handle_t, int))dlsym(library, "cublasSetMathMode");
    int (*get_version)(handle_t, int *) =
        (int (*)(handle_t, int *))dlsym(library, "cublasGetVersion_v2");
    *(void **)&cublas.set_stream = dlsym(library, "cublasSetStream_v2");
    *(void **)&cublas.sgemm = dlsym(library, "cublasSgemm_v2");
    handle_t handle;
    int version = 0;
    if (!create || !set_math || !get_version || !cublas.set_stream || !cublas.sgemm ||
        create(&handle) != 0)
        return;
    if (set_math(handle, CUBLAS_DEFAULT_MATH) != 0 || get_version(handle, &version) != 0)
        return;
    /* 13.1.0 is 130100, 12.8.4 is 120804. */
    snprintf(cublas.version, sizeof cublas.version, "cuBLAS %d.%d.%d", version / 10000,
             version / 100 % 100, version % 100);
    cublas.handle = handle;
}

static bool opened(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    return cublas.handle != NULL;
}

const char *matmul_cublas_version(void)
{
    return opened() ? cublas.version : NULL;
}

/* cuBLAS goes by columns: what it sees of A B is the transposed B A. */
int matmul_cublas_run(const struct lk_peer_call *call)
{
    const float one = 1, zero = 0;
    int m = (int)call->value[MATMUL_M], n = (int)call->value[MATMUL_N],
        k = (int)call->value[MATMUL_K];
    if (!opened())
        return -1;
    int status = cublas.set_stream(cublas.handle, call->stream);
    if (status != 0 || m == 0 || n == 0)
        return status;
    return cublas.sgemm(cublas.handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one,
                        call->buffer[MATMUL_B], n, call->buffer[MATMUL_A], k ? k : 1, &zero,
                        call->buffer[MATMUL_C], n);
}
