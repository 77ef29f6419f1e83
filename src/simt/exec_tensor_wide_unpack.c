/*
 * exec_tensor_wide_unpack.c: fills struct tensor_wide: factors as f32, with their exponents as
 * bytes. f8 is first turned into f16 (e5m2 is the upper half of one; e4m3's bits moved into f16's
 * places give its value / 256), so there are two cases: factors of 16 bits, and tf32.
 */
#include "simt/tensor_wide.h"

#define INLINE static inline __attribute__((always_inline))
#define AT(type, p) (*(type *)(void *)(p))

/* How the bits of a 16-bit factor are read. */
struct format {
    unsigned fraction; /* bits */
    int offset;        /* field of its exponent to that of f32 */
    unsigned limit;    /* fields from here on are special */
    float factor;      /* its value, as the bits are read, times this */
};
static const struct format f16_format = {10, 112, 31, 1};
static const struct format e4m3_format = {10, 120, 31, 256}; /* in f16's places */
static const struct format bf16_format = {7, 0, WIDE_A_MIDDLE, 1};
static const struct format tf32_format = {23, 0, WIDE_A_MIDDLE, 1};

static const struct format *format_of(enum ptx_type type)
{
    switch (type) {
    case PTX_BF16:
        return &bf16_format;
    case PTX_TF32:
        return &tf32_format;
    case PTX_E4M3:
        return &e4m3_format;
    default:
        return &f16_format;
    }
}

static int lowest_exponent(enum ptx_type type)
{
    return type == PTX_BF16 || type == PTX_TF32 ? -126 : type == PTX_E4M3 ? -6 : -14;
}

void SIMT_NAME(tensor_wide_start)(struct tensor_wide *w, const struct tensor_model *model,
                                  enum ptx_type a_type, enum ptx_type b_type, bool half, unsigned k)
{
    w->model = *model;
    w->k = k;
    w->a_lowest = model->via_f16 ? -14 : lowest_exponent(a_type);
    w->b_lowest = model->via_f16 ? -14 : lowest_exponent(b_type);
    w->half = half;
    w->sparse = false;
    w->a_special = w->tiny = false;
    memset(w->b_special, 0, sizeof(w->b_special));
}

/* All images as 16-bit or tf32 ones; returns how many there are now. */
static unsigned prepare(enum ptx_type type, const uint8_t *const *from, unsigned pieces,
                        bool negate, tensor_image *to)
{
    bool is_f8 = type == PTX_E4M3 || type == PTX_E5M2;
    for (unsigned i = 0; i < pieces; i++) {
        if (is_f8)
            SIMT_NAME(tensor_halves_of_f8)
        (type == PTX_E5M2, false, false, from[i], to[2 * i], to[2 * i + 1]);
        else memcpy(to[i], from[i], sizeof(tensor_image));
    }
    unsigned count = is_f8 ? 2 * pieces : pieces;
    for (unsigned i = 0; negate && i < count; i++)
        tensor_negate(to[i], type);
    return count;
}

/* A ----------------------------------------------------------------------------------------------
 */

INLINE void floats_of_16(const uint8_t *from, const struct format *f, float to[8])
{
    for (int i = 0; i < 8; i++) {
        uint16_t bits = AT(const uint16_t, from + 2 * i);
        to[i] = f->fraction == 7 ? num_bf16_widen(bits) : num_f16_widen(bits) * f->factor;
    }
}

INLINE void floats_of_image(const uint8_t *row, const struct format *f, float *to)
{
    if (f == &tf32_format) {
        for (int i = 0; i < 4; i++) /* the 13 low bits do not count */
            to[i] = num_f32_from(AT(const uint32_t, row + 4 * i) & 0xffffe000);
        return;
    }
#ifdef __F16C__
    if (f->fraction == 10) {
        __m256 x = _mm256_cvtph_ps(_mm_loadu_si128((const void *)row));
        _mm256_storeu_ps(to, _mm256_mul_ps(x, _mm256_set1_ps(f->factor)));
        return;
    }
#endif
    floats_of_16(row, f, to);
}

void SIMT_NAME(tensor_wide_a)(struct tensor_wide *w, enum ptx_type type,
                              const tensor_image (*images)[2], unsigned pieces, bool negate)
{
    const struct format *f = format_of(type);
    unsigned per_image = type == PTX_TF32 ? 4 : 8;
    for (unsigned block = 0; block < 2; block++) {
        const uint8_t *from[WIDE_MAX_IMAGES];
        _Alignas(32) tensor_image ready[2 * WIDE_MAX_IMAGES];
        for (unsigned i = 0; i < pieces; i++)
            from[i] = images[i][block];
        unsigned count = prepare(type, from, pieces, negate, ready);
        for (unsigned i = 0; i < count; i++)
            for (unsigned m = 0; m < 8; m++)
                floats_of_image(ready[i] + 16 * m, f, &w->a[8 * block + m][per_image * i]);
    }
    uint32_t lowest = (uint32_t)(w->a_lowest + 127);
    unsigned least = 255, most = 0;
    for (unsigned m = 0; m < 16; m++) {
        for (unsigned k = 0; k < w->k; k++) {
            uint32_t bits;
            memcpy(&bits, &w->a[m][k], 4);
            uint32_t field = bits >> 23 & 255, zero = !(bits << 1);
            field = field > lowest ? field : lowest;
            unsigned below = field < WIDE_A_MIDDLE ? WIDE_A_MIDDLE - field : 0;
            unsigned byte = zero ? 255 : below;
            least = byte < least ? byte : least;
            most = !zero && byte > most ? byte : most;
            AT(uint32_t, &w->a_exponents[k][4 * m]) = byte * 0x01010101u;
            for (int i = 0; i < 4; i++)
                w->a4[k][4 * m + (unsigned)i] = w->a[m][k];
        }
    }
    w->a_special = least == 0;
    w->a_most = (uint8_t)most;
}

/* B ----------------------------------------------------------------------------------------------
 */

/* 8 columns of 8 numbers of 16 bits to [quad][k][column]. */
INLINE void transpose_16(const uint8_t *image, uint16_t *even, uint16_t *odd)
{
#ifdef __SSE2__
    for (int half = 0; half < 2; half++) {
        __m128i x[4];
        for (int i = 0; i < 4; i++)
            x[i] = _mm_loadu_si128((const void *)(image + 16 * (2 * i + half)));
        __m128i *to = (__m128i *)(void *)(half ? odd : even);
        __m128i low[2] = {_mm_unpacklo_epi16(x[0], x[1]), _mm_unpacklo_epi16(x[2], x[3])};
        __m128i high[2] = {_mm_unpackhi_epi16(x[0], x[1]), _mm_unpackhi_epi16(x[2], x[3])};
        _mm_storeu_si128(to, _mm_unpacklo_epi32(low[0], low[1]));
        _mm_storeu_si128(to + 1, _mm_unpackhi_epi32(low[0], low[1]));
        _mm_storeu_si128(to + 2, _mm_unpacklo_epi32(high[0], high[1]));
        _mm_storeu_si128(to + 3, _mm_unpackhi_epi32(high[0], high[1]));
    }
#else
    for (unsigned n = 0; n < 8; n++)
        for (unsigned k = 0; k < 8; k++)
            (n % 2 ? odd : even)[4 * k + n / 2] = AT(const uint16_t, image + 16 * n + 2 * k);
#endif
}

#if defined(__AVX512F__) && defined(__AVX512BW__)
/* 32 factors of 16 bits: floats and exponent bytes; true if one of them is special. */
INLINE bool unpack_32(const uint16_t *from, const struct format *f, float *to, uint8_t *exponents)
{
    __m512i x = _mm512_loadu_si512((const void *)from);
    for (int i = 0; i < 2; i++) {
        __m256i half = i ? _mm512_extracti64x4_epi64(x, 1) : _mm512_castsi512_si256(x);
        __m512 y = f->fraction == 7 ? (__m512)_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16)
                                    : _mm512_cvtph_ps(half);
        if (f == &e4m3_format)
            y = _mm512_mul_ps(y, _mm512_set1_ps(256));
        _mm512_storeu_ps(to + 16 * i, y);
    }
    __m512i magnitude = _mm512_and_si512(x, _mm512_set1_epi16(0x7fff));
    __m512i field =
        f->fraction == 7 ? _mm512_srli_epi16(magnitude, 7) : _mm512_srli_epi16(magnitude, 10);
    __mmask32 special = _mm512_cmpge_epu16_mask(field, _mm512_set1_epi16((short)f->limit));
    __mmask32 there = _mm512_test_epi16_mask(magnitude, magnitude);
    field = _mm512_max_epu16(field, _mm512_set1_epi16(1));
    field =
        _mm512_maskz_add_epi16(there, field, _mm512_set1_epi16((short)(f->offset + WIDE_B_OFFSET)));
    field = _mm512_mask_mov_epi16(field, special, _mm512_set1_epi16(WIDE_SPECIAL));
    _mm256_storeu_si256((void *)exponents, _mm512_cvtepi16_epi8(field));
    return special != 0;
}
#else
/* 16 of them. */
INLINE void unpack_16(const uint16_t *from, const struct format *f, float *to, uint8_t *exponents)
{
#ifdef __F16C__
    __m256i x = _mm256_loadu_si256((const void *)from);
    __m128i low = _mm256_castsi256_si128(x), high = _mm256_extracti128_si256(x, 1);
    __m256 y[2];
    if (f->fraction == 7) {
        y[0] = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(low), 16));
        y[1] = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(high), 16));
    } else {
        y[0] = _mm256_cvtph_ps(low);
        y[1] = _mm256_cvtph_ps(high);
    }
    for (int i = 0; i < 2; i++) {
        if (f == &e4m3_format)
            y[i] = _mm256_mul_ps(y[i], _mm256_set1_ps(256));
        _mm256_storeu_ps(to + 8 * i, y[i]);
    }
    __m256i magnitude = _mm256_and_si256(x, _mm256_set1_epi16(0x7fff));
    __m256i zero = _mm256_cmpeq_epi16(magnitude, _mm256_setzero_si256());
    __m256i field = _mm256_srli_epi16(magnitude, (int)f->fraction);
    __m256i special = _mm256_cmpgt_epi16(field, _mm256_set1_epi16((short)(f->limit - 1)));
    field = _mm256_max_epu16(field, _mm256_set1_epi16(1));
    field = _mm256_add_epi16(field, _mm256_set1_epi16((short)(f->offset + WIDE_B_OFFSET)));
    field = _mm256_or_si256(field, _mm256_and_si256(special, _mm256_set1_epi16(255)));
    field = _mm256_min_epu16(_mm256_andnot_si256(zero, field), _mm256_set1_epi16(255));
    field = _mm256_packus_epi16(field, field);
    field = _mm256_permute4x64_epi64(field, 0xd8);
    _mm_storeu_si128((void *)exponents, _mm256_castsi256_si128(field));
#else
    for (unsigned i = 0; i < 16; i += 8)
        floats_of_16((const uint8_t *)(from + i), f, to + i);
    for (unsigned i = 0; i < 16; i++) {
        unsigned magnitude = from[i] & 0x7fff, field = magnitude >> f->fraction;
        unsigned byte = (field ? field : 1) + (unsigned)f->offset + WIDE_B_OFFSET;
        exponents[i] = (uint8_t)(!magnitude ? 0 : field >= f->limit ? WIDE_SPECIAL : byte);
    }
#endif
}

INLINE bool unpack_32(const uint16_t *from, const struct format *f, float *to, uint8_t *exponents)
{
    uint8_t most = 0;
    for (unsigned at = 0; at < 32; at += 16)
        unpack_16(from + at, f, to + at, exponents + at);
    for (unsigned i = 0; i < 32; i++)
        most = exponents[i] > most ? exponents[i] : most;
    return most == WIDE_SPECIAL;
}
#endif

static void unpack_tf32(const uint8_t *image, float *even, float *odd, uint8_t *even_exponents,
                        uint8_t *odd_exponents)
{
    for (unsigned n = 0; n < 8; n++)
        for (unsigned k = 0; k < 4; k++) {
            uint32_t bits = AT(const uint32_t, image + 16 * n + 4 * k) & 0xffffe000;
            uint32_t field = bits >> 23 & 255;
            unsigned at = 4 * k + n / 2, byte = (field ? field : 1) + WIDE_B_OFFSET;
            (n % 2 ? odd : even)[at] = num_f32_from(bits);
            (n % 2 ? odd_exponents : even_exponents)[at] =
                (uint8_t)(!(bits << 1)             ? 0
                          : field >= WIDE_A_MIDDLE ? WIDE_SPECIAL
                                                   : byte);
        }
}

/* Where exponents reach far: may a product be too small for the bytes? */
static void judge(struct tensor_wide *w, unsigned quad)
{
    const uint8_t *e = w->b_exponents[quad];
    uint8_t least = 255;
    for (unsigned i = 0; i < 4 * w->k; i++) {
        uint8_t other = (uint8_t)(e[i] - 1); /* 0 goes out of the way */
        least = other < least ? other : least;
    }
    w->tiny |= least < w->a_most;
}

static bool any_special(const uint8_t exponents[16])
{
    uint8_t most = 0;
    for (unsigned i = 0; i < 16; i++)
        most = exponents[i] > most ? exponents[i] : most;
    return most == WIDE_SPECIAL;
}

void SIMT_NAME(tensor_wide_b)(struct tensor_wide *w, enum ptx_type type, tensor_image *images,
                              unsigned pieces, bool negate)
{
    const struct format *f = format_of(type);
    const uint8_t *from[WIDE_MAX_IMAGES];
    _Alignas(32) tensor_image ready[2 * WIDE_MAX_IMAGES];
    for (unsigned i = 0; i < pieces; i++)
        from[i] = images[i];
    unsigned count = pieces;
    tensor_image *all = images;
    if (negate || type == PTX_E4M3 || type == PTX_E5M2) {
        count = prepare(type, from, pieces, negate, ready);
        all = ready;
    }
    float *even = w->b[0], *odd = w->b[1];
    uint8_t *even_exponents = w->b_exponents[0], *odd_exponents = w->b_exponents[1];
    bool special[2] = {false, false};
    for (unsigned i = 0; i < count; i++) {
        if (type == PTX_TF32) {
            unpack_tf32(all[i], even + 16 * i, odd + 16 * i, even_exponents + 16 * i,
                        odd_exponents + 16 * i);
            special[0] |= any_special(even_exponents + 16 * i);
            special[1] |= any_special(odd_exponents + 16 * i);
            continue;
        }
        _Alignas(64) uint16_t halves[2][32]; /* [quad][k][column] */
        transpose_16(all[i], halves[0], halves[1]);
        const struct format *known = f->fraction == 7   ? &bf16_format
                                     : f == &f16_format ? &f16_format
                                                        : &e4m3_format;
        special[0] |= unpack_32(halves[0], known, even + 32 * i, even_exponents + 32 * i);
        special[1] |= unpack_32(halves[1], known, odd + 32 * i, odd_exponents + 32 * i);
    }
    for (unsigned i = 0; i < 2; i++) {
        w->b_special[i] = special[i];
        if (type == PTX_BF16 || type == PTX_TF32)
            judge(w, i);
    }
}
