/*
 * registers.cu: no shared memory at all. A thread reads 4 x 4 elements as four vectors, one per
 * row, and writes four vectors, one per column: in registers the transposition costs nothing.
 * ACROSS lanes of a warp lie side by side and the others below them, so that every request, reading
 * or writing, covers whole sectors of 32 bytes; global memory does not ask for whole rows.
 */
// arch: sm_75
#include "device.h" /* load_once */
#define BLOCK 256 // tune: 128 256 512
#define ACROSS 8 // tune: 2 4 8 16
#define STORE_STREAMING 1 // tune: 0 1
#define TILE_COLS (4 * ACROSS)
#define TILE_ROWS (4 * (BLOCK / ACROSS))

static __device__ __forceinline__ void store(float *at, float x, float y, float z, float w)
{
    if (STORE_STREAMING)
        __stcs((float4 *)at, make_float4(x, y, z, w));
    else
        *(float4 *)at = make_float4(x, y, z, w);
}

static __device__ __forceinline__ void move_square(const float *in, float *out, long long rows,
                                                   long long cols)
{
    float4 a = load_once((const float4 *)in);
    float4 b = load_once((const float4 *)(in + cols));
    float4 c = load_once((const float4 *)(in + 2 * cols));
    float4 d = load_once((const float4 *)(in + 3 * cols));
    store(out, a.x, b.x, c.x, d.x);
    store(out + rows, a.y, b.y, c.y, d.y);
    store(out + 2 * rows, a.z, b.z, c.z, d.z);
    store(out + 3 * rows, a.w, b.w, c.w, d.w);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
transpose(const float *in, float *out, long long rows, long long cols)
{
    unsigned across = (cols + TILE_COLS - 1) / TILE_COLS;
    long long row = (long long)(blockIdx.x / across) * TILE_ROWS + threadIdx.x / ACROSS * 4;
    long long col = (long long)(blockIdx.x % across) * TILE_COLS + threadIdx.x % ACROSS * 4;
    bool aligned = ((unsigned long long)in | (unsigned long long)out) % 16 == 0;
    if (aligned && rows % 4 == 0 && cols % 4 == 0) {
        if (row < rows && col < cols)
            move_square(in + row * cols + col, out + col * rows + row, rows, cols);
        return;
    }
    for (long long y = row; y < min(row + 4, rows); y++)
#pragma unroll 1
        for (long long x = col; x < min(col + 4, cols); x++)
            out[x * rows + y] = in[y * cols + x];
}
