/*
 * peer_cusparse.c: the same product by cuSPARSE, for 'lockstep bench'. The library is opened at run
 * time, so that this builds where there is no CUDA toolkit; its types and numbers are those of
 * cusparse.h 12 and 13. Descriptors, and what cusparseSpMV_preprocess finds out about a matrix, are
 * made once for each set of buffers and kept: only the product itself is timed.
 */
#include "spmv.h"

#include "cuda/driver.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NON_TRANSPOSE = 0, INDEX_32I = 2, BASE_ZERO = 0, R_32F = 0 };
enum { ALG_DEFAULT = 0, CSR_ALG2 = 3 };
enum { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL };
enum { FAILED = 1000 }; /* no status of cuSPARSE's */

/* The three calls of a product differ in their last argument alone. */
#define PRODUCT(name, last)                                                                        \
    int (*name)(void *handle, int operation, const void *alpha, const void *a, const void *x,      \
                const void *beta, void *y, int type, int algorithm, last)

static struct {
    void *opened, *handle;
    int (*create)(void **handle);
    int (*set_stream)(void *handle, void *stream);
    int (*get_property)(int type, int *value);
    int (*create_csr)(void **matrix, int64_t rows, int64_t cols, int64_t nonzeros, void *offsets,
                      void *columns, void *values, int offset_type, int column_type, int base,
                      int value_type);
    int (*create_vector)(void **vector, int64_t size, void *values, int type);
    int (*destroy_matrix)(const void *matrix);
    int (*destroy_vector)(const void *vector);
    PRODUCT(buffer_size, size_t *bytes);
    PRODUCT(preprocess, void *buffer); /* NULL before CUDA 12.4 */
    PRODUCT(multiply, void *buffer);
    const struct lk_driver *cuda; /* the buffer must keep its content between products */
} sparse;

static bool open_library(void)
{
    static const char *const names[] = {"libcusparse.so.13", "libcusparse.so.12"};
    static bool tried;
    if (tried)
        return sparse.handle;
    tried = true;
    for (size_t i = 0; i < sizeof names / sizeof *names && !sparse.opened; i++)
        sparse.opened = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    char *message = NULL;
    sparse.cuda = sparse.opened ? lk_driver_open(NULL, NULL, &message) : NULL;
    free(message);
    if (!sparse.cuda)
        return false;
    const struct {
        void *function;
        const char *name;
        bool optional;
    } wanted[] = {
        {&sparse.create, "cusparseCreate", false},
        {&sparse.set_stream, "cusparseSetStream", false},
        {&sparse.get_property, "cusparseGetProperty", false},
        {&sparse.create_csr, "cusparseCreateCsr", false},
        {&sparse.create_vector, "cusparseCreateDnVec", false},
        {&sparse.destroy_matrix, "cusparseDestroySpMat", false},
        {&sparse.destroy_vector, "cusparseDestroyDnVec", false},
        {&sparse.buffer_size, "cusparseSpMV_bufferSize", false},
        {&sparse.preprocess, "cusparseSpMV_preprocess", true},
        {&sparse.multiply, "cusparseSpMV", false},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *symbol = dlsym(sparse.opened, wanted[i].name);
        memcpy(wanted[i].function, &symbol, sizeof symbol);
        if (!symbol && !wanted[i].optional)
            return false;
    }
    return sparse.create(&sparse.handle) == 0;
}

/* A matrix with its vectors, as last seen at these addresses. */
struct plan {
    struct lk_peer_call call;
    int algorithm;
    void *a, *x, *y;
    CUdeviceptr buffer;
};

static const float one = 1, zero = 0;

static void forget(struct plan *plan)
{
    if (plan->a)
        sparse.destroy_matrix(plan->a);
    if (plan->x)
        sparse.destroy_vector(plan->x);
    if (plan->y)
        sparse.destroy_vector(plan->y);
    if (plan->buffer)
        sparse.cuda->cuMemFree_v2(plan->buffer);
    *plan = (struct plan){0};
}

static int make_plan(struct plan *plan, const struct lk_peer_call *call, int algorithm)
{
    int64_t value[8];
    size_t bytes = 0;
    for (int i = 0; i < 8; i++)
        value[i] = call->value[i];
    struct zoo_sparse m = spmv_matrix(value);
    *plan = (struct plan){.call = *call, .algorithm = algorithm};
    int status = sparse.create_csr(&plan->a, m.rows, m.cols, m.nonzeros, call->buffer[OFFSETS],
                                   call->buffer[COLUMNS], call->buffer[VALUES], INDEX_32I,
                                   INDEX_32I, BASE_ZERO, R_32F);
    if (status == 0)
        status = sparse.create_vector(&plan->x, m.cols, call->buffer[X], R_32F);
    if (status == 0)
        status = sparse.create_vector(&plan->y, m.rows, call->buffer[Y], R_32F);
    if (status == 0)
        status = sparse.buffer_size(sparse.handle, NON_TRANSPOSE, &one, plan->a, plan->x, &zero,
                                    plan->y, R_32F, algorithm, &bytes);
    if (status == 0 && sparse.cuda->cuMemAlloc_v2(&plan->buffer, bytes + 16) != CUDA_SUCCESS)
        status = FAILED;
    if (status == 0 && sparse.preprocess)
        status = sparse.preprocess(sparse.handle, NON_TRANSPOSE, &one, plan->a, plan->x, &zero,
                                   plan->y, R_32F, algorithm, (void *)(uintptr_t)plan->buffer);
    if (status != 0)
        forget(plan);
    return status;
}

/* Those of the last calls, the oldest of which makes room for a new one. */
static struct plan *find_plan(const struct lk_peer_call *call, int algorithm, int *status)
{
    static struct plan plans[64];
    static unsigned oldest;
    *status = 0;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        if (plans[i].a && plans[i].algorithm == algorithm &&
            memcmp(plans[i].call.value, call->value, sizeof call->value) == 0 &&
            memcmp(plans[i].call.buffer, call->buffer, 5 * sizeof call->buffer[0]) == 0)
            return &plans[i];
    struct plan *plan = &plans[oldest++ % (sizeof plans / sizeof *plans)];
    forget(plan);
    *status = make_plan(plan, call, algorithm);
    return *status == 0 ? plan : NULL;
}

static int run(const struct lk_peer_call *call, int algorithm)
{
    int status;
    if (!open_library())
        return -1;
    status = sparse.set_stream(sparse.handle, call->stream);
    struct plan *plan = status == 0 ? find_plan(call, algorithm, &status) : NULL;
    if (!plan)
        return status;
    return sparse.multiply(sparse.handle, NON_TRANSPOSE, &one, plan->a, plan->x, &zero, plan->y,
                           R_32F, algorithm, (void *)(uintptr_t)plan->buffer);
}

int spmv_cusparse(const struct lk_peer_call *call)
{
    return run(call, ALG_DEFAULT);
}

int spmv_cusparse_alg2(const struct lk_peer_call *call)
{
    return run(call, CSR_ALG2);
}

size_t spmv_cusparse_workspace(const struct lk_peer_call *call)
{
    (void)call;
    return 0; /* it keeps its own */
}

const char *spmv_cusparse_version(void)
{
    static char text[48];
    int version[3] = {0};
    if (!open_library())
        return NULL;
    for (int i = MAJOR_VERSION; i <= PATCH_LEVEL; i++)
        sparse.get_property(i, &version[i]);
    snprintf(text, sizeof text, "cuSPARSE %d.%d.%d", version[0], version[1], version[2]);
    return text;
}
