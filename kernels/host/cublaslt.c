/*
 * cublaslt.c: cublasLt, opened at run time; see cublaslt.h.
 */
#include "cublaslt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { WORKSPACE_BYTES = 1, ALGORITHMS = 16, REPEATS = 8 };
struct heuristic {
    uint64_t algorithm[8];
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

static struct {
    void *handle;
    size_t (*version)(void);
    int (*create_product)(void **, int compute, int scale);
    int (*set)(void *product, int attribute, const void *value, size_t bytes);
    int (*create_layout)(void **, int type, uint64_t rows, uint64_t columns, int64_t pitch);
    int (*create_wish)(void **);
    int (*set_wish)(void *, int attribute, const void *value, size_t bytes);
    int (*heuristics)(void *handle, void *product, void *a, void *b, void *c, void *d, void *wish,
                      int wanted, struct heuristic *results, int *count);
    int (*multiply)(void *handle, void *product, const void *alpha, const void *a, void *a_layout,
                    const void *b, void *b_layout, const void *beta, const void *c, void *c_layout,
                    void *d, void *d_layout, const uint64_t *algorithm, void *workspace,
                    size_t workspace_bytes, void *stream);
    int (*create_event)(void **, unsigned flags);
    int (*record)(void *event, void *stream);
    int (*wait)(void *event);
    int (*elapsed)(float *ms, void *from, void *to);
    void *from, *to; /* events */
    char name[32];
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
        !load(library, "cublasLtMatmulDescSetAttribute", &lt.set) ||
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

const char *cublaslt_version(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    return lt.handle ? lt.name : NULL;
}

int cublaslt_describe(struct cublaslt_product *product, int compute, int scale_type)
{
    return lt.create_product(&product->product, compute, scale_type);
}

int cublaslt_set(struct cublaslt_product *product, enum cublaslt_attribute attribute,
                 const void *value, size_t bytes)
{
    return lt.set(product->product, (int)attribute, value, bytes);
}

int cublaslt_layout(void **layout, int type, int64_t rows, int64_t columns, int64_t pitch)
{
    return lt.create_layout(layout, type, (uint64_t)rows, (uint64_t)columns, pitch);
}

static int run(const struct cublaslt_product *p, const struct lk_peer_call *call,
               const struct cublaslt_buffers *buffers, const uint64_t *algorithm)
{
    const float one = 1, zero = 0;
    return lt.multiply(lt.handle, p->product, &one, buffers->a, p->a, buffers->b, p->b, &zero,
                       buffers->d, p->d, buffers->d, p->d, algorithm, call->workspace,
                       call->workspace_bytes, call->stream);
}

static float time_of(const struct cublaslt_product *product, const struct lk_peer_call *call,
                     const struct cublaslt_buffers *buffers, const uint64_t *algorithm)
{
    float best = 1e30f;
    for (int i = 0; i < REPEATS; i++) {
        float ms = 1e30f;
        if (lt.record(lt.from, call->stream) != 0 || run(product, call, buffers, algorithm) != 0 ||
            lt.record(lt.to, call->stream) != 0 || lt.wait(lt.to) != 0 ||
            lt.elapsed(&ms, lt.from, lt.to) != 0)
            return 1e30f;
        best = ms < best ? ms : best;
    }
    return best;
}

int cublaslt_choose(struct cublaslt_product *product, const struct lk_peer_call *call,
                    const struct cublaslt_buffers *buffers)
{
    struct heuristic found[ALGORITHMS];
    void *wish = NULL;
    int count = 0;
    float best = 1e30f;
    if (lt.create_wish(&wish) != 0 ||
        lt.set_wish(wish, WORKSPACE_BYTES, &call->workspace_bytes, sizeof(size_t)) != 0)
        return 1;
    int status = lt.heuristics(lt.handle, product->product, product->a, product->b, product->d,
                               product->d, wish, ALGORITHMS, found, &count);
    if (status != 0 || count == 0)
        return status ? status : 1;
    for (int i = 0; i < count; i++) {
        float ms = time_of(product, call, buffers, found[i].algorithm);
        if (ms < best) {
            best = ms;
            memcpy(product->algorithm, found[i].algorithm, sizeof product->algorithm);
        }
    }
    return best < 1e30f ? 0 : 1;
}

int cublaslt_multiply(const struct cublaslt_product *product, const struct lk_peer_call *call,
                      const struct cublaslt_buffers *buffers)
{
    return run(product, call, buffers, product->algorithm);
}
