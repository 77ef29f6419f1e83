/*
 * tma.cu: one thread asks for a tile, the TMA unit fetches it; when the block has transposed it, one
 * thread asks for it to be stored. Threads compute no addresses in global memory and check no edges:
 * what lies outside is read as zero and not written. The unit also swizzles: in each line of 128 bytes
 * it permutes the eight chunks of 16 bytes by XOR with the line's number. A thread transposes 4 x 4
 * elements in registers, four chunks in and four chunks out, and the eight threads that go through
 * shared memory together lie on a diagonal, which lets them meet all banks on both ways.
 */
// arch: sm_90
#include "tma.h"
#define TILE 32   /* floats: a line of the swizzle */
#define ROWS 128  /* of in, in one box: four tiles, one below the other */
#define THREADS 256 /* 64 for each tile */

struct __align__(1024) tiles {
    float4 in[ROWS][TILE / 4];
    float4 out[ROWS / TILE][TILE][TILE / 4]; /* lines are columns of in */
};

extern "C" __global__ void __launch_bounds__(THREADS)
transpose(const __grid_constant__ tensor_map in, const __grid_constant__ tensor_map out,
          long long rows, long long cols)
{
    __shared__ tiles s;
    __shared__ barrier arrived;
    unsigned down = (rows + ROWS - 1) / ROWS;
    int row = (int)(blockIdx.x % down) * ROWS, col = (int)(blockIdx.x / down) * TILE;
    bool asks = threadIdx.x / 32 == 0 && elect_one();
    if (asks) {
        barrier_make(&arrived, 1);
        barrier_made();
        barrier_arrive_expecting(&arrived, sizeof s.in);
        tma_load(s.in, &in, col, row, &arrived);
    }
    __syncthreads(); /* the barrier is made */
    barrier_wait(&arrived, 0);

    /* Chunk `across` of rows 4 down4 .. becomes chunk down4 of columns 4 across .. */
    unsigned tile = threadIdx.x / 64, down4 = threadIdx.x % 8;
    unsigned across = down4 ^ threadIdx.x % 64 / 8;
    float4 square[4];
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        unsigned line = tile * TILE + 4 * down4 + i;
        square[i] = s.in[line][across ^ line % 8];
    }
    float4 turned[4] = {make_float4(square[0].x, square[1].x, square[2].x, square[3].x),
                        make_float4(square[0].y, square[1].y, square[2].y, square[3].y),
                        make_float4(square[0].z, square[1].z, square[2].z, square[3].z),
                        make_float4(square[0].w, square[1].w, square[2].w, square[3].w)};
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        unsigned line = 4 * across + i;
        s.out[tile][line][down4 ^ line % 8] = turned[i];
    }

    tma_fence(); /* the unit sees what the threads have stored */
    __syncthreads();
    if (asks) {
        for (unsigned i = 0; i < ROWS / TILE; i++)
            if (row + i * TILE < rows)
                tma_store(&out, row + (int)(i * TILE), col, s.out[i]);
        tma_store_commit();
        tma_store_wait_read<0>();
    }
}
