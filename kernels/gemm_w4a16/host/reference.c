/*
 * reference.c: weights of every layout, number by number, and the product in f64.
 */
#include "w4a16.h"

#include <math.h>
#include <stdlib.h>

static double half_at(const uint8_t *at)
{
    return (double)zoo_from_f16((uint16_t)(at[0] | at[1] << 8));
}

/* Scale and minimum j of a Q4_K block: 6 bits each, the upper two of the last four apart. */
static void six_bits(const uint8_t *s, int j, int *scale, int *least)
{
    *scale = j < 4 ? s[j] & 63 : (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
    *least = j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | s[j] >> 6 << 4;
}

static double q4_k(const uint8_t *block, int i)
{
    int scale, least, byte = block[16 + i / 64 * 32 + i % 32];
    six_bits(block + 4, i / 32, &scale, &least);
    return half_at(block) * scale * (byte >> i / 32 % 2 * 4 & 15) - half_at(block + 2) * least;
}

static double q6_k(const uint8_t *block, int i)
{
    int half = i / 128, quarter = i % 128 / 32, j = i % 32;
    int low = block[64 * half + quarter % 2 * 32 + j] >> quarter / 2 * 4 & 15;
    int high = block[128 + 32 * half + j] >> 2 * quarter & 3;
    int scale = (int8_t)block[192 + i / 16];
    return half_at(block + 208) * scale * ((low | high << 4) - 32);
}

/* A word of a tile: the code of a row and column in it. */
static int tile_code(const uint8_t *w, int64_t k, int64_t row, int64_t col)
{
    int64_t chunk = row / 16 * ((k + 63) / 64) + col / 64, lane = row % 8 * 4 + col % 8 / 2;
    uint32_t word;
    memcpy(&word, w + ((chunk * 32 + lane) * 4 + col / 16 % 4) * 4, 4);
    return (int)(word >> (4 * (row / 8 % 2 + col / 8 % 2 * 2) + col % 2 * 16) & 15);
}
static size_t tile_scale(int64_t layout, int64_t k, int64_t row, int64_t col)
{
    int64_t word = layout == W_TILES32
                       ? ((row / 16 * ((k + 63) / 64) + col / 64) * 8 + row % 8) * 2 + col / 32 % 2
                       : (row / 16 * ((k + 127) / 128) + col / 128) * 8 + row % 8;
    return (size_t)(word * 2 + row / 8 % 2);
}

static double weight(int64_t layout, const uint8_t *w, const uint16_t *scales, int64_t k,
                     int64_t row, int64_t col)
{
    int i = (int)(col % w_block(layout));
    const uint8_t *block = NULL;
    if (layout < W_TILES32)
        block = w + (size_t)(row * (k / w_block(layout)) + col / w_block(layout)) *
                        (w_weight_bytes(layout, 1, w_block(layout)));
    switch (layout) {
    case W_Q4_0:
        return half_at(block) * ((block[2 + i % 16] >> i / 16 * 4 & 15) - 8);
    case W_Q4_1:
        return half_at(block) * (block[4 + i % 16] >> i / 16 * 4 & 15) + half_at(block + 2);
    case W_Q8_0:
        return half_at(block) * (int8_t)block[2 + i];
    case W_Q4_K:
        return q4_k(block, i);
    case W_Q6_K:
        return q6_k(block, i);
    default:
        return (double)zoo_from_f16(scales[tile_scale(layout, k, row, col)]) *
               (tile_code(w, k, row, col) - 8);
    }
}

/* Sums are in f32, of up to k products; the tensor cores cut, they do not round. */
static void multiply(const struct zoo_problem *problem, void *const *buffer,
                     struct zoo_expected *expected)
{
    int64_t m = problem->value[W_M], n = problem->value[W_N], k = problem->value[W_K];
    int64_t layout = problem->value[W_LAYOUT];
    bool tiles = layout >= W_TILES32;
    enum zoo_type type = problem->value[W_TYPE] == 0 ? ZOO_BF16 : ZOO_F16;
    const struct zoo_precision *of = &zoo_precisions[type];
    double *x = malloc(((size_t)(m * k) + 1) * sizeof *x);
    struct zoo_expected *y = &expected[tiles ? 3 : 2];
    for (int64_t i = 0; i < m * k; i++)
        x[i] = zoo_get(type, buffer[0], (size_t)i);
#pragma omp parallel for schedule(static) if (n * k > 100000)
    for (int64_t row = 0; row < n; row++) {
        double *w = malloc(((size_t)k + 1) * sizeof *w);
        for (int64_t col = 0; col < k; col++)
            w[col] = weight(layout, buffer[1], buffer[2], k, row, col); /* tiles: their scales */
        for (int64_t i = 0; i < m; i++) {
            double sum = 0, size = 0;
            for (int64_t col = 0; col < k; col++) {
                sum += w[col] * x[i * k + col];
                size += fabs(w[col] * x[i * k + col]);
            }
            y->value[i * n + row] = fabs(sum) >= of->most ? copysign(INFINITY, sum) : sum;
            y->bound[i * n + row] =
                1.01 * of->unit * fabs(sum) + 0x1p-28 * (double)(k + 384) * size + of->least;
        }
        free(w);
    }
    free(x);
}

/* Every bit of the tiles is known. */
static void repack(const struct zoo_problem *problem, void *const *buffer,
                   struct zoo_expected *expected)
{
    int64_t n = problem->value[W_N], k = problem->value[W_K], layout = problem->value[W_LAYOUT];
    int64_t all_rows = (n + 15) / 16 * 16, all_cols = (k + 63) / 64 * 64;
    bool from_int4 = layout == W_TILES128;
    const uint8_t *w = buffer[0];
    unsigned to = from_int4 ? 2 : 1;
    for (int64_t row = 0; row < all_rows; row++)
        for (int64_t col = 0; col < all_cols; col++) {
            int64_t chunk = row / 16 * (all_cols / 64) + col / 64, code = 8, scale = 0;
            int64_t word = (chunk * 32 + row % 8 * 4 + col % 8 / 2) * 4 + col / 16 % 4;
            int64_t nibble = row / 8 % 2 + col / 8 % 2 * 2 + col % 2 * 4;
            const uint8_t *block = w + (size_t)(row * (k / 32) + col / 32) * 18;
            if (row < n && col < k && from_int4) {
                code = (w[row * (k / 2) + col / 2] >> col % 2 * 4 & 15) ^ 8;
                scale = zoo_to_f16((double)((const float *)buffer[1])[row * (k / 128) + col / 128]);
            } else if (row < n && col < k) {
                code = block[2 + col % 16] >> col / 16 % 2 * 4 & 15;
                scale = block[0] | block[1] << 8;
            }
            expected[to].value[word * 4 + nibble / 2] += (double)(code << nibble % 2 * 4);
            /* A whole group behind k has no scales in tiles of 128. */
            if (!from_int4 || col < k)
                expected[to + 1].value[tile_scale(layout, k, row, col)] =
                    (double)zoo_from_f16((uint16_t)scale);
        }
}

void w_reference(const struct zoo_problem *problem, void *const *buffer,
                 struct zoo_expected *expected)
{
    if (problem->value[W_STEP] == W_MULTIPLY)
        multiply(problem, buffer, expected);
    else
        repack(problem, buffer, expected);
}
