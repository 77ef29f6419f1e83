/*
 * peer_cublas.c: the same product by cublasLt, opened at run time, for 'lockstep bench'. cublasLt
 * offers several algorithms for a shape; the first call times each of them and keeps the fastest,
 * as a careful user would.
 */
#include "gemm.h"

#include "peer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* As far as cublasLt.h and library_types.h are needed here. */
enum {
    COMPUTE_F32 = 68,
    COMPUTE_TF32 = 77,
    F32 = 0,
    F16 = 2,
    BF16 = 14,
    WORKSPACE_BYTES = 1,
    ALGORITHMS = 16,
    REPEATS = 8
};
struct algorithm {
    uint64_t data[8];
};
struct heuristic {
    struct algorithm algorithm;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

/* What has been set up for one shape. */
struct plan {
    long long m, n, k, type;
    void *product, *a, *b, *c;
    struct algorithm algorithm;
};

static struct {
    void *handle;
    size_t (*version)(void);
    int (*create_product)(void **, int compute, int scale);
    int (*create_layout)(void **, int type, uint64_t rows, uint64_t columns, int64_t pitch);
    int (*create_wish)(void **);
    int (*set_wish)(void *, int attribute, const void *value, size_t bytes);
    int (*heuristics)(void *handle, void *product, void *a, void *b, void *c, void *d, void *wish,
                      int wanted, struct heuristic *results, int *count);
    int (*multiply)(void *handle, void *product, const void *alpha, const void *a, void *a_layout,
                    const void *b, void *b_layout, const void *beta, const void *c, void *c_layout,
                    void *d, void *d_layout, const struct algorithm *algorithm, void *workspace,
                    size_t workspace_bytes, void *stream);
    int (*create_event)(void **, unsigned flags);
    int (*record)(void *event, void *stream);
    int (*wait)(void *event);
    int (*elapsed)(float *ms, void *from, void *to);
    void *from, *to; /* events */
    char name[32];
    struct plan plan;
} lt;

static bool load(void *library, const char *name, void *function)
{
    void *at = dlsym(library, name);
    memcpy(function, &at, sizeof at);
    return at != NULL;
}

/* Leaves lt.handle NULL if anything is missing. */
static void open_once(void)
{
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
    void *library = NULL, *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *handle = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    int (*create)(void **);
    if (!library || !driver || !load(library, "cublasLtCreate", &create) ||
        !load(library, "cublasLtGetVersion", &lt.version) ||
        !load(library, "cublasLtMatmulDescCreate", &lt.create_product) ||
        !load(library, "cublasLtMatrixLayoutCreate", &lt.create_layout) ||
        !load(library, "cublasLtMatmulPreferenceCreate", &lt.create_wish) ||
        !load(library, "cublasLtMatmulPreferenceSetAttribute", &lt.set_wish) ||
        !load(library, "cublasLtMatmulAlgoGetHeuristic", &lt.heuristics) ||
        !load(library, "cublasLtMatmul", &lt.multiply) ||
        !load(driver, "cuEventCreate", &lt.create_event) ||
        !load(driver, "cuEventRecord", &lt.record) ||
        !load(driver, "cuEventSynchronize", &lt.wait) ||
        !load(driver, "cuEventElapsedTime", &lt.elapsed))
        return;
    if (create(&handle) != 0 || lt.create_event(&lt.from, 0) != 0 ||
        lt.create_event(&lt.to, 0) != 0)
        return;
    size_t version = lt.version(); /* 13.1.0 is 130100 */
    snprintf(lt.name, sizeof lt.name, "cublasLt %zu.%zu.%zu", version / 10000, version / 100 % 100,
             version % 100);
    lt.handle = handle;
}

static bool opened(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    return lt.handle != NULL;
}

const char *gemm_cublas_version(void)
{
    return opened() ? lt.name : NULL;
}

size_t gemm_cublas_workspace(const struct lk_peer_call *call)
{
    (void)call;
    return (size_t)64 << 20;
}

/* cublasLt goes by columns: what it sees of A B is the transposed B A. */
static int run(const struct lk_peer_call *call, const struct algorithm *algorithm)
{
    const float one = 1, zero = 0;
    void *c = call->buffer[GEMM_C];
    return lt.multiply(lt.handle, lt.plan.product, &one, call->buffer[GEMM_B], lt.plan.b,
                       call->buffer[GEMM_A], lt.plan.a, &zero, c, lt.plan.c, c, lt.plan.c,
                       algorithm, call->workspace, call->workspace_bytes, call->stream);
}

static float time_of(const struct lk_peer_call *call, const struct algorithm *algorithm)
{
    float best = 1e30f;
    for (int i = 0; i < REPEATS; i++) {
        float ms = 1e30f;
        if (lt.record(lt.from, call->stream) != 0 || run(call, algorithm) != 0 ||
            lt.record(lt.to, call->stream) != 0 || lt.wait(lt.to) != 0 ||
            lt.elapsed(&ms, lt.from, lt.to) != 0)
            return 1e30f;
        best = ms < best ? ms : best;
    }
    return best;
}

static int make_plan(const struct lk_peer_call *call)
{
    uint64_t m = (uint64_t)call->value[GEMM_M], n = (uint64_t)call->value[GEMM_N],
             k = (uint64_t)call->value[GEMM_K];
    struct heuristic found[ALGORITHMS];
    void *wish = NULL;
    int count = 0;
    float best = 1e31f;
    struct plan *plan = &lt.plan;
    *plan = (struct plan){call->value[GEMM_M], call->value[GEMM_N], call->value[GEMM_K],
                          call->value[GEMM_TYPE]};
    /* In f32 it uses no TF32 unless it is told to. */
    int type = plan->type == GEMM_F16 ? F16 : plan->type == GEMM_BF16 ? BF16 : F32;
    int compute = plan->type == GEMM_TF32 ? COMPUTE_TF32 : COMPUTE_F32;
    if (lt.create_product(&plan->product, compute, F32) != 0 ||
        lt.create_layout(&plan->b, type, n, k, (int64_t)n) != 0 ||
        lt.create_layout(&plan->a, type, k, m, (int64_t)k) != 0 ||
        lt.create_layout(&plan->c, type, n, m, (int64_t)n) != 0 || lt.create_wish(&wish) != 0 ||
        lt.set_wish(wish, WORKSPACE_BYTES, &call->workspace_bytes, sizeof(size_t)) != 0)
        return 1;
    int status = lt.heuristics(lt.handle, plan->product, plan->b, plan->a, plan->c, plan->c, wish,
                               ALGORITHMS, found, &count);
    if (status != 0 || count == 0)
        return status ? status : 1;
    for (int i = 0; i < count; i++) {
        float ms = time_of(call, &found[i].algorithm);
        if (ms < best) {
            best = ms;
            plan->algorithm = found[i].algorithm;
        }
    }
    return 0;
}

int gemm_cublas_run(const struct lk_peer_call *call)
{
    long long m = call->value[GEMM_M], n = call->value[GEMM_N], k = call->value[GEMM_K];
    if (!opened())
        return -1;
    if (m == 0 || n == 0 || k == 0)
        return 0;
    if (!lt.plan.product || lt.plan.m != m || lt.plan.n != n || lt.plan.k != k ||
        lt.plan.type != call->value[GEMM_TYPE]) {
        int status = make_plan(call);
        if (status != 0)
            return status;
    }
    return run(call, &lt.plan.algorithm);
}
