/*
 * lt.c: the drop-in libcublasLt for simulated GPUs: matmul with epilogues. Descriptors fit into the
 * opaque structs of NVIDIA's header, as programs may bring the room for them.
 */
#include "clients/blas/blas.h"

#include <stdlib.h>
#include <string.h>

#define API(name, ...)                                                                             \
    EXPORT int name(__VA_ARGS__);                                                                  \
    EXPORT int name(__VA_ARGS__)

struct layout { /* at most 64 bytes */
    uint32_t type;
    int32_t order, batch;
    uint64_t rows, columns;
    int64_t ld, stride;
};

struct desc { /* at most 184 bytes */
    int32_t compute, scale_type, pointer_mode, transpose_a, transpose_b;
    uint32_t epilogue;
    const void *bias, *aux;
    int64_t aux_ld;
    int32_t bias_type, aux_type; /* -1: that of d */
    const void *scales[4];       /* of a, b, c, d */
    const void *amax;
    int32_t scale_modes[4];
};
_Static_assert(sizeof(struct layout) <= 64 && sizeof(struct desc) <= 184, "opaque structs");

/* Attributes: number, place, size
 * ----------------------------------------------------------------*/

struct attribute {
    int number;
    size_t offset, size;
};
static const struct attribute layout_attributes[] = {
    {0, offsetof(struct layout, type), 4},   {1, offsetof(struct layout, order), 4},
    {2, offsetof(struct layout, rows), 8},   {3, offsetof(struct layout, columns), 8},
    {4, offsetof(struct layout, ld), 8},     {5, offsetof(struct layout, batch), 4},
    {6, offsetof(struct layout, stride), 8},
};
static const struct attribute desc_attributes[] = {
    {0, offsetof(struct desc, compute), 4},
    {1, offsetof(struct desc, scale_type), 4},
    {2, offsetof(struct desc, pointer_mode), 4},
    {3, offsetof(struct desc, transpose_a), 4},
    {4, offsetof(struct desc, transpose_b), 4},
    {7, offsetof(struct desc, epilogue), 4},
    {8, offsetof(struct desc, bias), 8},
    {11, offsetof(struct desc, aux), 8},
    {12, offsetof(struct desc, aux_ld), 8},
    {17, offsetof(struct desc, scales[0]), 8},
    {18, offsetof(struct desc, scales[1]), 8},
    {19, offsetof(struct desc, scales[2]), 8},
    {20, offsetof(struct desc, scales[3]), 8},
    {21, offsetof(struct desc, amax), 8},
    {22, offsetof(struct desc, aux_type), 4},
    {26, offsetof(struct desc, bias_type), 4},
    {31, offsetof(struct desc, scale_modes[0]), 4},
    {32, offsetof(struct desc, scale_modes[1]), 4},
    {33, offsetof(struct desc, scale_modes[2]), 4},
    {34, offsetof(struct desc, scale_modes[3]), 4},
};
/* What changes no result here: SMs to use, fast sums of 8 bits */
static const int harmless[] = {15, 25};

static const struct attribute *find(const struct attribute *attributes, size_t count, int number)
{
    for (size_t i = 0; i < count; i++)
        if (attributes[i].number == number)
            return attributes + i;
    return NULL;
}

static int set(void *object, const struct attribute *attribute, const void *value, size_t size)
{
    if (!object || !value || size != attribute->size)
        return BLAS_INVALID_VALUE;
    memcpy((char *)object + attribute->offset, value, size);
    return BLAS_SUCCESS;
}

static int get(const void *object, const struct attribute *attribute, void *value, size_t size,
               size_t *written)
{
    if (written)
        *written = attribute->size;
    if (!size)
        return BLAS_SUCCESS;
    if (!object || !value || size < attribute->size)
        return BLAS_INVALID_VALUE;
    memcpy(value, (const char *)object + attribute->offset, attribute->size);
    return BLAS_SUCCESS;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

API(cublasLtMatrixLayoutSetAttribute, struct layout *layout, int number, const void *value,
    size_t size)
{
    const struct attribute *attribute = find(layout_attributes, COUNT(layout_attributes), number);
    return attribute ? set(layout, attribute, value, size)
                     : (int)blas_refuse("this attribute of a matrix layout", "");
}

API(cublasLtMatrixLayoutGetAttribute, const struct layout *layout, int number, void *value,
    size_t size, size_t *written)
{
    const struct attribute *attribute = find(layout_attributes, COUNT(layout_attributes), number);
    return attribute ? get(layout, attribute, value, size, written) : BLAS_INVALID_VALUE;
}

API(cublasLtMatmulDescSetAttribute, struct desc *desc, int number, const void *value, size_t size)
{
    const struct attribute *attribute = find(desc_attributes, COUNT(desc_attributes), number);
    for (size_t i = 0; i < COUNT(harmless); i++)
        if (number == harmless[i])
            return BLAS_SUCCESS;
    return attribute ? set(desc, attribute, value, size)
                     : (int)blas_refuse("this attribute of cublasLtMatmul", "");
}

API(cublasLtMatmulDescGetAttribute, const struct desc *desc, int number, void *value, size_t size,
    size_t *written)
{
    const struct attribute *attribute = find(desc_attributes, COUNT(desc_attributes), number);
    return attribute ? get(desc, attribute, value, size, written) : BLAS_INVALID_VALUE;
}

/* Making them
 * ------------------------------------------------------------------------------------*/

API(cublasLtMatrixLayoutInit_internal, struct layout *layout, size_t size, int type, uint64_t rows,
    uint64_t columns, int64_t ld)
{
    if (!layout || size < sizeof *layout)
        return BLAS_INVALID_VALUE;
    *layout = (struct layout){
        .type = (uint32_t)type, .batch = 1, .rows = rows, .columns = columns, .ld = ld};
    return BLAS_SUCCESS;
}

API(cublasLtMatrixLayoutCreate, struct layout **layout, int type, uint64_t rows, uint64_t columns,
    int64_t ld)
{
    *layout = malloc(64);
    return *layout ? cublasLtMatrixLayoutInit_internal(*layout, 64, type, rows, columns, ld)
                   : BLAS_ALLOC_FAILED;
}

API(cublasLtMatmulDescInit_internal, struct desc *desc, size_t size, int compute, int scale_type)
{
    if (!desc || size < sizeof *desc)
        return BLAS_INVALID_VALUE;
    *desc = (struct desc){.compute = compute,
                          .scale_type = scale_type,
                          .epilogue = 1,
                          .bias_type = -1,
                          .aux_type = -1};
    return BLAS_SUCCESS;
}

API(cublasLtMatmulDescCreate, struct desc **desc, int compute, int scale_type)
{
    *desc = malloc(256);
    return *desc ? cublasLtMatmulDescInit_internal(*desc, 256, compute, scale_type)
                 : BLAS_ALLOC_FAILED;
}

/* Preferences and algorithms choose among kernels; here is one. */
API(cublasLtMatmulPreferenceInit_internal, void *preference, size_t size)
{
    memset(preference, 0, size);
    return BLAS_SUCCESS;
}

API(cublasLtMatmulPreferenceCreate, void **preference)
{
    *preference = calloc(1, 64);
    return *preference ? BLAS_SUCCESS : BLAS_ALLOC_FAILED;
}

API(cublasLtMatmulPreferenceSetAttribute, void *preference, int number, const void *value,
    size_t size)
{
    (void)number, (void)size;
    return preference && value ? BLAS_SUCCESS : BLAS_INVALID_VALUE;
}

API(cublasLtCreate, void **handle)
{
    if (lk_library_context() != CUDA_SUCCESS)
        return BLAS_NOT_INITIALIZED;
    *handle = calloc(1, sizeof(struct blas_handle)); /* a handle of cuBLAS is one, too */
    return *handle ? BLAS_SUCCESS : BLAS_ALLOC_FAILED;
}

#define FREE(name)                                                                                 \
    API(name, void *object)                                                                        \
    {                                                                                              \
        free(object);                                                                              \
        return BLAS_SUCCESS;                                                                       \
    }
FREE(cublasLtDestroy)
FREE(cublasLtMatrixLayoutDestroy)
FREE(cublasLtMatmulDescDestroy)
FREE(cublasLtMatmulPreferenceDestroy)

EXPORT size_t cublasLtGetVersion(void);
EXPORT size_t cublasLtGetVersion(void)
{
    return CUBLAS_MAJOR * 10000;
}

EXPORT size_t cublasLtGetCudartVersion(void);
EXPORT size_t cublasLtGetCudartVersion(void)
{
    return CUBLAS_MAJOR * 1000;
}

API(cublasLtGetProperty, int property, int *value)
{
    *value = property == 0 ? CUBLAS_MAJOR : 0;
    return BLAS_SUCCESS;
}

/* Matmul
 * -----------------------------------------------------------------------------------------*/

static struct blas_matrix matrix_of(const struct layout *layout, const void *data)
{
    return (struct blas_matrix){.type = layout->type,
                                .data = data,
                                .ld = layout->ld,
                                .stride = layout->stride,
                                .by_row = layout->order == 1};
}

static bool has_plain_order(const struct layout *layout)
{
    return layout->order == 0 || layout->order == 1;
}

/* Bits of cublasLtEpilogue_t */
enum { RELU = 2, BIAS = 4, GELU = 32, AUX = 128 };

static int put_epilogue(struct blas_product *product, const struct desc *desc,
                        const struct layout *d)
{
    unsigned epilogue = desc->epilogue & ~1u;
    bool eight_bits = d->type == TYPE_E4M3 || d->type == TYPE_E5M2;
    if ((epilogue & ~(unsigned)(RELU | BIAS | GELU | AUX)) ||
        (epilogue & (RELU | AUX)) == (RELU | AUX))
        return (int)blas_refuse("cublasLtMatmul", "with this epilogue");
    if ((epilogue & BIAS && !desc->bias) || (epilogue & AUX && !desc->aux))
        return BLAS_INVALID_VALUE;
    if (epilogue & BIAS) {
        product->bias = desc->bias;
        product->bias_type = desc->bias_type >= 0 ? (enum blas_type)desc->bias_type
                             : eight_bits         ? TYPE_BF16
                                                  : (enum blas_type)d->type;
    }
    product->activation = epilogue & RELU   ? ACTIVATION_RELU
                          : epilogue & GELU ? ACTIVATION_GELU
                                            : ACTIVATION_NONE;
    if (epilogue & AUX) {
        if (desc->aux_type >= 0 && desc->aux_type != (int32_t)d->type)
            return (int)blas_refuse("cublasLtMatmul", "with an auxiliary output of its own type");
        product->before_activation = (void *)desc->aux;
        product->before_ld = desc->aux_ld;
    }
    return BLAS_SUCCESS;
}

static int check(const struct desc *desc, const struct layout *const all[4])
{
    for (int i = 0; i < 4; i++) {
        if (!has_plain_order(all[i]))
            return (int)blas_refuse("cublasLtMatmul", "with this order of a matrix");
        if (desc->scale_modes[i])
            return (int)blas_refuse("cublasLtMatmul", "with scales by block");
        if (all[i]->batch != all[3]->batch)
            return BLAS_INVALID_VALUE;
    }
    if (desc->pointer_mode > 1)
        return (int)blas_refuse("cublasLtMatmul", "with a vector of alpha");
    if (desc->amax)
        return (int)blas_refuse("cublasLtMatmul", "with amax");
    const struct layout *a = all[0], *b = all[1], *d = all[3];
    uint64_t m = desc->transpose_a ? a->columns : a->rows,
             k = desc->transpose_a ? a->rows : a->columns;
    uint64_t n = desc->transpose_b ? b->rows : b->columns,
             l = desc->transpose_b ? b->columns : b->rows;
    return m == d->rows && n == d->columns && k == l ? BLAS_SUCCESS : BLAS_INVALID_VALUE;
}

API(cublasLtMatmul, const void *handle, const struct desc *desc, const void *alpha, const void *a,
    const struct layout *a_layout, const void *b, const struct layout *b_layout, const void *beta,
    const void *c, const struct layout *c_layout, void *d, const struct layout *d_layout,
    const void *algorithm, void *workspace, size_t workspace_size, CUstream stream)
{
    (void)algorithm, (void)workspace, (void)workspace_size;
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    if (!desc || !alpha || !beta || !a_layout || !b_layout || !c_layout || !d_layout)
        return BLAS_INVALID_VALUE;
    int status =
        check(desc, (const struct layout *const[]){a_layout, b_layout, c_layout, d_layout});
    if (status != BLAS_SUCCESS)
        return status;
    struct blas_product product = {
        .transpose_a = desc->transpose_a,
        .transpose_b = desc->transpose_b,
        .m = (int64_t)d_layout->rows,
        .n = (int64_t)d_layout->columns,
        .k = (int64_t)(desc->transpose_a ? a_layout->rows : a_layout->columns),
        .batch = d_layout->batch,
        .a = matrix_of(a_layout, a),
        .b = matrix_of(b_layout, b),
        .c = matrix_of(c_layout, c),
        .d = matrix_of(d_layout, d),
        .compute = desc->compute,
        .scale_type = (enum blas_type)desc->scale_type,
        .scale_a = desc->scales[0],
        .scale_b = desc->scales[1],
        .scale_c = desc->scales[2],
        .scale_d = desc->scales[3]};
    status = put_epilogue(&product, desc, d_layout);
    if (status != BLAS_SUCCESS)
        return status;
    if (desc->pointer_mode == 1) {
        product.device_alpha = alpha;
        product.device_beta = beta;
    } else {
        blas_widen(product.scale_type, alpha, 0, product.alpha);
        blas_widen(product.scale_type, beta, 0, product.beta);
    }
    return (int)blas_product(stream, "cublasLtMatmul", &product);
}

struct heuristic {
    uint64_t algorithm[8];
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

API(cublasLtMatmulAlgoGetHeuristic, const void *handle, const void *desc, const void *a,
    const void *b, const void *c, const void *d, const void *preference, int wanted,
    struct heuristic *results, int *count)
{
    (void)handle, (void)desc, (void)a, (void)b, (void)c, (void)d, (void)preference;
    if (wanted < 1 || !results || !count)
        return BLAS_INVALID_VALUE;
    *results = (struct heuristic){.algorithm = {1}, .waves = 1};
    *count = 1;
    return BLAS_SUCCESS;
}

API(cublasLtMatmulAlgoGetIds, const void *handle, int compute, int scale, int a, int b, int c,
    int d, int wanted, int *ids, int *count)
{
    (void)handle, (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
    if (wanted < 1 || !ids || !count)
        return BLAS_INVALID_VALUE;
    *ids = 1;
    *count = 1;
    return BLAS_SUCCESS;
}

API(cublasLtMatmulAlgoInit, const void *handle, int compute, int scale, int a, int b, int c, int d,
    int id, uint64_t *algorithm)
{
    (void)handle, (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
    if (id != 1 || !algorithm)
        return BLAS_INVALID_VALUE;
    memset(algorithm, 0, 64);
    *algorithm = 1;
    return BLAS_SUCCESS;
}

API(cublasLtMatmulAlgoCheck, const void *handle, const void *desc, const void *a, const void *b,
    const void *c, const void *d, const uint64_t *algorithm, struct heuristic *result)
{
    int count;
    return algorithm
               ? cublasLtMatmulAlgoGetHeuristic(handle, desc, a, b, c, d, NULL, 1, result, &count)
               : BLAS_INVALID_VALUE;
}

API(cublasLtMatmulAlgoConfigSetAttribute, uint64_t *algorithm, int number, const void *value,
    size_t size)
{
    (void)number, (void)size; /* tiles and stages: there is one kernel */
    return algorithm && value ? BLAS_SUCCESS : BLAS_INVALID_VALUE;
}

#define NO(name)                                                                                   \
    EXPORT int name(void);                                                                         \
    EXPORT int name(void)                                                                          \
    {                                                                                              \
        return (int)blas_refuse(#name, "");                                                        \
    }
#include "clients/blas/unsupported_lt.def"
