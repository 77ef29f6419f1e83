/*
 * tiles.h: what the kernels over tiles share: codes as numbers, their products on the tensor cores, and
 * how the blocks of a cluster, each of which has a part of k, add up their sums.
 */
#ifndef LOCKSTEP_W4A16_TILES_H
#define LOCKSTEP_W4A16_TILES_H

#include "matrix_loads.h"
#include "weights.h"

#define WARPS 8
#define BLOCK (32 * WARPS)

static __device__ __forceinline__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0,
                                                    unsigned b1, bf16)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
static __device__ __forceinline__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0,
                                                    unsigned b1, f16)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Some bits of each half, and `above`: one instruction, where the mask waits in a register. */
static __device__ __forceinline__ unsigned masked(unsigned codes, unsigned mask, unsigned above)
{
    unsigned both;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(both) : "r"(codes), "r"(keep(mask)), "r"(above));
    return both;
}

/* A word's eight codes as numbers from -8 to 7, in pairs. Behind the leading one of 128 (of 1024 in f16)
 * codes are 128 plus the code, exactly; f16 has room for a code four bits further up, too, which is then
 * 16 times as large. */
static __device__ __forceinline__ void numbers_of(unsigned (&a)[4], unsigned codes, bf16)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        a[i] = masked(codes >> 4 * i, 0x000f000f, 0x43004300);
        asm("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(a[i]) : "r"(0x3f803f80), "r"(0xc308c308));
    }
}
static __device__ __forceinline__ void numbers_of(unsigned (&a)[4], unsigned codes, f16)
{
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        a[i] = masked(codes >> 4 * i, 0x000f000f, 0x64006400);
        a[i + 1] = masked(codes >> 4 * i, 0x00f000f0, 0x64006400);
        asm("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(a[i]) : "r"(0x3c003c00), "r"(0xe408e408));
        asm("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(a[i + 1]) : "r"(0x2c002c00), "r"(0xd480d480));
    }
}

/* 128 columns of a warp's tiles: two chunks. */
template <int TILES, int GROUP> struct unit {
    enum { PER_CHUNK = Tiles<GROUP>::PER_CHUNK };
    uint4 codes[TILES][2];
    unsigned scales[TILES][2][PER_CHUNK]; // of 128 columns: the first
};

template <int NT>
static __device__ __forceinline__ void add_scaled(float (&sum)[NT][4], float (&part)[NT][4], unsigned pair)
{
    float2 scale = widen_pair(pair, f16());
#pragma unroll
    for (int j = 0; j < NT; j++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            sum[j][i] = fmaf(i < 2 ? scale.x : scale.y, part[j][i], sum[j][i]);
            part[j][i] = 0;
        }
}

/* Chunk c of a unit times its columns of x, at address x. */
template <int TILES, int NT, int GROUP, class T>
static __device__ __forceinline__ void multiply_chunk(float (&sum)[TILES][NT][4],
                                                      float (&part)[TILES][NT][4],
                                                      const unit<TILES, GROUP> &u, int c, unsigned x)
{
    unsigned v[4];
#pragma unroll
    for (int step = 0; step < 4; step++) {
        if (NT == 2 || step % 2 == 0)
            load_matrices(v, x + (unsigned)(c * 128 + step * 32));
#pragma unroll
        for (int t = 0; t < TILES; t++) {
            const uint4 &codes = u.codes[t][c];
            unsigned word = step == 0 ? codes.x : step == 1 ? codes.y : step == 2 ? codes.z : codes.w;
            unsigned a[4];
            numbers_of(a, word, T());
            if constexpr (NT == 1) {
                multiply_add(part[t][0], a, v[step % 2 * 2], v[step % 2 * 2 + 1], T());
            } else {
                multiply_add(part[t][0], a, v[0], v[1], T());
                multiply_add(part[t][1], a, v[2], v[3], T());
            }
            if (GROUP == 32 && step % 2 == 1)
                add_scaled<NT>(sum[t], part[t], u.scales[t][c][step / 2]);
            if (GROUP == 128 && step == 3 && c == 1)
                add_scaled<NT>(sum[t], part[t], u.scales[t][0][0]);
        }
    }
}

static __device__ __forceinline__ float load_from_block(const float *at, unsigned rank)
{
    float x;
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %1, %2; "
                 "ld.shared::cluster.f32 %0, [there]; }"
                 : "=f"(x)
                 : "r"(shared_address(at)), "r"(rank));
    return x;
}
static __device__ __forceinline__ void cluster_sync(void)
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
}

/* The blocks of a cluster, `parts` of them, add up their sums, each those of some rows of W. shared has
 * room for [NT * 8 rows of x][rows of W of a block]. */
template <int TILES, int NT, class T>
static __device__ __forceinline__ void finish(float *shared, const float (&sum)[TILES][NT][4], T *y,
                                              int rows, int n, unsigned rank, unsigned parts)
{
    const int ROWS = WARPS * TILES * 16;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, share = ROWS / parts;
    int first = (int)(blockIdx.x / parts) * ROWS;
#pragma unroll
    for (int t = 0; t < TILES; t++)
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                shared[(j * 8 + lane % 4 * 2 + i % 2) * ROWS + (warp * TILES + t) * 16 + lane / 4 +
                       i / 2 * 8] = sum[t][j][i];
    if (parts > 1)
        cluster_sync();
    else
        __syncthreads();
    for (unsigned i = threadIdx.x; i < share * NT * 8; i += BLOCK) {
        unsigned row = i / share, column = rank * share + i % share;
        const float *at = shared + row * ROWS + column;
        float all = 0;
        for (unsigned part = 0; part < parts; part++)
            all += parts > 1 ? load_from_block(at, part) : *at;
        if ((int)row < rows && first + (int)column < n)
            narrow(all, &y[(long long)row * n + first + column]);
    }
    if (parts > 1)
        cluster_sync(); // the others may still read this block's sums
}

#endif
