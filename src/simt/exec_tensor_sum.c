/*
 * exec_tensor_sum.c: the sum of products of one tile, as tensor_model.h describes it, fast.
 * It works on 8 columns at once in f32 and int32: a product of two factors with 11-bit
 * significands is exact in f32, so is its scaling by a power of two, and the conversion to int32 is
 * the cut toward zero. Where f32 or int32 did not hold the numbers, exec_tensor_exact.c does the
 * tile again.
 */
#include "simt/tensor.h"

typedef float v8f __attribute__((vector_size(32)));
typedef int32_t v8i __attribute__((vector_size(32)));
typedef uint32_t v8u __attribute__((vector_size(32)));

#define INLINE static inline __attribute__((always_inline))
#define V8F(p) (*(v8f *)(void *)(p))
#define SPLAT(x) ((v8i){} + (x))
#define EXPONENT 0x7f800000 /* of f32 */
#define ONE (127 << 23)

/* 16 products of 25 fraction bits and c may pass 2^31: they reach 66 * 2^25 at most, and what wraps
 * is then this large or larger. So is what an infinity or a NaN in c converts to. */
#define WRAPPED 0x7c000000u

/* Vector helpers --------------------------------------------------------------------------------
 */

#ifdef __AVX2__
#define MAX_I32(x, y) ((v8i)_mm256_max_epi32((__m256i)(x), (__m256i)(y)))
#define MAX_U32(x, y) ((v8u)_mm256_max_epu32((__m256i)(x), (__m256i)(y)))
#define ABS_I32(x) ((v8i)_mm256_abs_epi32((__m256i)(x)))
#define WITH_SIGN(x, y) ((v8i)_mm256_sign_epi32((__m256i)(x), (__m256i)(y)))
#else
#define BLEND(mask, x, y) (((x) & (mask)) | ((y) & ~(mask)))
#define MAX_I32(x, y) BLEND((v8i)((v8i)(x) > (v8i)(y)), (v8i)(x), (v8i)(y))
#define MAX_U32(x, y) BLEND((v8u)((v8u)(x) > (v8u)(y)), (v8u)(x), (v8u)(y))
#define WITH_SIGN(x, y) ((v8i)(((v8u)(x) ^ (v8u)((v8i)(y) >> 31)) - (v8u)((v8i)(y) >> 31)))
#define ABS_I32(x) WITH_SIGN(x, x)
#endif

INLINE bool any_negative(const v8i *x)
{
#ifdef __AVX2__
    return _mm256_movemask_ps((__m256)*x);
#else
    int32_t any = 0;
    for (int i = 0; i < 8; i++)
        any |= (*x)[i];
    return any < 0;
#endif
}

/* Four values, one of each of four rows, that are all there before any is used. Such steps keep
 * every unit busy: gcc by itself takes row after row, and the host cannot look far enough ahead. */
#ifdef __AVX2__
#define TOGETHER(w, x, y, z) __asm__("" : "+v"(w), "+v"(x), "+v"(y), "+v"(z))
#else
#define TOGETHER(w, x, y, z) ((void)0)
#endif

/* Accumulators ----------------------------------------------------------------------------------
 */

/* Row m of 8 of c, f16 or f32, that begins in registers[0]. */
INLINE void load_c(const uint8_t *const *registers, unsigned m, bool half, v8f *c)
{
    const uint8_t *first = registers[0] + 16 * m;
    if (half) {
#ifdef __F16C__
        const __m128i order = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
        __m128i halves = _mm_shuffle_epi8(_mm_loadu_si128((const void *)first), order);
        *c = (v8f)_mm256_cvtph_ps(halves);
#else
        for (int n = 0; n < 8; n++) {
            uint16_t bits;
            memcpy(&bits, first + 2 * tensor_column[n], 2);
            (*c)[n] = num_f16_widen(bits);
        }
#endif
    } else {
        const uint8_t *second = registers[1] + 16 * m;
#ifdef __AVX__
        *c = (v8f)_mm256_loadu2_m128((const void *)second, (const void *)first);
#else
        memcpy(c, first, 16);
        memcpy((uint8_t *)c + 16, second, 16);
#endif
    }
}

INLINE void store_d(uint8_t *const *registers, unsigned m, bool half, const v8f *d)
{
    uint8_t *first = registers[0] + 16 * m;
    if (half) {
#ifdef __F16C__
        const __m128i order = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
        __m128i halves = _mm256_cvtps_ph((__m256)*d, _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((void *)first, _mm_shuffle_epi8(halves, order));
#else
        for (int n = 0; n < 8; n++) {
            uint16_t bits = num_f16_narrow((*d)[n]);
            memcpy(first + 2 * tensor_column[n], &bits, 2);
        }
#endif
    } else {
        memcpy(first, d, 16);
        memcpy(registers[1] + 16 * m, (const uint8_t *)d + 16, 16);
    }
}

/* Where the registers of row m begin. */
#define REGISTERS(list, m, half) ((list) + (m) / 8 % 2 * ((half) ? 1 : 2))

/* *x rounded to the nearest f16, as a float. */
INLINE void round_to_half(v8f *x)
{
#ifdef __F16C__
    *x = (v8f)_mm256_cvtph_ps(_mm256_cvtps_ph((__m256)*x, _MM_FROUND_TO_NEAREST_INT));
#else
    for (int i = 0; i < 8; i++)
        (*x)[i] = num_f16_widen(num_f16_narrow((*x)[i]));
#endif
}

/* One chunk -------------------------------------------------------------------------------------
 */

/* The largest exponent + 127 of a row's products with each of the 8 columns, in the place of a
 * float's exponent; at least TENSOR_LOWEST. For four rows, whose a are stride bytes apart. The four
 * bytes of a lane are four k of a column. */
#ifdef __AVX2__
INLINE __m256i broadcast_four(const uint8_t *a)
{
    int32_t four;
    memcpy(&four, a, 4);
    return _mm256_set1_epi32(four);
}

INLINE void find_tops(const uint8_t *a, size_t stride, const uint8_t *b, unsigned chunk,
                      v8i tops[4])
{
    __m256i t0 = _mm256_set1_epi8(TENSOR_LOWEST), t1 = t0, t2 = t0, t3 = t0;
    __m256i x0, x1, x2, x3;
#define FOLD(order)                                                                                \
    x0 = _mm256_shuffle_epi8(t0, order), x1 = _mm256_shuffle_epi8(t1, order);                      \
    x2 = _mm256_shuffle_epi8(t2, order), x3 = _mm256_shuffle_epi8(t3, order);                      \
    KEEP_LARGER
#define KEEP_LARGER                                                                                \
    TOGETHER(x0, x1, x2, x3);                                                                      \
    t0 = _mm256_max_epu8(t0, x0), t1 = _mm256_max_epu8(t1, x1);                                    \
    t2 = _mm256_max_epu8(t2, x2), t3 = _mm256_max_epu8(t3, x3);                                    \
    TOGETHER(t0, t1, t2, t3)
#pragma GCC unroll 4
    for (unsigned k = 0; k < chunk; k += 4) {
        __m256i y = _mm256_load_si256((const void *)(b + 8 * k));
        x0 = _mm256_subs_epu8(y, broadcast_four(a + k));
        x1 = _mm256_subs_epu8(y, broadcast_four(a + k + stride));
        x2 = _mm256_subs_epu8(y, broadcast_four(a + k + 2 * stride));
        x3 = _mm256_subs_epu8(y, broadcast_four(a + k + 3 * stride));
        KEEP_LARGER;
    }
    /* The largest to all four bytes; the upper two times 64, added up, are the shift by 23. */
    const __m256i pairs = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
    const __m256i bytes = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
    const __m256i upper = _mm256_set1_epi32(0x40400000);
    FOLD(pairs);
    FOLD(bytes);
    tops[0] = (v8i)_mm256_maddubs_epi16(t0, upper), tops[1] = (v8i)_mm256_maddubs_epi16(t1, upper);
    tops[2] = (v8i)_mm256_maddubs_epi16(t2, upper), tops[3] = (v8i)_mm256_maddubs_epi16(t3, upper);
#undef FOLD
#undef KEEP_LARGER
}
#else
INLINE void find_tops(const uint8_t *a, size_t stride, const uint8_t *b, unsigned chunk,
                      v8i tops[4])
{
    for (int row = 0; row < 4; row++, a += stride) {
#ifdef __SSE2__
        for (int i = 0; i < 2; i++) {
            __m128i top = _mm_set1_epi8(TENSOR_LOWEST);
            for (unsigned k = 0; k < chunk; k += 4) {
                int32_t four;
                memcpy(&four, a + k, 4);
                __m128i y = _mm_loadu_si128((const void *)(b + 8 * k + 16 * i));
                top = _mm_max_epu8(top, _mm_subs_epu8(y, _mm_set1_epi32(four)));
            }
            top = _mm_max_epu8(top, _mm_srli_epi32(top, 16));
            top = _mm_max_epu8(top, _mm_srli_epi32(top, 8));
            top = _mm_srli_epi32(_mm_slli_epi32(top, 24), 1);
            memcpy((uint8_t *)&tops[row] + 16 * i, &top, 16);
        }
#else
        for (int n = 0; n < 8; n++) {
            int32_t top = TENSOR_LOWEST;
            for (unsigned k = 0; k < chunk; k++) {
                int32_t e = b[k / 4 * 32 + 4 * n + k % 4] - a[k];
                top = e > top ? e : top;
            }
            tops[row][n] = top << 23;
        }
#endif
    }
}
#endif

/* All rows of a tile, of 8 outputs each, on their way. */
struct rows {
    /* The scale, 2^(fraction - exponent of the largest term), as what it adds to an exponent. */
    v8i shift[TENSOR_MAX_ROWS];
    v8u sum[TENSOR_MAX_ROWS];
    v8f c[TENSOR_MAX_ROWS];       /* kept for tensor_add_exact: d may be in the same registers */
    v8f between[TENSOR_MAX_ROWS]; /* a chunk's result, which is c of the next */
    v8u largest_shift;            /* negative ones are the largest */
    v8u largest_sum;              /* |sum| */
};

/* is_first: c is in registers, else it is rows->between. */
INLINE void start(struct rows *r, const struct tensor_sum *s, const struct tensor_fragments *f,
                  size_t blocks, size_t stride, size_t k, size_t chunk, bool is_first, bool c_half)
{
    v8u largest = r->largest_shift;
    const uint8_t *a_exponents = s->a_exponents + k, *b_exponents = s->b_exponents + 8 * k;
    const v8i most = SPLAT((s->model->fraction + 127) << 23);
    const uint8_t *registers[4] = {f->c[0], f->c[1], f->c[2], f->c[3]};
#pragma GCC unroll 4
    for (size_t m = 0; m < 8 * blocks; m += 4, a_exponents += 4 * stride) {
        v8i tops[4], ec[4];
        v8f c[4];
        find_tops(a_exponents, stride, b_exponents, (unsigned)chunk, tops);
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++) {
            if (is_first)
                load_c(REGISTERS(registers, m, c_half), (unsigned)(m % 8 + i), c_half, &c[i]);
            else
                c[i] = r->between[m + i];
            if (is_first)
                r->c[m + i] = c[i];
            ec[i] = (v8i)c[i] & EXPONENT;
            if (c_half) /* subnormals: those of f16; 0 stays */
                ec[i] = MAX_I32(ec[i], SPLAT(113 << 23) & (c[i] != 0.0f));
        }
        v8i shift0 = most - MAX_I32(tops[0], ec[0]), shift1 = most - MAX_I32(tops[1], ec[1]);
        v8i shift2 = most - MAX_I32(tops[2], ec[2]), shift3 = most - MAX_I32(tops[3], ec[3]);
        largest = MAX_U32(largest, MAX_U32(shift0, shift1));
        largest = MAX_U32(largest, MAX_U32(shift2, shift3));
        r->shift[m] = shift0, r->shift[m + 1] = shift1;
        r->shift[m + 2] = shift2, r->shift[m + 3] = shift3;
    }
    r->largest_shift = largest;
}

/* A product scaled, or by adding to its exponent, which is faster. That is right for a shift from 0
 * on: what is 0 or subnormal stays below 1. */
#define SCALED(product, shift)                                                                     \
    (by_adding ? (v8f)((v8i)(product) + (shift)) : (product) * (v8f)((shift) + ONE))
#define TO_INT(x) ((v8u) __builtin_convertvector(x, v8i))

/* A sum to f32 by truncation; size: |sum|. */
INLINE void finish(const v8u *sum, const v8i *shift, bool d_half, int result, v8u *size, v8f *value)
{
    /* The bit below the 24 that f32 keeps goes, so that the conversion rounds down. What else goes
     * is below that bit. */
    v8u x = (v8u)ABS_I32((v8i)*sum), cut = x & ~(x >> 24);
    v8i scale = ONE - *shift;
    *size = x;
    if (d_half) { /* f32 rounded to odd, so that rounding again is as rounding once */
        v8f down = __builtin_convertvector((v8i)cut, v8f);
        v8i inexact = __builtin_convertvector(down, v8i) != (v8i)x;
        *value = (v8f)((v8i)down | (inexact & 1)) * (v8f)(scale | (v8i)(*sum & 0x80000000));
    } else {
        v8i kept = SPLAT((int32_t)(UINT32_MAX << (23 - result)));
        *value = __builtin_convertvector(WITH_SIGN(cut, *sum), v8f) * (v8f)scale;
        if (result < 23)
            *value = (v8f)((v8i)*value & kept);
    }
}

/* Four rows, which share the loads of b. a: that of the first row. */
INLINE void add_products(const float *a, const float *b, size_t rows, size_t chunk, size_t piece,
                         bool by_adding, const v8i shift[4], const v8f c[4], v8u sums[4])
{
    const v8i shift0 = shift[0], shift1 = shift[1], shift2 = shift[2], shift3 = shift[3];
    v8u sum0 = TO_INT(SCALED(c[0], shift0)), sum1 = TO_INT(SCALED(c[1], shift1));
    v8u sum2 = TO_INT(SCALED(c[2], shift2)), sum3 = TO_INT(SCALED(c[3], shift3));
    size_t step = chunk < piece ? chunk : piece;
    for (size_t k = 0; k < chunk; k += step, a += rows * piece, b += 8 * step) {
#pragma GCC unroll 8
        for (size_t i = 0; i < step; i++) {
            v8f column = V8F(b + 8 * i);
            v8f x0 = column * a[i], x1 = column * a[i + piece];
            v8f x2 = column * a[i + 2 * piece], x3 = column * a[i + 3 * piece];
            TOGETHER(x0, x1, x2, x3);
            x0 = SCALED(x0, shift0), x1 = SCALED(x1, shift1);
            x2 = SCALED(x2, shift2), x3 = SCALED(x3, shift3);
            TOGETHER(x0, x1, x2, x3);
            v8u y0 = TO_INT(x0), y1 = TO_INT(x1), y2 = TO_INT(x2), y3 = TO_INT(x3);
            TOGETHER(y0, y1, y2, y3);
            sum0 += y0, sum1 += y1, sum2 += y2, sum3 += y3;
            TOGETHER(sum0, sum1, sum2, sum3);
        }
    }
    sums[0] = sum0, sums[1] = sum1, sums[2] = sum2, sums[3] = sum3;
}

/* is_first: c is rows->c, else rows->between. is_last: results go to registers, else to
 * rows->between. */
INLINE void add_chunk(struct rows *r, const struct tensor_sum *s, const struct tensor_fragments *f,
                      size_t blocks, size_t k, size_t chunk, size_t piece, bool by_adding,
                      bool is_first, bool is_last, bool d_half, int result)
{
    v8u largest = r->largest_sum, size;
    const v8f *c = is_first ? r->c : r->between;
    uint8_t *registers[4] = {f->d[0], f->d[1], f->d[2], f->d[3]};
    for (size_t m = 0; m < 8 * blocks; m += 4)
        add_products(s->a + (k / piece * 8 * blocks + m) * piece + k % piece, s->b + 8 * k,
                     8 * blocks, chunk, piece, by_adding, r->shift + m, c + m, r->sum + m);
#pragma GCC unroll 16
    for (size_t m = 0; m < 8 * blocks; m++) {
        v8f value;
        finish(&r->sum[m], &r->shift[m], d_half, result, &size, &value);
        largest = MAX_U32(largest, size);
        if (is_last) {
            store_d(REGISTERS(registers, m, d_half), m % 8, d_half, &value);
        } else {
            if (d_half)
                round_to_half(&value);
            r->between[m] = value;
        }
    }
    r->largest_sum = largest;
}

/* All chunks ------------------------------------------------------------------------------------
 */

/* An output without terms above TENSOR_LOWEST: right if it has no terms at all. */
static bool small_terms_fit(const struct rows *r, const struct tensor_sum *s)
{
    bool fit = !s->tiny;
    for (unsigned m = 0; m < s->rows; m++) {
        for (int n = 0; n < 8; n++) // NOLINTNEXTLINE(clang-analyzer-core.*): all rows were written
            fit &= r->c[m][n] == 0 || __builtin_fabsf(r->c[m][n]) >= 0x1p-60f;
    }
    return fit;
}

/* May the results be used? */
INLINE bool is_right(const struct rows *r, const struct tensor_sum *s)
{
    uint32_t most = (s->model->fraction + 127u - TENSOR_LOWEST) << 23;
    v8i wrapped = (v8i)(r->largest_sum >= WRAPPED), low = (v8i)(r->largest_shift >= most);
    return !any_negative(&wrapped) && (!any_negative(&low) || small_terms_fit(r, s));
}

static __attribute__((noinline)) void start_again(const struct rows *r, const struct tensor_sum *s,
                                                  const struct tensor_fragments *f)
{
    struct tensor_fragments again = *f;
    _Alignas(32) uint8_t c[4][128];
    uint8_t *registers[4] = {c[0], c[1], c[2], c[3]};
    for (unsigned m = 0; m < s->rows; m++)
        store_d(REGISTERS(registers, m, s->c_half), m % 8, s->c_half, &r->c[m]);
    for (int i = 0; i < 4; i++)
        again.c[i] = c[i];
    SIMT_NAME(tensor_add_exact)(s, &again);
}

/* tensor_model.h, c_last. False: c is infinite or NaN. */
static bool add_c(struct rows *r, const struct tensor_sum *s, const struct tensor_fragments *f)
{
    v8i special = {};
    for (unsigned m = 0; m < s->rows; m++) {
        special |= ((v8i)r->c[m] & EXPONENT) == EXPONENT;
        r->between[m] += r->c[m];
    }
    if (any_negative(&special))
        return false;
    for (unsigned m = 0; m < s->rows; m++)
        store_d(REGISTERS(f->d, m, s->d_half), m % 8, s->d_half, &r->between[m]);
    return true;
}

INLINE void add_chunks(const struct tensor_sum *s, const struct tensor_fragments *f, size_t blocks,
                       size_t k_all, size_t chunk, size_t piece, bool c_half, bool d_half,
                       int result, bool c_last)
{
    struct rows r;
    r.largest_shift = r.largest_sum = (v8u){};
    for (size_t m = 0; m < 8 * blocks && c_last; m++) {
        load_c(REGISTERS(f->c, m, c_half), m % 8, c_half, &r.c[m]);
        r.between[m] = (v8f){};
    }
    for (size_t k = 0; k < k_all; k += chunk) {
        bool is_first = k == 0 && !c_last, is_last = k + chunk >= k_all && !c_last;
        start(&r, s, f, blocks, k_all, k, chunk, is_first, is_first ? c_half : d_half);
        if (any_negative((const v8i *)&r.largest_shift))
            add_chunk(&r, s, f, blocks, k, chunk, piece, false, is_first, is_last, d_half, result);
        else
            add_chunk(&r, s, f, blocks, k, chunk, piece, true, is_first, is_last, d_half, result);
    }
    if (!is_right(&r, s) || (c_last && !add_c(&r, s, f)))
        start_again(&r, s, f);
}

/* The shapes of today's GPUs have functions of their own. */
#define DEFINE_ADD(name, rows, k, chunk, piece, c_half, d_half, result, c_last)                    \
    static void name(const struct tensor_sum *s, const struct tensor_fragments *f)                 \
    {                                                                                              \
        add_chunks(s, f, (rows) / 8, k, chunk, piece, c_half, d_half, result, c_last);             \
    }
DEFINE_ADD(add_16_at_once, 16, 16, 16, 8, false, false, 23, false)
DEFINE_ADD(add_16_at_once_f16, 16, 16, 16, 8, true, true, 23, false)
DEFINE_ADD(add_8_at_once, 16, 8, 8, 8, false, false, 23, false)
DEFINE_ADD(add_8_tf32_at_once, 16, 8, 8, 4, false, false, 23, false)
DEFINE_ADD(add_16_by_8, 16, 16, 8, 8, false, false, 23, false)
DEFINE_ADD(add_16_by_8_f16, 16, 16, 8, 8, true, true, 23, false)
DEFINE_ADD(add_32_f8, 16, 32, 16, 8, false, false, 23, true)
DEFINE_ADD(add_f8, s->rows, s->k, 16, 8, s->c_half, s->d_half, 23, true)
DEFINE_ADD(add_by_4, s->rows, s->k, 4, s->piece, s->c_half, s->d_half, 23, false)
DEFINE_ADD(add_by_8, s->rows, s->k, 8, 8, s->c_half, s->d_half, 23, false)
DEFINE_ADD(add_by_16, s->rows, s->k, 16, 8, s->c_half, s->d_half, s->model->result, false)

void SIMT_NAME(tensor_add)(const struct tensor_sum *s, const struct tensor_fragments *f)
{
    unsigned chunk = s->model->chunk < s->k ? s->model->chunk : s->k;
    bool half = s->c_half || s->d_half, plain = s->rows == 16 && !half;
    if (s->special || chunk > 16)
        SIMT_NAME(tensor_add_exact)(s, f);
    else if (s->model->c_last && plain && s->k == 32)
        add_32_f8(s, f);
    else if (s->model->c_last)
        add_f8(s, f);
    else if (chunk == 4)
        add_by_4(s, f);
    else if (s->piece == 4)
        add_8_tf32_at_once(s, f);
    else if (chunk == 8 && plain && s->k == 8)
        add_8_at_once(s, f);
    else if (chunk == 8 && plain && s->k == 16)
        add_16_by_8(s, f);
    else if (chunk == 8 && s->rows == 16 && s->k == 16 && s->c_half && s->d_half)
        add_16_by_8_f16(s, f);
    else if (chunk == 8)
        add_by_8(s, f);
    else if (plain && s->k == 16 && s->model->result == 23)
        add_16_at_once(s, f);
    else if (s->rows == 16 && s->k == 16 && s->c_half && s->d_half)
        add_16_at_once_f16(s, f);
    else
        add_by_16(s, f);
}
