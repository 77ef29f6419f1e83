/*
 * weights.h: how quantised weights lie in memory: the blocks of GGUF files, and tiles for the tensor
 * cores. A row of W has blocks of 32 numbers (Q4_0, Q4_1, Q8_0) or 256 (Q4_K, Q6_K), each with its own
 * scales. A layout says how a thread decodes QUADS times four neighbours from a block.
 */
#ifndef LOCKSTEP_W4A16_WEIGHTS_H
#define LOCKSTEP_W4A16_WEIGHTS_H

#include "rows.h"

static __device__ __forceinline__ float half_at(const unsigned char *at)
{
    return widen(f16{*(const unsigned short *)at});
}
/* Four bytes that begin at an even address. */
static __device__ __forceinline__ unsigned word_at(const unsigned char *at)
{
    const unsigned short *parts = (const unsigned short *)at;
    return parts[0] | (unsigned)parts[1] << 16;
}
static __device__ __forceinline__ float byte_of(unsigned word, int i)
{
    return (float)(word >> 8 * i & 0xff);
}

/* f16 d; 16 bytes: number j low in byte j, number j + 16 high. d (q - 8). */
struct Q4_0 {
    enum { NUMBERS = 32, BYTES = 18, QUADS = 2, STEP = 16 };
    static __device__ __forceinline__ int place(int unit) { return 4 * unit; }
    static __device__ __forceinline__ void decode(const unsigned char *block, int unit,
                                                  float (&w)[QUADS][4])
    {
        float d = half_at(block);
        unsigned q = word_at(block + 2 + 4 * unit), low = q & 0x0f0f0f0f, high = q >> 4 & 0x0f0f0f0f;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            w[0][i] = d * (byte_of(low, i) - 8);
            w[1][i] = d * (byte_of(high, i) - 8);
        }
    }
};
/* f16 d, f16 m; 16 bytes as above. d q + m. */
struct Q4_1 {
    enum { NUMBERS = 32, BYTES = 20, QUADS = 2, STEP = 16 };
    static __device__ __forceinline__ int place(int unit) { return 4 * unit; }
    static __device__ __forceinline__ void decode(const unsigned char *block, int unit,
                                                  float (&w)[QUADS][4])
    {
        float d = half_at(block), m = half_at(block + 2);
        unsigned q = word_at(block + 4 + 4 * unit), low = q & 0x0f0f0f0f, high = q >> 4 & 0x0f0f0f0f;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            w[0][i] = fmaf(d, byte_of(low, i), m);
            w[1][i] = fmaf(d, byte_of(high, i), m);
        }
    }
};
/* f16 d; 32 signed bytes. d q. */
struct Q8_0 {
    enum { NUMBERS = 32, BYTES = 34, QUADS = 2, STEP = 4 };
    static __device__ __forceinline__ int place(int unit) { return 8 * unit; }
    static __device__ __forceinline__ void decode(const unsigned char *block, int unit,
                                                  float (&w)[QUADS][4])
    {
        float d = half_at(block);
#pragma unroll
        for (int quad = 0; quad < 2; quad++) {
            unsigned q = word_at(block + 2 + 8 * unit + 4 * quad);
#pragma unroll
            for (int i = 0; i < 4; i++)
                w[quad][i] = d * (float)(signed char)(q >> 8 * i);
        }
    }
};
/* f16 d, f16 dmin; 12 bytes with eight scales and eight minima of 6 bits; 128 bytes: of each 64
 * numbers the first 32 low, the others high. d scale q - dmin minimum, for 32 numbers each. */
struct Q4_K {
    enum { NUMBERS = 256, BYTES = 144, QUADS = 2, STEP = 32 };
    static __device__ __forceinline__ int place(int unit) { return unit / 8 * 64 + unit % 8 * 4; }
    static __device__ __forceinline__ float2 scales(const unsigned char *s, int j)
    {
        if (j < 4)
            return make_float2(s[j] & 63, s[j + 4] & 63);
        return make_float2((s[j + 4] & 15) | s[j - 4] >> 6 << 4, s[j + 4] >> 4 | s[j] >> 6 << 4);
    }
    static __device__ __forceinline__ void decode(const unsigned char *block, int unit,
                                                  float (&w)[QUADS][4])
    {
        float d = half_at(block), dmin = half_at(block + 2);
        unsigned q = word_at(block + 16 + unit / 8 * 32 + unit % 8 * 4);
#pragma unroll
        for (int quad = 0; quad < 2; quad++) {
            float2 s = scales(block + 4, unit / 8 * 2 + quad);
            float scale = d * s.x, least = dmin * s.y;
#pragma unroll
            for (int i = 0; i < 4; i++)
                w[quad][i] = fmaf(scale, byte_of(q >> 4 * quad & 0x0f0f0f0f, i), -least);
        }
    }
};
/* 128 bytes with the low 4 bits, 64 with the high 2, 16 signed scales for 16 numbers each, f16 d. Of
 * each 128 numbers j, j + 32, j + 64 and j + 96 share bytes. d scale (q - 32). */
struct Q6_K {
    enum { NUMBERS = 256, BYTES = 210, QUADS = 4, STEP = 32 };
    static __device__ __forceinline__ int place(int unit) { return unit / 8 * 128 + unit % 8 * 4; }
    static __device__ __forceinline__ void decode(const unsigned char *block, int unit,
                                                  float (&w)[QUADS][4])
    {
        int half = unit / 8, j = unit % 8 * 4;
        float d = half_at(block + 208);
        unsigned low[2] = {word_at(block + 64 * half + j), word_at(block + 64 * half + j + 32)};
        unsigned high = word_at(block + 128 + 32 * half + j);
        const signed char *scales = (const signed char *)block + 192 + 8 * half + j / 16;
#pragma unroll
        for (int quad = 0; quad < 4; quad++) {
            unsigned q = (low[quad % 2] >> quad / 2 * 4 & 0x0f0f0f0f) |
                         (high >> 2 * quad & 0x03030303) << 4;
            float scale = d * (float)scales[2 * quad];
#pragma unroll
            for (int i = 0; i < 4; i++)
                w[quad][i] = scale * (byte_of(q, i) - 32);
        }
    }
};

/* Tiles of 16 rows and 64 columns, each 512 bytes: a lane's 16 bytes are its operands of four
 * mma.m16n8k16, so that a warp loads them as they are, side by side. Nibbles i and i + 4 of a word are
 * the neighbours of operand register i, plus 8. Scales are f16 for 32 or 128 columns, in pairs for rows
 * r and r + 8: [tile of 16 rows][columns / 64][8][2][2], or [tile][columns / 128][8][2]. */
template <int GROUP> struct Tiles {
    enum { PER_CHUNK = GROUP == 32 ? 2 : 1 }; // scales of a row in 64 columns
    static __device__ __forceinline__ long long chunks(int k) { return (k + 63) / 64; }
    static __device__ __forceinline__ long long scale_groups(int k) { return (k + GROUP - 1) / GROUP; }
    /* Where the word of scales is that has this row and its neighbour 8 further on. */
    static __device__ __forceinline__ long long scale_word(int k, int row, int col)
    {
        long long tile = row / 16;
        if (GROUP == 32)
            return ((tile * chunks(k) + col / 64) * 8 + row % 8) * 2 + col / 32 % 2;
        return (tile * scale_groups(k) + col / GROUP) * 8 + row % 8;
    }
    static __device__ __forceinline__ float at(const unsigned *w, const unsigned *scales, int k,
                                               int row, int col)
    {
        int lane = row % 8 * 4 + col % 8 / 2, pair = row / 8 % 2 + col / 8 % 2 * 2;
        long long chunk = row / 16 * chunks(k) + col / 64;
        unsigned word = w[(chunk * 32 + lane) * 4 + col / 16 % 4];
        int code = (int)(word >> (4 * pair + col % 2 * 16) & 15) - 8;
        unsigned both = scales[scale_word(k, row, col)];
        return widen(f16{(unsigned short)(both >> row / 8 % 2 * 16)}) * (float)code;
    }
};

#endif
