/*
 * peer_cublas.c: the same product by cublasLt, for 'lockstep bench'.
 */
#include "gemm.h"

#include "cublaslt.h"

/* What has been set up for one shape. */
static struct plan {
    long long m, n, k, type;
    struct cublaslt_product product;
} plan;

const char *gemm_cublas_version(void)
{
    return cublaslt_version();
}

size_t gemm_cublas_workspace(const struct lk_peer_call *call)
{
    (void)call;
    return (size_t)64 << 20;
}

/* cublasLt goes by columns: what it sees of A B is the transposed B A. */
static struct cublaslt_buffers buffers_of(const struct lk_peer_call *call)
{
    return (struct cublaslt_buffers){call->buffer[GEMM_B], call->buffer[GEMM_A],
                                     call->buffer[GEMM_C]};
}

static int make_plan(const struct lk_peer_call *call)
{
    long long m = call->value[GEMM_M], n = call->value[GEMM_N], k = call->value[GEMM_K];
    struct cublaslt_product *product = &plan.product;
    plan = (struct plan){m, n, k, call->value[GEMM_TYPE]};
    /* In f32 it uses no TF32 unless it is told to. */
    int type = plan.type == GEMM_F16    ? CUBLASLT_F16
               : plan.type == GEMM_BF16 ? CUBLASLT_BF16
                                        : CUBLASLT_F32;
    int compute = plan.type == GEMM_TF32 ? CUBLASLT_COMPUTE_TF32 : CUBLASLT_COMPUTE_F32;
    int status = cublaslt_describe(product, compute, CUBLASLT_F32);
    if (status != 0 || (status = cublaslt_layout(&product->a, type, n, k, n)) != 0 ||
        (status = cublaslt_layout(&product->b, type, k, m, k)) != 0 ||
        (status = cublaslt_layout(&product->d, type, n, m, n)) != 0)
        return status;
    struct cublaslt_buffers buffers = buffers_of(call);
    return cublaslt_choose(product, call, &buffers);
}

int gemm_cublas_run(const struct lk_peer_call *call)
{
    long long m = call->value[GEMM_M], n = call->value[GEMM_N], k = call->value[GEMM_K];
    if (!cublaslt_version())
        return -1;
    if (m == 0 || n == 0 || k == 0)
        return 0;
    if (!plan.product.product || plan.m != m || plan.n != n || plan.k != k ||
        plan.type != call->value[GEMM_TYPE]) {
        int status = make_plan(call);
        if (status != 0) {
            plan.product.product = NULL;
            return status;
        }
    }
    struct cublaslt_buffers buffers = buffers_of(call);
    return cublaslt_multiply(&plan.product, call, &buffers);
}
