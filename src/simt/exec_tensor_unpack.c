/*
 * exec_tensor_unpack.c: fragments of floats to small matrices of f32 with their exponents, and
 * back. f8 fragments are first turned into f16 ones: e5m2 is the upper half of f16; e4m3's bits
 * moved into f16's places give its value / 256. So there are three cases: f16, bf16, tf32.
 */
#include "simt/tensor.h"

#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Columns of a tile in memory order: even ones first, so that a row of f32 accumulators is two
 * pieces of 16 bytes as they lie in registers; or as they are, as f16 accumulators lie. */
static const uint8_t even_first[8] = {0, 2, 4, 6, 1, 3, 5, 7};
static const uint8_t as_they_are[8] = {0, 1, 2, 3, 4, 5, 6, 7};

static const uint8_t *column_order(const struct tensor_sum *sum)
{
    return sum->c_half || sum->d_half ? as_they_are : even_first;
}

/* f16 and f32 -----------------------------------------------------------------------------------
 */

#ifndef __F16C__
static float half_to_float(uint16_t h)
{
    uint32_t magnitude = h & 0x7fff, sign = (uint32_t)(h & 0x8000) << 16, bits;
    float subnormal = (float)magnitude * 0x1p-24f;
    if (magnitude >= 0x7c00)
        bits = 0x7f800000 | (magnitude & 0x3ff) << 13;
    else if (magnitude >= 0x400)
        bits = (magnitude << 13) + (112u << 23);
    else
        memcpy(&bits, &subnormal, 4);
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

static inline void floats_of_halves(const void *halves, float *f)
{
#ifdef __F16C__
    _mm256_storeu_ps(f, _mm256_cvtph_ps(_mm_loadu_si128(halves)));
#else
    uint16_t h[8];
    memcpy(h, halves, sizeof(h));
    for (int i = 0; i < 8; i++)
        f[i] = half_to_float(h[i]);
#endif
}

static inline void halves_of_floats(const float *f, void *halves)
{
#ifdef __F16C__
    _mm_storeu_si128(halves, _mm256_cvtps_ph(_mm256_loadu_ps(f), _MM_FROUND_TO_NEAREST_INT));
#else
    uint16_t h[8];
    for (int i = 0; i < 8; i++)
        h[i] = half_of_float(f[i]);
    memcpy(halves, h, sizeof(h));
#endif
}

/* 8 x 8 elements of 16 bits: 8 pieces of 16 bytes, in a given order, to their columns. */
static inline void transpose_16(const uint8_t *pieces, const uint8_t *order, uint16_t to[64])
{
#ifdef __SSE2__
    __m128i x[8], y[8];
    for (int i = 0; i < 8; i++)
        x[i] = _mm_loadu_si128((const void *)(pieces + 16 * order[i]));
    for (int i = 0; i < 4; i++) {
        y[2 * i] = _mm_unpacklo_epi16(x[i], x[i + 4]);
        y[2 * i + 1] = _mm_unpackhi_epi16(x[i], x[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        x[2 * i] = _mm_unpacklo_epi16(y[i], y[i + 4]);
        x[2 * i + 1] = _mm_unpackhi_epi16(y[i], y[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        _mm_storeu_si128((void *)(to + 16 * i), _mm_unpacklo_epi16(x[i], x[i + 4]));
        _mm_storeu_si128((void *)(to + 16 * i + 8), _mm_unpackhi_epi16(x[i], x[i + 4]));
    }
#else
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++)
            memcpy(&to[8 * j + i], pieces + 16 * order[i] + 2 * j, 2);
    }
#endif
}

/* f16 -------------------------------------------------------------------------------------------
 */

#ifdef __AVX2__
/* 31 - exponent field of 16 f16, 255 for 0; *top becomes the largest magnitude seen. */
static inline __m256i low_exponents(__m256i halves, __m256i *top)
{
    __m256i magnitude = _mm256_and_si256(halves, _mm256_set1_epi16(0x7fff));
    *top = _mm256_max_epu16(*top, magnitude);
    __m256i field = _mm256_max_epu16(_mm256_srli_epi16(magnitude, 10), _mm256_set1_epi16(1));
    __m256i zero = _mm256_cmpeq_epi16(magnitude, _mm256_setzero_si256());
    return _mm256_blendv_epi8(_mm256_sub_epi16(_mm256_set1_epi16(31), field),
                              _mm256_set1_epi16(255), zero);
}

static bool any_special(__m256i top)
{
    __m256i finite = _mm256_cmpgt_epi16(_mm256_set1_epi16(0x7c00), top);
    return _mm256_movemask_epi8(finite) != -1;
}
#endif

/* A: rows of k f16. */
#ifdef __AVX2__
/* Two rows at once; of 16, or of 8 when there is but one piece. */
static inline __attribute__((always_inline)) void
unpack_a_pieces(float *a, uint8_t *e, size_t k, unsigned rows, const uint8_t *first,
                const uint8_t *second, __m256i *top)
{
    for (unsigned m = 0; m < rows; m += 2, first += 32, second += 32, a += 2 * k, e += 2 * k) {
        floats_of_halves(first, a);
        floats_of_halves(first + 16, a + k);
        __m256i x = low_exponents(_mm256_loadu_si256((const void *)first), top), y = x;
        if (k > 8) {
            floats_of_halves(second, a + 8);
            floats_of_halves(second + 16, a + k + 8);
            y = low_exponents(_mm256_loadu_si256((const void *)second), top);
        }
        /* row m: 8 of first, 8 of second; row m + 1: the same */
        __m256i bytes = _mm256_packus_epi16(x, y);
        if (k > 8) {
            _mm_storeu_si128((void *)e, _mm256_castsi256_si128(bytes));
            _mm_storeu_si128((void *)(e + k), _mm256_extracti128_si256(bytes, 1));
        } else {
            _mm_storeu_si64(e, _mm256_castsi256_si128(bytes));
            _mm_storeu_si64(e + 8, _mm256_extracti128_si256(bytes, 1));
        }
    }
}

static void unpack_a_f16(struct tensor_sum *sum, const uint8_t *const *regs)
{
    unsigned blocks = sum->rows / 8;
    __m256i top = _mm256_setzero_si256();
    for (unsigned block = 0; block < blocks; block++) {
        const uint8_t *const *reg = regs + block;
        float *a = sum->a + 8 * block * sum->k;
        uint8_t *e = sum->narrow_a + 8 * block * sum->k;
        if (sum->k == 8)
            unpack_a_pieces(a, e, 8, 8, reg[0], reg[0], &top);
        else if (sum->k == 16)
            unpack_a_pieces(a, e, 16, 8, reg[0], reg[blocks], &top);
        else {
            unpack_a_pieces(a, e, 32, 8, reg[0], reg[blocks], &top);
            unpack_a_pieces(a + 16, e + 16, 32, 8, reg[2 * blocks], reg[3 * blocks], &top);
        }
    }
    sum->special |= any_special(top);
}
#else
static void unpack_a_f16(struct tensor_sum *sum, const uint8_t *const *regs)
{
    unsigned k = sum->k, blocks = sum->rows / 8, top = 0;
    for (unsigned m = 0; m < sum->rows; m++) {
        for (unsigned piece = 0; piece < k / 8; piece++) {
            uint16_t halves[8];
            memcpy(halves, regs[piece * blocks + m / 8] + 16 * (m % 8), 16);
            floats_of_halves(halves, sum->a + m * k + 8 * piece);
            for (unsigned i = 0; i < 8; i++) {
                unsigned magnitude = halves[i] & 0x7fff, field = magnitude >> 10;
                top = magnitude > top ? magnitude : top;
                sum->narrow_a[m * k + 8 * piece + i] =
                    (uint8_t)(magnitude == 0 ? 255 : 31 - (field ? field : 1));
            }
        }
    }
    sum->special |= top >= 0x7c00;
}
#endif

/* B: 8 columns of k f16, to [k][8]. offset: what makes eb - ea an exponent + 127. */
#ifdef __AVX2__
/* Two pieces at once, one in each half of a vector. */
static void unpack_b_f16(struct tensor_sum *sum, const uint8_t *const *regs, unsigned offset)
{
    const uint8_t *order = column_order(sum);
    __m256i top = _mm256_setzero_si256(), shift = _mm256_set1_epi16((short)(offset + 31));
    for (unsigned piece = 0; piece < sum->k / 8; piece += 2) {
        const uint8_t *first = regs[piece], *second = sum->k == 8 ? first : regs[piece + 1];
        float *b = sum->b + 64 * piece;
        uint8_t *e = sum->narrow_b + 64 * piece;
        __m256i x[8], y[8];
        for (int i = 0; i < 8; i++)
            x[i] = _mm256_loadu2_m128i((const void *)(second + 16 * order[i]),
                                       (const void *)(first + 16 * order[i]));
        for (int i = 0; i < 4; i++) {
            y[2 * i] = _mm256_unpacklo_epi16(x[i], x[i + 4]);
            y[2 * i + 1] = _mm256_unpackhi_epi16(x[i], x[i + 4]);
        }
        for (int i = 0; i < 4; i++) {
            x[2 * i] = _mm256_unpacklo_epi16(y[i], y[i + 4]);
            x[2 * i + 1] = _mm256_unpackhi_epi16(y[i], y[i + 4]);
        }
        for (int i = 0; i < 4; i++) { /* y[i]: k = i of both pieces */
            y[2 * i] = _mm256_unpacklo_epi16(x[i], x[i + 4]);
            y[2 * i + 1] = _mm256_unpackhi_epi16(x[i], x[i + 4]);
        }
        for (int i = 0; i < 8; i++) {
            _mm256_store_ps(b + 8 * i, _mm256_cvtph_ps(_mm256_castsi256_si128(y[i])));
            /* offset + field; a 0's 255 gives less than 0, packed to 0. */
            x[i] = _mm256_sub_epi16(shift, low_exponents(y[i], &top));
        }
        for (int i = 0; i < 4; i++)
            x[i] = _mm256_packus_epi16(x[2 * i], x[2 * i + 1]);
        _mm256_store_si256((void *)e, _mm256_permute2x128_si256(x[0], x[1], 0x20));
        _mm256_store_si256((void *)(e + 32), _mm256_permute2x128_si256(x[2], x[3], 0x20));
        if (sum->k == 8)
            break;
        for (int i = 0; i < 8; i++)
            _mm256_store_ps(b + 64 + 8 * i, _mm256_cvtph_ps(_mm256_extracti128_si256(y[i], 1)));
        _mm256_store_si256((void *)(e + 64), _mm256_permute2x128_si256(x[0], x[1], 0x31));
        _mm256_store_si256((void *)(e + 96), _mm256_permute2x128_si256(x[2], x[3], 0x31));
    }
    sum->special |= any_special(top);
}
#else
static void unpack_b_f16(struct tensor_sum *sum, const uint8_t *const *regs, unsigned offset)
{
    uint16_t halves[TENSOR_MAX_K * 8];
    unsigned count = sum->k * 8, top = 0;
    for (unsigned piece = 0; piece < sum->k / 8; piece++)
        transpose_16(regs[piece], column_order(sum), halves + 64 * piece);
    for (unsigned i = 0; i < count; i += 8)
        floats_of_halves(halves + i, sum->b + i);
    for (unsigned i = 0; i < count; i++) {
        unsigned magnitude = halves[i] & 0x7fff, field = magnitude >> 10;
        top = magnitude > top ? magnitude : top;
        sum->narrow_b[i] = (uint8_t)(magnitude == 0 ? 0 : (field ? field : 1) + offset);
    }
    sum->special |= top >= 0x7c00;
}
#endif

/* f8 --------------------------------------------------------------------------------------------
 */

/* A row of 16 f8 to f16. A native e4m3 keeps its exponent field, so that f16's rules give its
 * exponents, and is 256 times too small. */
static inline void halves_of_f8(enum ptx_type type, bool via_f16, const uint8_t *from,
                                uint8_t *first, uint8_t *second)
{
#ifdef __AVX2__
    __m256i x = _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)from)), halves;
    if (type == PTX_E5M2) {
        halves = _mm256_slli_epi16(x, 8);
    } else { /* it has a NaN but no infinity */
        __m256i magnitude = _mm256_and_si256(x, _mm256_set1_epi16(0x7f));
        __m256i sign = _mm256_slli_epi16(_mm256_xor_si256(x, magnitude), 8);
        __m256i nan = _mm256_cmpeq_epi16(magnitude, _mm256_set1_epi16(0x7f));
        halves = _mm256_or_si256(sign, _mm256_slli_epi16(magnitude, 7));
        halves = _mm256_or_si256(halves, _mm256_srli_epi16(nan, 1));
    }
    __m128i low = _mm256_castsi256_si128(halves), high = _mm256_extracti128_si256(halves, 1);
    if (type == PTX_E4M3 && via_f16) {
        __m256 factor = _mm256_set1_ps(256);
        low = _mm256_cvtps_ph(_mm256_mul_ps(_mm256_cvtph_ps(low), factor), 0);
        high = _mm256_cvtps_ph(_mm256_mul_ps(_mm256_cvtph_ps(high), factor), 0);
    }
    _mm_storeu_si128((void *)first, low);
    _mm_storeu_si128((void *)second, high);
#else
    uint16_t halves[16];
    for (int i = 0; i < 16; i++) {
        uint16_t x = from[i], magnitude = x & 0x7f;
        uint16_t moved = (uint16_t)((x & 0x80) << 8 | magnitude << 7);
        uint16_t e4m3 = magnitude == 0x7f ? 0x7fff : moved;
        halves[i] = type == PTX_E5M2 ? (uint16_t)(x << 8) : e4m3;
    }
    if (type == PTX_E4M3 && via_f16) {
        float f[16];
        floats_of_halves(halves, f);
        floats_of_halves(halves + 8, f + 8);
        for (int i = 0; i < 16; i++)
            f[i] *= 256;
        halves_of_floats(f, halves);
        halves_of_floats(f + 8, halves + 8);
    }
    memcpy(first, halves, 16);
    memcpy(second, halves + 8, 16);
#endif
}

/* A register of 8 rows of 16 f8 to two of f16: the first and the last 8 of each row. */
static void f16_fragments(enum ptx_type type, bool via_f16, const uint8_t *from, uint8_t *first,
                          uint8_t *second)
{
    for (unsigned row = 0; row < 8; row++)
        halves_of_f8(type, via_f16, from + 16 * row, first + 16 * row, second + 16 * row);
}

static void multiply(float *f, unsigned count, float factor)
{
    for (unsigned i = 0; i < count; i++)
        f[i] *= factor;
}

static void unpack_f8(struct tensor_sum *sum, const struct tensor_float_kind *kind,
                      const struct tensor_fragments *f)
{
    bool via_f16 = sum->model->via_f16;
    unsigned blocks = sum->rows / 8;
    uint8_t a[8][128], b[4][128];
    const uint8_t *a_regs[8], *b_regs[4];
    for (unsigned i = 0; i < 8; i++)
        a_regs[i] = a[i];
    for (unsigned i = 0; i < 4; i++)
        b_regs[i] = b[i];
    for (unsigned piece = 0; piece < sum->k / 16; piece++) {
        for (unsigned block = 0; block < blocks; block++)
            f16_fragments(kind->a_type, via_f16, f->a[piece * blocks + block],
                          a[2 * piece * blocks + block], a[(2 * piece + 1) * blocks + block]);
        f16_fragments(kind->b_type, via_f16, f->b[piece], b[2 * piece], b[2 * piece + 1]);
    }
    bool small_a = kind->a_type == PTX_E4M3 && !via_f16;
    bool small_b = kind->b_type == PTX_E4M3 && !via_f16;
    unpack_a_f16(sum, a_regs);
    unpack_b_f16(sum, b_regs, 158 - (small_a ? 7 : 15) - (small_b ? 7 : 15));
    if (small_a)
        multiply(sum->a, sum->rows * sum->k, 256);
    if (small_b)
        multiply(sum->b, sum->k * 8, 256);
}

/* bf16 and tf32 ---------------------------------------------------------------------------------
 */

/* Exponents of f32 values less bias; returns the largest field. */
static int find_wide_exponents(const float *f, unsigned count, int bias, int16_t *e)
{
    int top = 0;
    for (unsigned i = 0; i < count; i++) {
        int32_t bits;
        memcpy(&bits, &f[i], 4);
        bits &= 0x7fffffff;
        int field = bits >> 23;
        top = field > top ? field : top;
        e[i] = (int16_t)(bits == 0 ? -10000 : (field > 1 ? field : 1) - bias);
    }
    return top;
}

/* One piece of a row: 8 bf16 or 4 tf32, whose 13 low bits a GPU ignores. */
static inline void floats_of_wide(enum ptx_type type, const uint8_t *piece, float *f)
{
    uint32_t words[8];
    if (type == PTX_BF16) {
        uint16_t halves[8];
        memcpy(halves, piece, 16);
        for (int i = 0; i < 8; i++)
            words[i] = (uint32_t)halves[i] << 16;
        memcpy(f, words, 32);
    } else {
        memcpy(words, piece, 16);
        for (int i = 0; i < 4; i++)
            words[i] &= 0xffffe000;
        memcpy(f, words, 16);
    }
}

static void unpack_wide(struct tensor_sum *sum, enum ptx_type type,
                        const struct tensor_fragments *f)
{
    unsigned k = sum->k, blocks = sum->rows / 8, values = type == PTX_BF16 ? 8 : 4;
    const uint8_t *order = column_order(sum);
    for (unsigned piece = 0; piece < k / values; piece++) {
        for (unsigned m = 0; m < sum->rows; m++)
            floats_of_wide(type, f->a[piece * blocks + m / 8] + 16 * (m % 8),
                           sum->a + m * k + values * piece);
        if (type == PTX_BF16) {
            uint16_t halves[64];
            transpose_16(f->b[piece], order, halves);
            for (unsigned i = 0; i < 8; i++)
                floats_of_wide(type, (const uint8_t *)(halves + 8 * i),
                               sum->b + 64 * piece + 8 * i);
        } else {
            float columns[8][4];
            for (unsigned n = 0; n < 8; n++)
                floats_of_wide(type, f->b[piece] + 16 * order[n], columns[n]);
            for (unsigned i = 0; i < 4; i++) {
                for (unsigned n = 0; n < 8; n++)
                    sum->b[32 * piece + 8 * i + n] = columns[n][i];
            }
        }
    }
    int a_top = find_wide_exponents(sum->a, sum->rows * k, 127, sum->wide_a);
    int b_top = find_wide_exponents(sum->b, k * 8, 0, sum->wide_b);
    sum->special = a_top == 255 || b_top == 255;
    sum->top = a_top + b_top - 127;
}

/* Accumulators ----------------------------------------------------------------------------------
 */

/* 8 f32 of two pieces of 16 bytes. */
static inline void join(float *to, const uint8_t *first, const uint8_t *second)
{
#ifdef __AVX__ /* one store: the loads to come are as wide */
    _mm256_store_ps(to, _mm256_loadu2_m128((const void *)second, (const void *)first));
#else
    memcpy(to, first, 16);
    memcpy(to + 4, second, 16);
#endif
}

static void unpack_c(struct tensor_sum *sum, const uint8_t *const *regs)
{
    float *c = sum->c;
    for (unsigned block = 0; block < sum->rows / 8; block++) {
        for (unsigned at = 0; at < 128; at += 16, c += 8) {
            if (sum->c_half) {
                floats_of_halves(regs[block] + at, c);
            } else if (!sum->d_half) {
                join(c, regs[2 * block] + at, regs[2 * block + 1] + at);
            } else {
                for (unsigned n = 0; n < 8; n++)
                    memcpy(c + n, regs[2 * block + n % 2] + at + n / 2 * 4, 4);
            }
        }
    }
}

void SIMT_NAME(tensor_pack)(const struct tensor_sum *sum, const struct tensor_fragments *f)
{
    const float *d = sum->d;
    for (unsigned block = 0; block < sum->rows / 8; block++) {
        for (unsigned at = 0; at < 128; at += 16, d += 8) {
            if (sum->d_half) {
                halves_of_floats(d, f->d[block] + at);
            } else if (!sum->c_half) {
                memcpy(f->d[2 * block] + at, d, 16);
                memcpy(f->d[2 * block + 1] + at, d + 4, 16);
            } else {
                for (unsigned n = 0; n < 8; n++)
                    memcpy(f->d[2 * block + n % 2] + at + n / 2 * 4, d + n, 4);
            }
        }
    }
}

static int lowest_exponent(enum ptx_type type, bool via_f16)
{
    if (type == PTX_BF16 || type == PTX_TF32)
        return -126;
    return type == PTX_E4M3 && !via_f16 ? -6 : -14;
}

void SIMT_NAME(tensor_unpack)(struct tensor_sum *sum, const struct gpu_info *gpu,
                              const struct tensor_float_kind *kind,
                              const struct tensor_fragments *f)
{
    sum->model = tensor_model_for(gpu->cc_major, gpu->cc_minor, kind->a_type);
    sum->rows = kind->rows;
    sum->k = kind->k;
    sum->c_half = kind->c_half;
    sum->d_half = kind->d_half;
    sum->wide = kind->a_type == PTX_BF16 || kind->a_type == PTX_TF32;
    sum->special = false;
    sum->a_lowest = lowest_exponent(kind->a_type, sum->model->via_f16);
    sum->b_lowest = lowest_exponent(kind->b_type, sum->model->via_f16);
    if (sum->wide) {
        unpack_wide(sum, kind->a_type, f);
    } else if (kind->a_type == PTX_F16) {
        unpack_a_f16(sum, f->a);
        unpack_b_f16(sum, f->b, 128);
    } else {
        unpack_f8(sum, kind, f);
    }
    unpack_c(sum, f->c);
}
