/*
 * exec_tensor_float.c: mma.sync on f16, bf16, tf32, f8 and f64.
 * A tile's fragments are unpacked to small row-major float arrays, exec_tensor_sum.c adds up the
 * products, and the result is packed again. Everything is read before anything is written: d may
 * share registers with a, b and c. f16 m8n8k4, whose layout is its own, is at the end.
 */
#include "simt/tensor.h"

#include <fenv.h>
#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Conversions of 8 values ----------------------------------------------------------------------- */

#ifndef __F16C__
static float half_to_float(uint16_t h)
{
    uint32_t magnitude = h & 0x7fff, sign = (uint32_t)(h & 0x8000) << 16, bits;
    if (magnitude >= 0x7c00) {
        bits = 0x7f800000 | (magnitude & 0x3ff) << 13;
    } else {
        float scaled = (float)magnitude * 0x1p-24f; /* a subnormal: its value */
        if (magnitude >= 0x400) {
            bits = (magnitude << 13) + (112u << 23);
        } else {
            memcpy(&bits, &scaled, 4);
        }
    }
    bits |= sign;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

/* Of a float that is an f16's value. */
static uint16_t half_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    bits &= 0x7fffffff;
    if (bits >= 0x7f800000)
        return (uint16_t)(sign | 0x7c00 | (bits >> 13 & 0x3ff));
    if (bits < 113u << 23)
        return (uint16_t)(sign | (uint16_t)(fabsf(f) * 0x1p24f));
    return (uint16_t)(sign | ((bits - (112u << 23)) >> 13));
}
#endif

static inline void floats_of_halves(const uint8_t *halves, float *f)
{
#ifdef __F16C__
    _mm256_storeu_ps(f, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)halves)));
#else
    uint16_t h[8];
    memcpy(h, halves, sizeof(h));
    for (int i = 0; i < 8; i++)
        f[i] = half_to_float(h[i]);
#endif
}

static inline void halves_of_floats(const float *f, uint8_t *halves)
{
#ifdef __F16C__
    _mm_storeu_si128((__m128i *)(void *)halves,
                     _mm256_cvtps_ph(_mm256_loadu_ps(f), _MM_FROUND_TO_NEAREST_INT));
#else
    uint16_t h[8];
    for (int i = 0; i < 8; i++)
        h[i] = half_of_float(f[i]);
    memcpy(halves, h, sizeof(h));
#endif
}

/* 16 bytes of a fragment's row to floats: 8 f16 or bf16, 4 tf32, 16 f8. */
static inline void unpack_16_bytes(enum ptx_type type, const uint8_t *bytes, float *f)
{
    uint32_t words[16];
    uint16_t halves[16];
    switch (type) {
    case PTX_F16:
        floats_of_halves(bytes, f);
        break;
    case PTX_BF16:
        memcpy(halves, bytes, 16);
        for (int i = 0; i < 8; i++)
            words[i] = (uint32_t)halves[i] << 16;
        memcpy(f, words, 32);
        break;
    case PTX_TF32: /* the GPU ignores the 13 low bits */
        memcpy(words, bytes, 16);
        for (int i = 0; i < 4; i++)
            words[i] &= 0xffffe000;
        memcpy(f, words, 16);
        break;
    case PTX_E5M2:
        for (int i = 0; i < 16; i++)
            halves[i] = (uint16_t)(bytes[i] << 8);
        floats_of_halves((const uint8_t *)halves, f);
        floats_of_halves((const uint8_t *)(halves + 8), f + 8);
        break;
    default: /* e4m3: as f16 bits, its value is 256 times too small; it has NaN but no infinity */
        for (int i = 0; i < 16; i++) {
            unsigned x = bytes[i];
            halves[i] =
                (uint16_t)((x & 0x7f) == 0x7f ? 0x7fff : (x & 0x80) << 8 | (x & 0x7f) << 7);
        }
        floats_of_halves((const uint8_t *)halves, f);
        floats_of_halves((const uint8_t *)(halves + 8), f + 8);
        for (int i = 0; i < 16; i++)
            f[i] *= 256;
        break;
    }
}

static unsigned values_in_16_bytes(enum ptx_type type)
{
    return 128 / ptx_type_bits(type);
}

static int lowest_exponent(enum ptx_type type, bool via_f16)
{
    if (type == PTX_BF16 || type == PTX_TF32)
        return -126;
    return type == PTX_E4M3 && !via_f16 ? -6 : -14;
}

/* One tile -------------------------------------------------------------------------------------- */

/* Rows of A (rows = 8 or 16), or columns of B (rows = 8). order: which row of a register comes
 * where, NULL for as they are. */
static void unpack_rows(enum ptx_type type, const uint8_t *const *regs, unsigned rows, unsigned k,
                        float *f)
{
    unsigned values = values_in_16_bytes(type), blocks = rows / 8;
    for (unsigned piece = 0; piece * values < k; piece++) {
        for (unsigned block = 0; block < blocks; block++) {
            const uint8_t *reg = regs[piece * blocks + block];
            float *to = f + 8 * block * k + piece * values;
            for (unsigned row = 0; row < 8; row++)
                unpack_16_bytes(type, reg + 16 * row, to + row * k);
        }
    }
}

/* The order of columns in a tile: even ones first, so that a row of f32 accumulators is two pieces
 * of 16 bytes as they lie in registers; or as they are, as f16 accumulators lie. */
static const uint8_t even_first[8] = {0, 2, 4, 6, 1, 3, 5, 7};
static const uint8_t as_they_are[8] = {0, 1, 2, 3, 4, 5, 6, 7};

/* columns [8][k] to b [k][8] in a given order. */
static void transpose(const float *columns, unsigned k, const uint8_t *order, float *b)
{
#ifdef __AVX__
    for (unsigned at = 0; at + 8 <= k; at += 8) {
        __m256 x[8], y[8];
        for (int i = 0; i < 8; i++)
            x[i] = _mm256_loadu_ps(columns + order[i] * k + at);
        for (int i = 0; i < 4; i++) {
            y[2 * i] = _mm256_unpacklo_ps(x[2 * i], x[2 * i + 1]);
            y[2 * i + 1] = _mm256_unpackhi_ps(x[2 * i], x[2 * i + 1]);
        }
        for (int i = 0; i < 8; i += 4) {
            x[i] = _mm256_shuffle_ps(y[i], y[i + 2], 0x44);
            x[i + 1] = _mm256_shuffle_ps(y[i], y[i + 2], 0xee);
            x[i + 2] = _mm256_shuffle_ps(y[i + 1], y[i + 3], 0x44);
            x[i + 3] = _mm256_shuffle_ps(y[i + 1], y[i + 3], 0xee);
        }
        for (int i = 0; i < 4; i++) {
            _mm256_store_ps(b + 8 * (at + i), _mm256_permute2f128_ps(x[i], x[i + 4], 0x20));
            _mm256_store_ps(b + 8 * (at + i + 4), _mm256_permute2f128_ps(x[i], x[i + 4], 0x31));
        }
    }
    unsigned done = k & ~7u;
#else
    unsigned done = 0;
#endif
    for (unsigned i = done; i < k; i++) {
        for (unsigned n = 0; n < 8; n++)
            b[8 * i + n] = columns[order[n] * k + i];
    }
}

static void unpack_accumulators(const uint8_t *const *regs, unsigned rows, bool half,
                                const uint8_t *order, float *c)
{
    for (unsigned m = 0; m < rows; m++) {
        unsigned at = 16 * (m % 8);
        if (half) {
            floats_of_halves(regs[m / 8] + at, c + 8 * m);
        } else if (order == even_first) {
            memcpy(c + 8 * m, regs[m / 8 * 2] + at, 16);
            memcpy(c + 8 * m + 4, regs[m / 8 * 2 + 1] + at, 16);
        } else {
            for (unsigned n = 0; n < 8; n++)
                memcpy(c + 8 * m + n, regs[m / 8 * 2 + n % 2] + at + n / 2 * 4, 4);
        }
    }
}

static void pack_accumulators(uint8_t *const *regs, unsigned rows, bool half, const uint8_t *order,
                              const float *d)
{
    for (unsigned m = 0; m < rows; m++) {
        unsigned at = 16 * (m % 8);
        if (half) {
            halves_of_floats(d + 8 * m, regs[m / 8] + at);
        } else if (order == even_first) {
            memcpy(regs[m / 8 * 2] + at, d + 8 * m, 16);
            memcpy(regs[m / 8 * 2 + 1] + at, d + 8 * m + 4, 16);
        } else {
            for (unsigned n = 0; n < 8; n++)
                memcpy(regs[m / 8 * 2 + n % 2] + at + n / 2 * 4, d + 8 * m + n, 4);
        }
    }
}

static void prepare(struct tensor_sum *sum, const struct gpu_info *gpu,
                    const struct tensor_float_kind *kind)
{
    sum->model = tensor_model_for(gpu->cc_major, gpu->cc_minor, kind->a_type);
    sum->rows = kind->rows;
    sum->k = kind->k;
    sum->c_half = kind->c_half;
    sum->d_half = kind->d_half;
    sum->wide = kind->a_type == PTX_BF16 || kind->a_type == PTX_TF32;
    sum->a_lowest = lowest_exponent(kind->a_type, sum->model->via_f16);
    sum->b_lowest = lowest_exponent(kind->b_type, sum->model->via_f16);
}

void SIMT_NAME(tensor_float_tile)(const struct gpu_info *gpu, const struct tensor_float_kind *kind,
                                  const struct tensor_fragments *f)
{
    struct tensor_sum sum;
    prepare(&sum, gpu, kind);
    const uint8_t *order = kind->c_half || kind->d_half ? as_they_are : even_first;
    float columns[8 * TENSOR_MAX_K];
    unpack_rows(kind->a_type, f->a, kind->rows, kind->k, sum.a);
    unpack_rows(kind->b_type, f->b, 8, kind->k, columns);
    transpose(columns, kind->k, order, sum.b);
    unpack_accumulators(f->c, kind->rows, kind->c_half, order, sum.c);
    SIMT_NAME(tensor_add_products)(&sum);
    pack_accumulators(f->d, kind->rows, kind->d_half, order, sum.c);
}

/* f64 ------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void fma_chains(unsigned rows, unsigned k, const double *a,
                                                 const double *b, double *c)
{
    for (unsigned i = 0; i < k; i++) {
        for (unsigned m = 0; m < rows; m++) {
            for (unsigned n = 0; n < 8; n++)
                c[8 * m + n] = __builtin_fma(a[m * k + i], b[8 * i + n], c[8 * m + n]);
        }
    }
}

void SIMT_NAME(tensor_f64_tile)(unsigned rows, unsigned k, int rounding,
                                const struct tensor_fragments *f)
{
    double a[16 * 16], b[16 * 8], c[16 * 8]; /* [row][k], [k][column], [row][column] */
    unsigned blocks = rows / 8;
    for (unsigned i = 0; i < k; i++) {
        for (unsigned m = 0; m < rows; m++)
            memcpy(&a[m * k + i], f->a[i / 4 * blocks + m / 8] + 8 * (m % 8 * 4 + i % 4), 8);
        for (unsigned n = 0; n < 8; n++)
            memcpy(&b[8 * i + n], f->b[i / 4] + 8 * (n * 4 + i % 4), 8);
    }
    for (unsigned m = 0; m < rows; m++) {
        for (unsigned n = 0; n < 8; n++)
            memcpy(&c[8 * m + n], f->c[m / 8 * 2 + n % 2] + 8 * (m % 8 * 4 + n / 2), 8);
    }
    int before = rounding == FE_TONEAREST ? FE_TONEAREST : fegetround();
    if (rounding != FE_TONEAREST)
        fesetround(rounding);
    __asm__ volatile("" ::: "memory"); /* the sums stay between the two */
    fma_chains(rows, k, a, b, c);
    __asm__ volatile("" ::: "memory");
    if (rounding != FE_TONEAREST)
        fesetround(before);
    for (unsigned m = 0; m < rows; m++) {
        for (unsigned n = 0; n < 8; n++)
            memcpy(f->d[m / 8 * 2 + n % 2] + 8 * (m % 8 * 4 + n / 2), &c[8 * m + n], 8);
    }
}

/* f16 m8n8k4 ------------------------------------------------------------------------------------ */

/* Four products at once: quad pair q is lanes 4q .. 4q+3 and 4q+16 .. 4q+19, 8 lanes that are
 * the rows (or columns) 0-7 of its own A, B and C. */
static unsigned quad_pair_lane(unsigned q, unsigned i)
{
    return 4 * q + (i & 3) + (i & 4) * 4;
}

static float half_at(const uint8_t *const *regs, unsigned lane, unsigned i)
{
    float f[8];
    uint8_t bytes[16] = {0};
    memcpy(bytes, regs[i / 2] + 4 * lane + i % 2 * 2, 2);
    floats_of_halves(bytes, f);
    return f[0];
}

/* Where element (m, n) of an f32 accumulator lies: the quad pair's lane, and the register. */
static void f32_place(unsigned m, unsigned n, unsigned *lane, unsigned *reg)
{
    *lane = (m & 1) | (n & 2) | (m & 4);
    *reg = (m & 2) | (n & 4) | (n & 1);
}

static void quad_pair_tile(const struct gpu_info *gpu, const struct tensor_float_kind *kind,
                           bool a_col, bool b_row, const uint8_t *const *a, const uint8_t *const *b,
                           const uint8_t *const *c, uint8_t *const *d, unsigned q)
{
    struct tensor_sum sum;
    prepare(&sum, gpu, kind);
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned k = 0; k < 4; k++) {
            /* Row major A: a lane has a row. Column major: lanes 0-3 have rows 0-3 of column
             * lane % 4, lanes 4-7 rows 4-7. B is the same with columns for rows. */
            unsigned across = quad_pair_lane(q, k | (i & 4)), along = quad_pair_lane(q, i);
            sum.a[4 * i + k] = a_col ? half_at(a, across, i & 3) : half_at(a, along, k);
            sum.b[8 * k + i] = b_row ? half_at(b, across, i & 3) : half_at(b, along, k);
        }
    }
    for (unsigned m = 0; m < 8; m++) {
        for (unsigned n = 0; n < 8; n++) {
            unsigned lane, reg;
            f32_place(m, n, &lane, &reg);
            if (kind->c_half)
                sum.c[8 * m + n] = half_at(c, quad_pair_lane(q, m), n);
            else
                memcpy(&sum.c[8 * m + n], c[reg] + 4 * quad_pair_lane(q, lane), 4);
        }
    }
    SIMT_NAME(tensor_add_products)(&sum);
    for (unsigned m = 0; m < 8; m++) {
        uint8_t halves[16];
        halves_of_floats(sum.c + 8 * m, halves);
        for (unsigned n = 0; n < 8; n++) {
            unsigned lane, reg;
            f32_place(m, n, &lane, &reg);
            if (kind->d_half)
                memcpy(d[n / 2] + 4 * quad_pair_lane(q, m) + n % 2 * 2, halves + 2 * n, 2);
            else
                memcpy(d[reg] + 4 * quad_pair_lane(q, lane), &sum.c[8 * m + n], 4);
        }
    }
}

static const struct simt_inst *run_m8n8k4(struct simt_warp *w, const struct simt_inst *in,
                                          bool c_half, bool d_half)
{
    if (!simt_wait_lanes(w, in, SIMT_ALL))
        return NULL;
    const struct tensor_float_kind kind = {8, 4, PTX_F16, PTX_F16, c_half, d_half};
    unsigned d_count = d_half ? 4 : 8, c_count = c_half ? 4 : 8;
    const uint8_t *a[2], *b[2], *c[8];
    uint8_t results[8][128], *d[8];
    const uint32_t *slot = in->list + d_count;
    for (int i = 0; i < 2; i++)
        a[i] = w->regs + *slot++;
    for (int i = 0; i < 2; i++)
        b[i] = w->regs + *slot++;
    for (unsigned i = 0; i < c_count; i++)
        c[i] = w->regs + *slot++;
    for (unsigned i = 0; i < 8; i++)
        d[i] = results[i];
    /* sync aligned m8n8k4 row|col row|col */
    bool a_col = in->ptx->slots[3] == PTX_MOD_COL, b_row = in->ptx->slots[4] == PTX_MOD_ROW;
    for (unsigned q = 0; q < 4; q++)
        quad_pair_tile(simt_warp_gpu(w), &kind, a_col, b_row, a, b, c, d, q);
    for (unsigned i = 0; i < d_count; i++)
        memcpy(w->regs + in->list[i], results[i], 128);
    return in + 1;
}

SIMT_BODY(mma_m8n8k4_f16_f16)
{
    return run_m8n8k4(w, in, true, true);
}
SIMT_BODY(mma_m8n8k4_f16_f32)
{
    return run_m8n8k4(w, in, false, true);
}
SIMT_BODY(mma_m8n8k4_f32_f16)
{
    return run_m8n8k4(w, in, true, false);
}
SIMT_BODY(mma_m8n8k4_f32_f32)
{
    return run_m8n8k4(w, in, false, false);
}

static simt_body *select_m8n8k4(const struct ptx_inst *ptx)
{
    bool d_half = ptx->types[0] == PTX_F16, c_half = ptx->types[3] == PTX_F16;
    if (!tensor_counts_are(ptx, d_half ? 4 : 8, 2, 2, c_half ? 4 : 8))
        return NULL;
    if (d_half)
        return c_half ? mma_m8n8k4_f16_f16 : mma_m8n8k4_f16_f32;
    return c_half ? mma_m8n8k4_f32_f16 : mma_m8n8k4_f32_f32;
}

/* Bodies ---------------------------------------------------------------------------------------- */

static unsigned accumulator_count(const struct tensor_float_kind *kind, bool half)
{
    return kind->rows / 8 * (half ? 1 : 2);
}

static unsigned b_count_of(const struct tensor_float_kind *kind)
{
    return kind->k / values_in_16_bytes(kind->a_type);
}

static const struct simt_inst *run_float(struct simt_warp *w, const struct simt_inst *in,
                                         const struct tensor_float_kind *kind)
{
    if (!simt_wait_lanes(w, in, SIMT_ALL))
        return NULL;
    struct tensor_fragments f;
    unsigned b_count = b_count_of(kind);
    tensor_point(w, in, accumulator_count(kind, kind->d_half), b_count * (kind->rows / 8), b_count,
                 accumulator_count(kind, kind->c_half), &f);
    SIMT_NAME(tensor_float_tile)(simt_warp_gpu(w), kind, &f);
    return in + 1;
}

/* X(name, k, a, b, d and c are f16) */
#define FLOAT_KINDS(X)                                                                             \
    X(f16_k8_f16, 8, F16, F16, true)                                                               \
    X(f16_k8_f32, 8, F16, F16, false)                                                              \
    X(f16_k16_f16, 16, F16, F16, true)                                                             \
    X(f16_k16_f32, 16, F16, F16, false)                                                            \
    X(bf16_k8, 8, BF16, BF16, false)                                                               \
    X(bf16_k16, 16, BF16, BF16, false)                                                             \
    X(tf32_k4, 4, TF32, TF32, false)                                                               \
    X(tf32_k8, 8, TF32, TF32, false)                                                               \
    X(e4m3_e4m3_k16_f16, 16, E4M3, E4M3, true)                                                     \
    X(e4m3_e4m3_k16_f32, 16, E4M3, E4M3, false)                                                    \
    X(e4m3_e4m3_k32_f16, 32, E4M3, E4M3, true)                                                     \
    X(e4m3_e4m3_k32_f32, 32, E4M3, E4M3, false)                                                    \
    X(e4m3_e5m2_k16_f16, 16, E4M3, E5M2, true)                                                     \
    X(e4m3_e5m2_k16_f32, 16, E4M3, E5M2, false)                                                    \
    X(e4m3_e5m2_k32_f16, 32, E4M3, E5M2, true)                                                     \
    X(e4m3_e5m2_k32_f32, 32, E4M3, E5M2, false)                                                    \
    X(e5m2_e4m3_k16_f16, 16, E5M2, E4M3, true)                                                     \
    X(e5m2_e4m3_k16_f32, 16, E5M2, E4M3, false)                                                    \
    X(e5m2_e4m3_k32_f16, 32, E5M2, E4M3, true)                                                     \
    X(e5m2_e4m3_k32_f32, 32, E5M2, E4M3, false)                                                    \
    X(e5m2_e5m2_k16_f16, 16, E5M2, E5M2, true)                                                     \
    X(e5m2_e5m2_k16_f32, 16, E5M2, E5M2, false)                                                    \
    X(e5m2_e5m2_k32_f16, 32, E5M2, E5M2, true)                                                     \
    X(e5m2_e5m2_k32_f32, 32, E5M2, E5M2, false)

#define DEFINE_FLOAT(name, k, a, b, half)                                                          \
    static const struct tensor_float_kind kind_##name = {16, k, PTX_##a, PTX_##b, half, half};     \
    SIMT_BODY(mma_##name)                                                                          \
    {                                                                                              \
        return run_float(w, in, &kind_##name);                                                     \
    }
FLOAT_KINDS(DEFINE_FLOAT)

static simt_body *select_float(const struct ptx_inst *ptx, struct tensor_shape shape)
{
    static const struct {
        const struct tensor_float_kind *kind;
        simt_body *body;
    } rows[] = {
#define FLOAT_ROW(name, k, a, b, half) {&kind_##name, mma_##name},
        FLOAT_KINDS(FLOAT_ROW)
#undef FLOAT_ROW
    };
    bool half = ptx->types[0] == PTX_F16;
    if (ptx->types[3] != ptx->types[0])
        return NULL;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tensor_float_kind *kind = rows[i].kind;
        if (kind->k != shape.k || kind->a_type != ptx->types[1] || kind->b_type != ptx->types[2] ||
            kind->d_half != half)
            continue;
        unsigned c_count = accumulator_count(kind, half), b_count = b_count_of(kind);
        return tensor_counts_are(ptx, c_count, 2 * b_count, b_count, c_count) ? rows[i].body : NULL;
    }
    return NULL;
}

static int rounding_of(const struct ptx_inst *ptx)
{
    return ptx_has(ptx, PTX_MOD_RZ)   ? FE_TOWARDZERO
           : ptx_has(ptx, PTX_MOD_RM) ? FE_DOWNWARD
           : ptx_has(ptx, PTX_MOD_RP) ? FE_UPWARD
                                      : FE_TONEAREST;
}

static const struct simt_inst *run_f64(struct simt_warp *w, const struct simt_inst *in,
                                       unsigned rows, unsigned k)
{
    if (!simt_wait_lanes(w, in, SIMT_ALL))
        return NULL;
    struct tensor_fragments f;
    tensor_point(w, in, rows / 4, rows / 8 * (k / 4), k / 4, rows / 4, &f);
    SIMT_NAME(tensor_f64_tile)(rows, k, rounding_of(in->ptx), &f);
    return in + 1;
}

SIMT_BODY(mma_f64_m8n8k4)
{
    return run_f64(w, in, 8, 4);
}
SIMT_BODY(mma_f64_m16n8k4)
{
    return run_f64(w, in, 16, 4);
}
SIMT_BODY(mma_f64_m16n8k8)
{
    return run_f64(w, in, 16, 8);
}
SIMT_BODY(mma_f64_m16n8k16)
{
    return run_f64(w, in, 16, 16);
}

simt_body *SIMT_NAME(tensor_select_float)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    struct tensor_shape shape = tensor_shape_of(ptx);
    if (ptx->op != PTX_OP_MMA_F64)
        return shape.m == 8 ? select_m8n8k4(ptx) : select_float(ptx, shape);
    unsigned c_count = shape.m / 4, b_count = shape.k / 4;
    if (!tensor_counts_are(ptx, c_count, shape.m / 8 * b_count, b_count, c_count))
        return NULL;
    if (shape.m == 8)
        return mma_f64_m8n8k4;
    return shape.k == 4 ? mma_f64_m16n8k4 : shape.k == 8 ? mma_f64_m16n8k8 : mma_f64_m16n8k16;
}
