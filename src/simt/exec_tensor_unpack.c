/*
 * exec_tensor_unpack.c: fragments of float factors to small matrices of f32 with their exponents.
 * f8 fragments are first turned into f16 ones: e5m2 is the upper half of f16; e4m3's bits moved
 * into f16's places give its value / 256. So there are two cases: factors of 16 bits (f16, bf16)
 * and tf32. A register's slot is 8 rows of 16 bytes (tensor.h); vectors take two rows at once.
 */
#include "simt/tensor.h"

#define INLINE static inline __attribute__((always_inline))

/* How exponents are read from the bits of a factor. */
struct format {
    bool is_bf16;
    int bias;
    int middle; /* see tensor.h */
    int beyond; /* exponents from here on make a tile special */
    bool wide;  /* products may be tiny */
};

static const struct format f16_format = {false, 15, 16, 16, false};
static const struct format e4m3_format = {false, 7, 16, 16, false}; /* in f16's places */
static const struct format bf16_format = {true, 127, 60, 60, true};
static const struct format tf32_format = {false, 127, 60, 60, true};

#define LEAST_FACTOR (-45) /* exponent: the product of two is TENSOR_LOWEST */

#ifdef __AVX2__
/* Slots of registers are aligned to 64 bytes. */

/* Factors of 16 bits ----------------------------------------------------------------------------
 */

/* The tile's extremes: of a_exponents the least, and + 1 the largest; of b_exponents the largest,
 * and - 1 the least. What is 0 wraps out of the way of the second. */
struct extremes {
    __m256i a_least, a_most, b_most, b_least;
};

INLINE struct extremes no_extremes(void)
{
    __m256i ones = _mm256_set1_epi8(-1), zero = _mm256_setzero_si256();
    return (struct extremes){ones, zero, zero, ones};
}

INLINE void note_a(struct extremes *x, __m256i bytes, bool wide)
{
    x->a_least = _mm256_min_epu8(x->a_least, bytes);
    if (wide)
        x->a_most = _mm256_max_epu8(x->a_most, _mm256_sub_epi8(bytes, _mm256_set1_epi8(-1)));
}

INLINE void note_b(struct extremes *x, __m256i bytes, bool wide)
{
    x->b_most = _mm256_max_epu8(x->b_most, bytes);
    if (wide)
        x->b_least = _mm256_min_epu8(x->b_least, _mm256_add_epi8(bytes, _mm256_set1_epi8(-1)));
}

/* Is some byte of x not below least? */
INLINE bool any_from(__m256i x, int least)
{
    __m256i limit = _mm256_set1_epi8((char)least);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(x, limit), x)) != 0;
}

INLINE bool any_upto(__m256i x, int most)
{
    __m256i limit = _mm256_set1_epi8((char)most);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(x, limit), x)) != 0;
}

INLINE void judge_a(struct tensor_sum *sum, const struct extremes *x, const struct format *a)
{
    sum->a_special = any_upto(x->a_least, a->middle - a->beyond);
    sum->a_tiny = a->wide && any_from(x->a_most, a->middle - LEAST_FACTOR + 2);
}

INLINE void judge_b(struct tensor_sum *sum, const struct extremes *x, const struct format *b)
{
    sum->special = sum->a_special || any_from(x->b_most, 127 + b->middle + b->beyond);
    sum->tiny =
        sum->a_tiny || (b->wide && any_upto(x->b_least, 127 + b->middle + LEAST_FACTOR - 2));
}

/* f16 to 31 - exponent field, 16 bits each: a_exponents; 0 to -1. */
INLINE __m256i fields_below_31(__m256i x)
{
    const __m256i magnitude = _mm256_set1_epi16(0x7fff);
    __m256i below = _mm256_andnot_si256(x, magnitude);
    __m256i zero = _mm256_cmpeq_epi16(below, magnitude);
    __m256i field = _mm256_min_epu16(_mm256_srli_epi16(below, 10), _mm256_set1_epi16(30));
    return _mm256_or_si256(field, zero);
}

/* Other 16-bit factors to a_exponents or b_exponents, 16 bits each. */
INLINE __m256i exponents_16(__m256i x, bool is_b, const struct format *f)
{
    __m256i magnitude = _mm256_and_si256(x, _mm256_set1_epi16(0x7fff));
    __m256i zero = _mm256_cmpeq_epi16(magnitude, _mm256_setzero_si256());
    __m256i field = _mm256_srli_epi16(magnitude, f->is_bf16 ? 7 : 10);
    field = _mm256_max_epu16(field, _mm256_set1_epi16(1));
    if (is_b) {
        short offset = (short)(127 + f->middle - f->bias);
        return _mm256_andnot_si256(zero, _mm256_add_epi16(field, _mm256_set1_epi16(offset)));
    }
    __m256i middle = _mm256_set1_epi16((short)(f->middle + f->bias));
    return _mm256_sub_epi16(_mm256_or_si256(middle, _mm256_srli_epi16(zero, 1)), field);
}

/* The exponents of x and y, of each half x's before y's. */
INLINE __m256i exponent_bytes(__m256i x, __m256i y, bool is_b, const struct format *f)
{
    if (f != &f16_format)
        return _mm256_packus_epi16(exponents_16(x, is_b, f), exponents_16(y, is_b, f));
    __m256i bytes = _mm256_packs_epi16(fields_below_31(x), fields_below_31(y));
    return is_b ? _mm256_subs_epu8(_mm256_set1_epi8((char)(127 + 16 + 16)), bytes) : bytes;
}

INLINE __m256 floats_of_16(__m128i x, const struct format *f)
{
    if (f->is_bf16)
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
    return _mm256_cvtph_ps(x);
}

/* Two rows of 8 from a register; their floats go to a. */
INLINE __m256i take_a_16(float *a, const uint8_t *from, const struct format *f)
{
    _mm256_store_ps(a, floats_of_16(_mm_load_si128((const void *)from), f));
    _mm256_store_ps(a + 8, floats_of_16(_mm_load_si128((const void *)(from + 16)), f));
    return _mm256_load_si256((const void *)from);
}

/* 8 bytes of the rows 0 2 | 1 3, in order. */
INLINE void store_rows_of_8(uint8_t *to, __m256i bytes)
{
    _mm256_storeu_si256((void *)to, _mm256_permute4x64_epi64(bytes, 0xd8));
}

INLINE void unpack_a_16(struct tensor_sum *sum, unsigned rows, unsigned k,
                        const uint8_t *const *regs, const struct format *f, struct extremes *seen)
{
    unsigned blocks = rows / 8;
    for (unsigned m = 0; m < rows; m += 4) {
        unsigned at = m % 8 * 16;
        if (k == 8) {
            const uint8_t *from = regs[m / 8] + at;
            __m256i x = take_a_16(sum->a + 8 * m, from, f);
            __m256i y = take_a_16(sum->a + 8 * m + 16, from + 32, f);
            __m256i bytes = exponent_bytes(x, y, false, f);
            note_a(seen, bytes, f->wide);
            store_rows_of_8(sum->a_exponents + 8 * m, bytes);
            continue;
        }
        for (unsigned piece = 0; piece < k / 8; piece += 2) {
            const uint8_t *first = regs[piece * blocks + m / 8] + at;
            const uint8_t *second = regs[(piece + 1) * blocks + m / 8] + at;
            float *a = sum->a + 8 * (piece * rows + m);
            uint8_t *e = sum->a_exponents + m * k + 8 * piece;
            for (unsigned pair = 0; pair < 2; pair++, first += 32, second += 32, a += 16) {
                __m256i x = take_a_16(a, first, f), y = take_a_16(a + 8 * rows, second, f);
                __m256i bytes = exponent_bytes(x, y, false, f); /* a row in each half */
                note_a(seen, bytes, f->wide);
                _mm_storeu_si128((void *)(e + 2 * pair * k), _mm256_castsi256_si128(bytes));
                _mm_storeu_si128((void *)(e + 2 * pair * k + k),
                                 _mm256_extracti128_si256(bytes, 1));
            }
        }
    }
}

/* 8 columns of 8, x[i] holding columns 2i and 2i + 1, to b: [k][column]. */
INLINE void floats_of_columns_16(const __m256i x[4], float *b, const struct format *f)
{
    __m256i y[4] = {_mm256_unpacklo_epi16(x[0], x[2]), _mm256_unpacklo_epi16(x[1], x[3]),
                    _mm256_unpackhi_epi16(x[0], x[2]), _mm256_unpackhi_epi16(x[1], x[3])};
    for (int i = 0; i < 4; i += 2) {
        /* In each half: 4 columns (even, odd) of one k, 4 of the next. */
        __m256i two[2] = {_mm256_unpacklo_epi16(y[i], y[i + 1]),
                          _mm256_unpackhi_epi16(y[i], y[i + 1])};
        for (int j = 0; j < 2; j++, b += 16) {
            if (f->is_bf16) {
                __m256i zero = _mm256_setzero_si256();
                _mm256_store_si256((void *)b, _mm256_unpacklo_epi16(zero, two[j]));
                _mm256_store_si256((void *)(b + 8), _mm256_unpackhi_epi16(zero, two[j]));
            } else {
                __m256i whole = _mm256_permute4x64_epi64(two[j], 0xd8);
                _mm256_store_ps(b, _mm256_cvtph_ps(_mm256_castsi256_si128(whole)));
                _mm256_store_ps(b + 8, _mm256_cvtph_ps(_mm256_extracti128_si256(whole, 1)));
            }
        }
    }
}

/* 8 bytes of columns 0 2 | 1 3 and 4 6 | 5 7 to b_exponents. */
INLINE void store_columns_of_8(uint8_t *to, __m256i low, __m256i high)
{
    __m256 x = _mm256_castsi256_ps(low), y = _mm256_castsi256_ps(high);
    _mm256_store_ps((void *)to, _mm256_shuffle_ps(x, y, 0x88));
    _mm256_store_ps((void *)(to + 32), _mm256_shuffle_ps(x, y, 0xdd));
}

INLINE void unpack_b_16(struct tensor_sum *sum, unsigned k, const uint8_t *const *regs,
                        const struct format *f, struct extremes *seen)
{
    for (unsigned piece = 0; piece < k / 8; piece += 2) {
        uint8_t *e = sum->b_exponents + 64 * piece;
        const __m256i *from = (const void *)regs[piece];
        const __m256i x[4] = {from[0], from[1], from[2], from[3]};
        __m256i bytes[4];
        floats_of_columns_16(x, sum->b + 64 * piece, f);
        if (k == 8) {
            for (int i = 0; i < 2; i++) {
                bytes[i] = exponent_bytes(x[2 * i], x[2 * i + 1], true, f);
                note_b(seen, bytes[i], f->wide);
            }
            store_columns_of_8(e, bytes[0], bytes[1]);
            break;
        }
        from = (const void *)regs[piece + 1];
        const __m256i y[4] = {from[0], from[1], from[2], from[3]};
        floats_of_columns_16(y, sum->b + 64 * piece + 64, f);
        for (int i = 0; i < 4; i++) { /* a column in each half */
            bytes[i] = exponent_bytes(x[i], y[i], true, f);
            note_b(seen, bytes[i], f->wide);
        }
        __m256i low[2] = {_mm256_unpacklo_epi32(bytes[0], bytes[1]),
                          _mm256_unpacklo_epi32(bytes[2], bytes[3])};
        __m256i high[2] = {_mm256_unpackhi_epi32(bytes[0], bytes[1]),
                           _mm256_unpackhi_epi32(bytes[2], bytes[3])};
        _mm256_store_si256((void *)e, _mm256_unpacklo_epi64(low[0], low[1]));
        _mm256_store_si256((void *)(e + 32), _mm256_unpackhi_epi64(low[0], low[1]));
        _mm256_store_si256((void *)(e + 64), _mm256_unpacklo_epi64(high[0], high[1]));
        _mm256_store_si256((void *)(e + 96), _mm256_unpackhi_epi64(high[0], high[1]));
    }
}

INLINE void unpack_parts_16(struct tensor_sum *sum, unsigned rows, unsigned k,
                            const struct tensor_fragments *f, const struct format *a,
                            const struct format *b, unsigned which)
{
    struct extremes seen = no_extremes();
    if (which & TENSOR_A) {
        unpack_a_16(sum, rows, k, f->a, a, &seen);
        judge_a(sum, &seen, a);
    }
    if (which & TENSOR_B) {
        unpack_b_16(sum, k, f->b, b, &seen);
        judge_b(sum, &seen, b);
    }
}

static void unpack_16(struct tensor_sum *sum, const struct tensor_fragments *f,
                      const struct format *a, const struct format *b, unsigned which)
{
    bool f16 = a == &f16_format && b == &f16_format, usual = sum->rows == 16 && sum->k == 16;
    if (f16 && usual)
        unpack_parts_16(sum, 16, 16, f, &f16_format, &f16_format, which);
    else if (a->is_bf16 && usual)
        unpack_parts_16(sum, 16, 16, f, &bf16_format, &bf16_format, which);
    else if (a->is_bf16)
        unpack_parts_16(sum, sum->rows, sum->k, f, &bf16_format, &bf16_format, which);
    else if (f16 && sum->k == 32)
        unpack_parts_16(sum, sum->rows, 32, f, &f16_format, &f16_format, which);
    else if (f16 && sum->k == 8)
        unpack_parts_16(sum, sum->rows, 8, f, &f16_format, &f16_format, which);
    else
        unpack_parts_16(sum, sum->rows, sum->k, f, a, b, which);
}

/* tf32 ------------------------------------------------------------------------------------------
 */

INLINE __m256i exponents_tf32(__m256i x, bool is_b)
{
    __m256i magnitude = _mm256_and_si256(x, _mm256_set1_epi32(0x7fffe000));
    __m256i zero = _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256());
    __m256i field = _mm256_srli_epi32(magnitude, 23);
    field = _mm256_max_epi32(field, _mm256_set1_epi32(1));
    if (is_b)
        return _mm256_andnot_si256(zero,
                                   _mm256_add_epi32(field, _mm256_set1_epi32(tf32_format.middle)));
    __m256i middle = _mm256_set1_epi32(tf32_format.middle + 127);
    return _mm256_sub_epi32(_mm256_or_si256(middle, _mm256_srli_epi32(zero, 20)), field);
}

/* The 13 low bits do not count. */
INLINE __m256i load_tf32(const uint8_t *from)
{
    return _mm256_and_si256(_mm256_load_si256((const void *)from),
                            _mm256_set1_epi32((int)0xffffe000));
}

/* Two rows of 8, 16 bits each. */
INLINE __m256i take_a_tf32(struct tensor_sum *sum, unsigned m, const uint8_t *const *regs)
{
    unsigned rows = sum->rows, at = m % 8 * 16;
    __m256i x = load_tf32(regs[m / 8] + at), y = load_tf32(regs[rows / 8 + m / 8] + at);
    _mm256_store_si256((void *)(sum->a + 4 * m), x);
    _mm256_store_si256((void *)(sum->a + 4 * (rows + m)), y);
    return _mm256_packs_epi32(exponents_tf32(x, false), exponents_tf32(y, false));
}

static void unpack_a_tf32_k8(struct tensor_sum *sum, const struct tensor_fragments *f)
{
    struct extremes seen = no_extremes();
    for (unsigned m = 0; m < sum->rows; m += 4) {
        __m256i bytes =
            _mm256_packus_epi16(take_a_tf32(sum, m, f->a), take_a_tf32(sum, m + 2, f->a));
        note_a(&seen, bytes, true);
        store_rows_of_8(sum->a_exponents + 8 * m, bytes);
    }
    judge_a(sum, &seen, &tf32_format);
}

static void unpack_b_tf32_k8(struct tensor_sum *sum, const struct tensor_fragments *f)
{
    struct extremes seen = no_extremes();
    __m256i shorts[4], bytes[2];
    for (int i = 0; i < 4; i++)
        shorts[i] = _mm256_packs_epi32(exponents_tf32(load_tf32(f->b[0] + 32 * i), true),
                                       exponents_tf32(load_tf32(f->b[1] + 32 * i), true));
    for (int i = 0; i < 2; i++) {
        bytes[i] = _mm256_packus_epi16(shorts[2 * i], shorts[2 * i + 1]);
        note_b(&seen, bytes[i], true);
    }
    store_columns_of_8(sum->b_exponents, bytes[0], bytes[1]);
    for (int piece = 0; piece < 2; piece++) {
        const uint8_t *from = f->b[piece];
        float *b = sum->b + 32 * piece;
        __m256i low[2], high[2];
        for (int i = 0; i < 2; i++) {
            __m256i x = load_tf32(from + 64 * i), y = load_tf32(from + 64 * i + 32);
            low[i] = _mm256_unpacklo_epi32(x, y);
            high[i] = _mm256_unpackhi_epi32(x, y);
        }
        _mm256_store_si256((void *)b, _mm256_unpacklo_epi64(low[0], low[1]));
        _mm256_store_si256((void *)(b + 8), _mm256_unpackhi_epi64(low[0], low[1]));
        _mm256_store_si256((void *)(b + 16), _mm256_unpacklo_epi64(high[0], high[1]));
        _mm256_store_si256((void *)(b + 24), _mm256_unpackhi_epi64(high[0], high[1]));
    }
    judge_b(sum, &seen, &tf32_format);
}
#endif

/* Without vectors -------------------------------------------------------------------------------
 */

/* The field of a factor's exponent, 0 for zero, at least 1 otherwise. */
static int field_of(uint32_t magnitude, unsigned fraction_bits)
{
    int field = (int)(magnitude >> fraction_bits);
    return magnitude == 0 ? 0 : field ? field : 1;
}

static void note_factor(int exponent, const struct format *f, bool *special, bool *tiny)
{
    *special |= exponent >= f->beyond;
    *tiny |= f->wide && exponent < LEAST_FACTOR;
}

/* What put_a and put_b find out about the factors is for A alone, and for both. */
static void begin_plain(struct tensor_sum *sum, unsigned which)
{
    if (which & TENSOR_A)
        sum->a_special = sum->a_tiny = false;
    sum->special = sum->tiny = false;
}

static void end_plain(struct tensor_sum *sum)
{
    sum->special |= sum->a_special;
    sum->tiny |= sum->a_tiny;
}

static void put_a(struct tensor_sum *sum, unsigned m, unsigned k, float value, int field,
                  const struct format *f)
{
    int exponent = field - f->bias, byte = f->middle - exponent;
    sum->a[(k / sum->piece * sum->rows + m) * sum->piece + k % sum->piece] = value;
    sum->a_exponents[m * sum->k + k] = (uint8_t)(field == 0 ? 255 : byte < 0 ? 0 : byte);
    if (field)
        note_factor(exponent, f, &sum->a_special, &sum->a_tiny);
}

static void put_b(struct tensor_sum *sum, unsigned n, unsigned k, float value, int field,
                  const struct format *f)
{
    int exponent = field - f->bias, byte = 127 + f->middle + exponent;
    sum->b[8 * k + n] = value;
    sum->b_exponents[k / 4 * 32 + 4 * n + k % 4] = (uint8_t)(field == 0   ? 0
                                                             : byte > 255 ? 255
                                                                          : byte);
    if (field)
        note_factor(exponent, f, &sum->special, &sum->tiny);
}

#ifndef __AVX2__
static float take_16(const uint8_t *from, const struct format *f, int *field)
{
    uint16_t bits;
    memcpy(&bits, from, 2);
    *field = field_of(bits & 0x7fff, f->is_bf16 ? 7 : 10);
    return f->is_bf16 ? num_bf16_widen(bits) : num_f16_widen(bits);
}

static void unpack_16(struct tensor_sum *sum, const struct tensor_fragments *f,
                      const struct format *a, const struct format *b, unsigned which)
{
    unsigned blocks = sum->rows / 8;
    int field;
    begin_plain(sum, which);
    for (unsigned k = 0; k < sum->k; k++) {
        for (unsigned m = 0; m < sum->rows && which & TENSOR_A; m++) {
            const uint8_t *from = f->a[k / 8 * blocks + m / 8] + 16 * (m % 8) + 2 * (k % 8);
            float value = take_16(from, a, &field);
            put_a(sum, m, k, value, field, a);
        }
        for (unsigned n = 0; n < 8 && which & TENSOR_B; n++) {
            float value = take_16(f->b[k / 8] + 16 * tensor_column[n] + 2 * (k % 8), b, &field);
            put_b(sum, n, k, value, field, b);
        }
    }
    end_plain(sum);
}
#endif

static float take_tf32(const uint8_t *from, int *field)
{
    uint32_t bits;
    memcpy(&bits, from, 4);
    bits &= 0xffffe000;
    *field = field_of(bits & 0x7fffffff, 23);
    return num_f32_from(bits);
}

static void unpack_tf32(struct tensor_sum *sum, const struct tensor_fragments *f, unsigned which)
{
#ifdef __AVX2__
    if (sum->k == 8) {
        if (which & TENSOR_A)
            unpack_a_tf32_k8(sum, f);
        if (which & TENSOR_B)
            unpack_b_tf32_k8(sum, f);
        return;
    }
#endif
    unsigned blocks = sum->rows / 8;
    int field;
    begin_plain(sum, which);
    for (unsigned k = 0; k < sum->k; k++) {
        for (unsigned m = 0; m < sum->rows && which & TENSOR_A; m++) {
            const uint8_t *from = f->a[k / 4 * blocks + m / 8] + 16 * (m % 8) + 4 * (k % 4);
            float value = take_tf32(from, &field);
            put_a(sum, m, k, value, field, &tf32_format);
        }
        for (unsigned n = 0; n < 8 && which & TENSOR_B; n++) {
            float value = take_tf32(f->b[k / 4] + 16 * tensor_column[n] + 4 * (k % 4), &field);
            put_b(sum, n, k, value, field, &tf32_format);
        }
    }
    end_plain(sum);
}

/* f8 --------------------------------------------------------------------------------------------
 */

#ifdef __AVX2__
/* 32 e4m3 in *high to the high and the low bytes of their f16. via_f16: with their value, so that
 * subnormals become normal; else they keep their exponent field and are 256 times too small. */
INLINE void split_e4m3(bool via_f16, __m256i *high, __m256i *low)
{
    __m256i magnitude = _mm256_and_si256(*high, _mm256_set1_epi8(0x7f));
    __m256i sign = _mm256_xor_si256(*high, magnitude);
    __m256i nan = _mm256_cmpeq_epi8(magnitude, _mm256_set1_epi8(0x7f));
    __m256i x = _mm256_and_si256(_mm256_srli_epi16(magnitude, 1), _mm256_set1_epi8(0x3f));
    __m256i y = _mm256_and_si256(_mm256_slli_epi16(magnitude, 7), _mm256_set1_epi8(-128));
    if (via_f16) {
        const __m256i subnormals = _mm256_broadcastsi128_si256(_mm_setr_epi8(
            0, 0x18, 0x1c, 0x1e, 0x20, 0x21, 0x22, 0x23, 0, 0, 0, 0, 0, 0, 0, 0)); /* n * 2^-9 */
        __m256i small = _mm256_cmpgt_epi8(_mm256_set1_epi8(8), magnitude);
        x = _mm256_add_epi8(x, _mm256_set1_epi8(0x20));
        x = _mm256_blendv_epi8(x, _mm256_shuffle_epi8(subnormals, magnitude), small);
        y = _mm256_andnot_si256(small, y);
    }
    x = _mm256_or_si256(x, _mm256_and_si256(nan, _mm256_set1_epi8(0x7f)));
    *high = _mm256_or_si256(x, sign);
    *low = _mm256_or_si256(y, nan);
}
#else
/* f8 to f16; a native e4m3 keeps its exponent field and is 256 times too small. */
static inline uint16_t half_of_f8(uint8_t x, bool is_e5m2)
{
    uint16_t magnitude = x & 0x7f, sign = (uint16_t)((x & 0x80) << 8);
    uint16_t e4m3 = magnitude == 0x7f ? 0x7fff : (uint16_t)(magnitude << 7); /* no infinity */
    return is_e5m2 ? (uint16_t)(x << 8) : sign | e4m3;
}
#endif

void SIMT_NAME(tensor_halves_of_f8)(bool is_e5m2, bool via_f16, bool pairs, const uint8_t *from,
                                    uint8_t *first, uint8_t *second)
{
    uint16_t *to[2] = {(uint16_t *)(void *)first, (uint16_t *)(void *)second};
#ifdef __AVX2__
    const __m256i spread = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0,
                                            1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    for (unsigned row = 0; row < 8; row += 2, from += 32, to[0] += 16, to[1] += 16) {
        __m256i x = _mm256_loadu_si256((const void *)from), low = _mm256_setzero_si256();
        if (pairs)
            x = _mm256_shuffle_epi8(x, spread);
        if (!is_e5m2)
            split_e4m3(via_f16, &x, &low);
        _mm256_store_si256((void *)to[0], _mm256_unpacklo_epi8(low, x)); /* two rows each */
        _mm256_store_si256((void *)to[1], _mm256_unpackhi_epi8(low, x));
    }
#else
    for (unsigned i = 0; i < 128; i++) {
        unsigned row = i / 16, k = i % 16;
        unsigned which = pairs ? k / 2 % 2 : k / 8, at = pairs ? k / 4 * 2 + k % 2 : k % 8;
        uint16_t half = half_of_f8(from[i], is_e5m2);
        if (!is_e5m2 && via_f16)
            half = num_f16_narrow(num_f16_widen(half) * 256);
        to[which][8 * row + at] = half;
    }
#endif
}

static void multiply(float *f, unsigned count, float factor)
{
    for (unsigned i = 0; i < count; i++)
        f[i] *= factor;
}

static void unpack_f8(struct tensor_sum *sum, const struct tensor_float_kind *kind,
                      const struct tensor_fragments *f)
{
    bool via_f16 = sum->model->via_f16, pairs = sum->model->c_last;
    bool small_a = kind->a_type == PTX_E4M3 && !via_f16;
    bool small_b = kind->b_type == PTX_E4M3 && !via_f16;
    unsigned blocks = sum->rows / 8, pieces = sum->k / 16;
    _Alignas(32) uint8_t a[8][128], b[4][128];
    struct tensor_fragments halves;
    for (unsigned i = 0; i < 8; i++)
        halves.a[i] = a[i];
    for (unsigned i = 0; i < 4; i++)
        halves.b[i] = b[i];
    for (unsigned piece = 0; piece < pieces; piece++) {
        unsigned first = pairs ? piece : 2 * piece, second = pairs ? piece + pieces : first + 1;
        for (unsigned block = 0; block < blocks; block++)
            SIMT_NAME(tensor_halves_of_f8)
        (kind->a_type == PTX_E5M2, via_f16, pairs, f->a[piece * blocks + block],
         a[first * blocks + block], a[second * blocks + block]);
        SIMT_NAME(tensor_halves_of_f8)
        (kind->b_type == PTX_E5M2, via_f16, pairs, f->b[piece], b[first], b[second]);
    }
    unpack_16(sum, &halves, small_a ? &e4m3_format : &f16_format,
              small_b ? &e4m3_format : &f16_format, TENSOR_A | TENSOR_B);
    if (small_a)
        multiply(sum->a, sum->rows * sum->k, 256);
    if (small_b)
        multiply(sum->b, sum->k * 8, 256);
}

/* All -------------------------------------------------------------------------------------------
 */

void SIMT_NAME(tensor_unpack)(struct tensor_sum *sum, const struct tensor_float_kind *kind,
                              const struct tensor_fragments *f, unsigned which)
{
    switch (kind->a_type) {
    case PTX_F16:
        unpack_16(sum, f, &f16_format, &f16_format, which);
        break;
    case PTX_BF16:
        unpack_16(sum, f, &bf16_format, &bf16_format, which);
        break;
    case PTX_TF32:
        unpack_tf32(sum, f, which);
        break;
    default:
        unpack_f8(sum, kind, f); /* both */
    }
}
