/*
 * peer_cublas.c: the same product by cublasLt, for 'lockstep bench': FP8 with scales of every kind
 * (of blocks and lines from CUDA 12.9 on). Integers it does not scale into any of our types.
 */
#include "gemm_scaled.h"

#include "cublaslt.h"

#include <string.h>

enum { TRANSPOSED = 1, BY_VECTOR = 3, BY_VECTOR_OF_128 = 4, BY_BLOCK_OF_128 = 5 };

static struct plan {
    long long value[SCALED_SUMS + 1];
    struct cublaslt_product product;
} plan;

bool scaled_cublas_takes(const struct zoo_problem *problem)
{
    const int64_t *v = problem->value;
    if (v[SCALED_M] == 0 || v[SCALED_N] % 16 != 0 || v[SCALED_K] % 16 != 0 ||
        v[SCALED_TYPE] == SCALED_S8 || v[SCALED_OUT] > OUT_E4M3 || v[SCALED_BATCH] != 1 ||
        v[SCALED_EPILOGUE] != 0)
        return false;
    return v[SCALED_SCALES] != SCALE_BLOCKS ||
           (v[SCALED_K] % SCALE_BLOCK == 0 && v[SCALED_N] % SCALE_BLOCK == 0 &&
            v[SCALED_M] % 4 == 0 && !v[SCALED_SUMS]);
}

const char *scaled_cublas_version(void)
{
    return cublaslt_version();
}

size_t scaled_cublas_workspace(const struct lk_peer_call *call)
{
    (void)call;
    return (size_t)64 << 20;
}

/* cublasLt goes by columns, and what it sees of A B is the transposed B A: B by columns is its
 * first factor, transposed; A by rows is its second. */
static struct cublaslt_buffers buffers_of(const struct lk_peer_call *call)
{
    return (struct cublaslt_buffers){call->buffer[SCALED_B], call->buffer[SCALED_A],
                                     call->buffer[SCALED_D]};
}

/* The benchmark rotates its buffers, and the scales move with them. */
static int set_scales(struct cublaslt_product *product, const struct lk_peer_call *call)
{
    int status =
        cublaslt_set(product, CUBLASLT_A_SCALE, &call->buffer[SCALED_B_SCALE], sizeof(void *));
    if (status == 0)
        status =
            cublaslt_set(product, CUBLASLT_B_SCALE, &call->buffer[SCALED_A_SCALE], sizeof(void *));
    if (status == 0 && call->value[SCALED_OUT] == STORE_E4M3)
        status =
            cublaslt_set(product, CUBLASLT_D_SCALE, &call->buffer[SCALED_D_SCALE], sizeof(void *));
    return status;
}

static int set_modes(struct cublaslt_product *product, const struct lk_peer_call *call)
{
    const int8_t fast = call->value[SCALED_SUMS] != 0;
    bool lines = call->value[SCALED_SCALES] == SCALE_LINES;
    const int32_t a_mode = lines ? BY_VECTOR : BY_BLOCK_OF_128;
    const int32_t b_mode = lines ? BY_VECTOR : BY_VECTOR_OF_128;
    int status = cublaslt_set(product, CUBLASLT_FAST, &fast, sizeof fast);
    if (status != 0 || call->value[SCALED_SCALES] == SCALE_TENSORS)
        return status;
    status = cublaslt_set(product, CUBLASLT_A_SCALE_MODE, &a_mode, sizeof a_mode);
    return status ? status : cublaslt_set(product, CUBLASLT_B_SCALE_MODE, &b_mode, sizeof b_mode);
}

static int make_plan(const struct lk_peer_call *call)
{
    static const int a_types[] = {CUBLASLT_E4M3, CUBLASLT_E4M3, CUBLASLT_E5M2};
    static const int b_types[] = {CUBLASLT_E4M3, CUBLASLT_E5M2, CUBLASLT_E4M3};
    static const int d_types[] = {CUBLASLT_BF16, CUBLASLT_F16, CUBLASLT_F32, CUBLASLT_E4M3};
    long long m = call->value[SCALED_M], n = call->value[SCALED_N], k = call->value[SCALED_K];
    long long type = call->value[SCALED_TYPE];
    const int32_t transposed = TRANSPOSED;
    struct cublaslt_product *product = &plan.product;
    memcpy(plan.value, call->value, sizeof plan.value);
    int status = cublaslt_describe(product, CUBLASLT_COMPUTE_F32, CUBLASLT_F32);
    if (status != 0 ||
        (status = cublaslt_set(product, CUBLASLT_TRANSPOSE_A, &transposed, sizeof transposed)) !=
            0 ||
        (status = cublaslt_layout(&product->a, b_types[type], k, n, k)) != 0 ||
        (status = cublaslt_layout(&product->b, a_types[type], k, m, k)) != 0 ||
        (status = cublaslt_layout(&product->d, d_types[call->value[SCALED_OUT]], n, m, n)) != 0 ||
        (status = set_modes(product, call)) != 0 || (status = set_scales(product, call)) != 0)
        return status;
    struct cublaslt_buffers buffers = buffers_of(call);
    return cublaslt_choose(product, call, &buffers);
}

int scaled_cublas_run(const struct lk_peer_call *call)
{
    int status = 0;
    if (!cublaslt_version())
        return -1;
    if (call->value[SCALED_N] == 0 || call->value[SCALED_K] == 0)
        return 0;
    if (!plan.product.product || memcmp(plan.value, call->value, sizeof plan.value) != 0) {
        plan = (struct plan){0};
        status = make_plan(call);
        if (status != 0)
            plan.product.product = NULL;
    } else {
        status = set_scales(&plan.product, call);
    }
    if (status != 0)
        return status;
    struct cublaslt_buffers buffers = buffers_of(call);
    return cublaslt_multiply(&plan.product, call, &buffers);
}
