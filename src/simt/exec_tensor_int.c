/*
 * exec_tensor_int.c: mma.sync on integers (s8 u8 s4 u4) and on bits (b1 with xor or and).
 * Sums are exact; at the end they wrap at 32 bits, or saturate with .satfinite. Layouts are those
 * of tensor.h, so a tile is rows of 16 or 32 bytes, whatever its type.
 */
#include "simt/tensor.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define MAX_K 128 /* s4 in 64 bytes: sparse ones */
#define MAX_BYTES 64
#define INLINE static inline __attribute__((always_inline))

/* bytes of a row to 16-bit integers; returns how many. */
INLINE unsigned widen(enum ptx_type type, const uint8_t *bytes, unsigned count, int16_t *values)
{
    switch (type) {
    case PTX_S8:
        for (unsigned i = 0; i < count; i++)
            values[i] = (int8_t)bytes[i];
        return count;
    case PTX_U8:
        for (unsigned i = 0; i < count; i++)
            values[i] = bytes[i];
        return count;
    case PTX_S4:
        for (unsigned i = 0; i < count; i++) {
            values[2 * i] = (int16_t)((int8_t)(bytes[i] << 4) >> 4);
            values[2 * i + 1] = (int16_t)((int8_t)bytes[i] >> 4);
        }
        return 2 * count;
    default:
        for (unsigned i = 0; i < count; i++) {
            values[2 * i] = bytes[i] & 15;
            values[2 * i + 1] = bytes[i] >> 4;
        }
        return 2 * count;
    }
}

/* Sums of a row of A with 8 columns. pairs: b[k], b[k + 1] of each column side by side. */
INLINE void dot_row(const int16_t *a, const int16_t *pairs, unsigned k, int32_t sums[8])
{
#ifdef __AVX2__
    __m256i sum = _mm256_setzero_si256();
    for (unsigned i = 0; i < k; i += 2) {
        int32_t pair;
        memcpy(&pair, a + i, 4);
        __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(pairs + 8 * i));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_set1_epi32(pair), b));
    }
    _mm256_storeu_si256((__m256i *)(void *)sums, sum);
#else
    for (unsigned n = 0; n < 8; n++) {
        int32_t sum = 0;
        for (unsigned i = 0; i < k; i += 2)
            sum += a[i] * pairs[8 * i + 2 * n] + a[i + 1] * pairs[8 * i + 2 * n + 1];
        sums[n] = sum;
    }
#endif
}

INLINE void dot_bits(const uint8_t *a, const uint8_t (*b)[MAX_BYTES], unsigned bytes, bool is_and,
                     int32_t sums[8])
{
    for (unsigned n = 0; n < 8; n++) {
        int32_t sum = 0;
        for (unsigned i = 0; i < bytes; i += 8) {
            uint64_t x, y;
            memcpy(&x, a + i, 8);
            memcpy(&y, b[n] + i, 8);
            sum += __builtin_popcountll(is_and ? x & y : x ^ y);
        }
        sums[n] = sum;
    }
}

static int32_t add_saturated(int32_t x, int32_t y)
{
    int64_t exact = (int64_t)x + y;
    return exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : (int32_t)exact;
}

INLINE void multiply_tile(const struct tensor_int_kind *kind, const struct tensor_fragments *f)
{
    /* Columns in this order make a row of accumulators two pieces of 16 bytes. */
    static const uint8_t even_first[8] = {0, 2, 4, 6, 1, 3, 5, 7};
    unsigned rows = kind->rows, bytes = kind->bytes, blocks = rows / 8, k = 0;
    uint8_t a[16][MAX_BYTES], b[8][MAX_BYTES]; /* [row][byte], [column][byte] */
    for (unsigned at = 0; at < bytes; at += 16) {
        for (unsigned m = 0; m < rows; m++)
            memcpy(a[m] + at, f->a[at / 16 * blocks + m / 8] + 16 * (m % 8), 16);
        for (unsigned n = 0; n < 8; n++)
            memcpy(b[n] + at, f->b[at / 16] + 16 * even_first[n], 16);
    }
    int16_t pairs[MAX_K * 8];
    if (kind->a_type != PTX_B1) {
        for (unsigned n = 0; n < 8; n++) {
            int16_t column[MAX_K];
            k = widen(kind->b_type, b[n], bytes, column);
            for (unsigned i = 0; i < k; i += 2)
                memcpy(&pairs[8 * i + 2 * n], &column[i], 4);
        }
    }
    int32_t d[16][8];
    for (unsigned m = 0; m < rows; m++) {
        int32_t sums[8], c[8];
        if (kind->a_type == PTX_B1) {
            dot_bits(a[m], (const uint8_t(*)[MAX_BYTES])b, bytes, kind->is_and, sums);
        } else {
            int16_t row[MAX_K];
            widen(kind->a_type, a[m], bytes, row);
            dot_row(row, pairs, k, sums);
        }
        memcpy(c, f->c[m / 8 * 2] + 16 * (m % 8), 16);
        memcpy(c + 4, f->c[m / 8 * 2 + 1] + 16 * (m % 8), 16);
        if (kind->saturate) {
            for (unsigned n = 0; n < 8; n++)
                d[m][n] = add_saturated(sums[n], c[n]);
        } else {
            for (unsigned n = 0; n < 8; n++)
                d[m][n] = (int32_t)((uint32_t)sums[n] + (uint32_t)c[n]);
        }
    }
    for (unsigned m = 0; m < rows; m++) {
        memcpy(f->d[m / 8 * 2] + 16 * (m % 8), d[m], 16);
        memcpy(f->d[m / 8 * 2 + 1] + 16 * (m % 8), d[m] + 4, 16);
    }
}

void SIMT_NAME(tensor_int_tile)(const struct tensor_int_kind *kind,
                                const struct tensor_fragments *f)
{
    /* The usual ones have loops of their own. */
    if (kind->a_type == PTX_B1) {
        const struct tensor_int_kind bits = {kind->rows, kind->bytes, PTX_B1,
                                             PTX_B1,     false,       kind->is_and};
        multiply_tile(&bits, f);
    } else if (kind->a_type == PTX_S8 && kind->b_type == PTX_S8 && kind->rows == 16 &&
               kind->bytes == 32 && !kind->saturate) {
        const struct tensor_int_kind usual = {16, 32, PTX_S8, PTX_S8, false, false};
        multiply_tile(&usual, f);
    } else {
        multiply_tile(kind, f);
    }
}

/* Bodies ----------------------------------------------------------------------------------------
 */

static const struct simt_inst *run_int(struct simt_warp *w, const struct simt_inst *in,
                                       unsigned rows, unsigned bytes)
{
    if (!simt_wait_lanes(w, in, SIMT_ALL))
        return NULL;
    const struct tensor_int_kind kind = {
        .rows = (uint8_t)rows,
        .bytes = (uint8_t)bytes,
        .a_type = in->ptx->types[1],
        .b_type = in->ptx->types[2],
        .saturate = ptx_has(in->ptx, PTX_MOD_SATFINITE),
        .is_and = ptx_has(in->ptx, PTX_MOD_AND),
    };
    struct tensor_fragments f;
    tensor_point(w, in, rows / 4, rows / 8 * (bytes / 16), bytes / 16, rows / 4, &f);
    SIMT_NAME(tensor_int_tile)(&kind, &f);
    return in + 1;
}

SIMT_BODY(mma_int_8_rows)
{
    return run_int(w, in, 8, 16);
}
SIMT_BODY(mma_int_16_rows)
{
    return run_int(w, in, 16, 16);
}
SIMT_BODY(mma_int_16_rows_wide)
{
    return run_int(w, in, 16, 32);
}

simt_body *SIMT_NAME(tensor_select_int)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    struct tensor_shape shape = tensor_shape_of(ptx);
    unsigned bits = ptx_type_bits(ptx->types[1]);
    if (bits != ptx_type_bits(ptx->types[2]))
        return NULL;
    unsigned bytes = shape.k * bits / 8, b_count = bytes / 16;
    if (!tensor_counts_are(ptx, shape.m / 4, shape.m / 8 * b_count, b_count, shape.m / 4))
        return NULL;
    if (shape.m == 8)
        return bytes == 16 ? mma_int_8_rows : NULL;
    return bytes == 16 ? mma_int_16_rows : bytes == 32 ? mma_int_16_rows_wide : NULL;
}
