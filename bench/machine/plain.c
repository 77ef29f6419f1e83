/*
 * plain.c: the algorithms of kernels.cu as one would write them in C without thinking of a GPU.
 * Compiled with -O2, run in one thread. Same work in the same order where order matters for speed:
 * the naive product walks down columns, the tiled one copies tiles first.
 */
#include "plain.h"

#include <stdlib.h>
#include <string.h>

void plain_vector_add(const float *a, const float *b, float *c, int n)
{
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

void plain_matmul_naive(const float *a, const float *b, float *c, int n)
{
    for (int row = 0; row < n; row++) {
        for (int column = 0; column < n; column++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[row * n + k] * b[k * n + column];
            c[row * n + column] = sum;
        }
    }
}

enum { TILE = 16 };

void plain_matmul_tiled(const float *a, const float *b, float *c, int n)
{
    float as[TILE][TILE], bs[TILE][TILE], sums[TILE][TILE];
    for (int row = 0; row < n; row += TILE) {
        for (int column = 0; column < n; column += TILE) {
            memset(sums, 0, sizeof sums);
            for (int tile = 0; tile < n; tile += TILE) {
                for (int y = 0; y < TILE; y++) {
                    for (int x = 0; x < TILE; x++) {
                        as[y][x] = a[(row + y) * n + tile + x];
                        bs[y][x] = b[(tile + y) * n + column + x];
                    }
                }
                for (int y = 0; y < TILE; y++)
                    for (int x = 0; x < TILE; x++)
                        for (int k = 0; k < TILE; k++)
                            sums[y][x] += as[y][k] * bs[k][x];
            }
            for (int y = 0; y < TILE; y++)
                memcpy(&c[(row + y) * n + column], sums[y], sizeof sums[y]);
        }
    }
}

float plain_reduction(const float *in, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += in[i];
    return sum;
}

void plain_histogram(const unsigned char *in, unsigned *bins, int n)
{
    memset(bins, 0, 256 * sizeof *bins);
    for (int i = 0; i < n; i++)
        bins[in[i]]++;
}

float plain_half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31,
             fraction = half & 1023;
    uint32_t bits = sign | (exponent + 112) << 23 | fraction << 13; /* normal numbers only, and 0 */
    if (exponent == 0 && fraction == 0)
        bits = sign;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint16_t plain_half_from_small_integer(int value)
{
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (value == 0)
        return 0;
    return (uint16_t)((bits >> 16 & 0x8000) | (((bits >> 23 & 255) - 112) << 10) |
                      (bits >> 13 & 1023));
}

void plain_gemm_half(const uint16_t *a, const uint16_t *b, float *c, int n)
{
    float *fa = malloc(sizeof *fa * n * n), *fb = malloc(sizeof *fb * n * n);
    for (int i = 0; i < n * n; i++) {
        fa[i] = plain_half_to_float(a[i]);
        fb[i] = plain_half_to_float(b[i]);
    }
    memset(c, 0, sizeof *c * n * n);
    for (int row = 0; row < n; row++)
        for (int k = 0; k < n; k++)
            for (int column = 0; column < n; column++)
                c[row * n + column] += fa[row * n + k] * fb[k * n + column];
    free(fa);
    free(fb);
}
