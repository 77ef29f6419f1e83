/*
 * tiles_in_registers.cu: weights in tiles, y^T = W x^T on the tensor cores, with codes loaded straight
 * into the registers that decode them: RING times 128 columns are on their way, and a register is loaded
 * again as soon as it was decoded. Rows of x lie in shared memory as they are, half of them arriving
 * while the other half is in use; ldmatrix turns them into operands. Compared with tiles.cu no code
 * passes through shared memory, addresses are constants, and a scale is applied once for its columns.
 */
// arch: sm_90
#include "tiles.h"

/* Units of 128 columns on their way to a warp. */
#define RING 2 // tune: 2 3 4

/* NT times 8 rows of x, in two halves of COLUMNS columns. Rows are 16 bytes apart modulo 128, so that
 * the eight rows of a matrix are in different banks. */
template <int NT> struct rows_of_x {
    enum { COLUMNS = 1024 / NT, STRIDE = 2 * COLUMNS + 16, BYTES = NT * 8 * STRIDE };
    static __device__ __forceinline__ unsigned half(unsigned shared, int phase)
    {
        return shared + (unsigned)(phase % 2 * BYTES);
    }
    /* Columns of a phase; zeros behind k, up to the end of a unit. */
    template <class T>
    static __device__ __forceinline__ void copy(unsigned shared, const T *x, int rows, int k, int from,
                                                int until)
    {
        for (int i = threadIdx.x; i < NT * 8 * (COLUMNS / 8); i += BLOCK) {
            int row = i / (COLUMNS / 8), col = from + i % (COLUMNS / 8) * 8;
            bool here = row < rows && col < k;
            if (col < until)
                copy_async_16_to(shared + (unsigned)(row * STRIDE + (col - from) * 2),
                                 here ? x + (long long)row * k + col : x, here ? 16 : 0);
        }
        copy_async_commit();
    }
    /* What this lane gives the address of, for ldmatrix: 32 columns of 8 rows, or 16 of 16. */
    static __device__ __forceinline__ unsigned lane_offset(void)
    {
        unsigned lane = threadIdx.x % 32;
        return NT == 1 ? lane % 8 * STRIDE + lane / 8 * 16
                       : (lane % 8 + lane / 16 * 8) * STRIDE + lane / 8 % 2 * 16;
    }
};

template <int TILES, int GROUP> struct loaded_unit : unit<TILES, GROUP> {
    typedef unit<TILES, GROUP> Base;
    using Base::codes;
    using Base::scales;

    /* Chunk c of the unit that begins `ahead` chunks further on; zeros where k has ended. */
    __device__ __forceinline__ void load_codes(int c, int ahead, int left,
                                               const uint4 *const (&at)[TILES])
    {
        bool there = ahead + c < left;
#pragma unroll
        for (int t = 0; t < TILES; t++)
            codes[t][c] = there ? load_stream(at[t] + (ahead + c) * 32) : make_uint4(0, 0, 0, 0);
    }
    __device__ __forceinline__ void load_scales(int c, int ahead, int left,
                                                const unsigned *const (&at)[TILES])
    {
        bool there = ahead + c < left;
#pragma unroll
        for (int t = 0; t < TILES; t++)
            if constexpr (GROUP == 32) {
                uint2 two = there ? *(const uint2 *)(at[t] + (ahead + c) * 16) : make_uint2(0, 0);
                scales[t][c][0] = two.x, scales[t][c][Base::PER_CHUNK - 1] = two.y;
            } else if (c == 1) {
                scales[t][0][0] = ahead < left ? at[t][ahead / 2 * 8] : 0;
            }
    }
};

template <int TILES, int NT, int GROUP, class T>
static __device__ __forceinline__ void multiply(const T *x, const uint4 *w, const unsigned *scales, T *y,
                                                int m, int n, int k, unsigned parts, void *shared)
{
    typedef rows_of_x<NT> X;
    const int UNITS = X::COLUMNS / 128; // of a phase
    unsigned rank = blockIdx.x % parts, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int chunks = (k + 63) / 64, each = (chunks + 2 * (int)parts - 1) / (2 * (int)parts) * 2;
    int chunk = min((int)rank * each, chunks), left = min(each, chunks - chunk);
    int first_row = blockIdx.y * NT * 8, rows = min(NT * 8, m - first_row);
    int tile = (int)(blockIdx.x / parts * WARPS + warp) * TILES, tiles = (n + 15) / 16;
    const uint4 *codes_at[TILES];
    const unsigned *scales_at[TILES];
#pragma unroll
    for (int t = 0; t < TILES; t++) { // tiles that are not there: the last one again
        int here = min(tile + t, tiles - 1);
        codes_at[t] = w + ((long long)here * chunks + chunk) * 32 + lane;
        scales_at[t] = scales + Tiles<GROUP>::scale_word(k, here * 16 + (int)lane / 4, chunk * 64);
    }
    loaded_unit<TILES, GROUP> ring[RING];
#pragma unroll
    for (int r = 0; r < RING; r++)
#pragma unroll
        for (int c = 0; c < 2; c++) {
            ring[r].load_codes(c, 2 * r, left, codes_at);
            ring[r].load_scales(c, 2 * r, left, scales_at);
        }
    x += (long long)first_row * k;
    int from = chunk * 64, until = from + (left + 1) / 2 * 128, phase = 0, now = 0;
    unsigned place = shared_address(shared), at = 0;
    X::copy(X::half(place, 0), x, rows, k, from, until);
    float sum[TILES][NT][4] = {}, part[TILES][NT][4] = {};
#pragma unroll 1
    while (left > 0) {
#pragma unroll
        for (int r = 0; r < RING; r++) {
            if (left <= 0)
                break;
            if (now == 0) { // this half has arrived; nobody reads the other one any more
                copy_async_wait(0);
                __syncthreads();
                at = X::half(place, phase) + X::lane_offset();
                from += X::COLUMNS;
                phase++;
                X::copy(X::half(place, phase), x, rows, k, from, until);
            }
            now = now + 1 == UNITS ? 0 : now + 1;
#pragma unroll
            for (int c = 0; c < 2; c++) {
                multiply_chunk<TILES, NT, GROUP, T>(sum, part, ring[r], c, at);
                ring[r].load_codes(c, 2 * RING, left, codes_at);
                ring[r].load_scales(c, 2 * RING, left, scales_at);
            }
            at += 256;
            left -= 2;
#pragma unroll
            for (int t = 0; t < TILES; t++) {
                codes_at[t] += 64;
                scales_at[t] += GROUP == 32 ? 32 : 8;
            }
        }
    }
    copy_async_wait(0);
    __syncthreads();
    finish<TILES, NT>((float *)shared, sum, y + (long long)first_row * n, rows, n, rank, parts);
}

#define ONE_KERNEL(name, TILES, NT, GROUP, T)                                                      \
    extern "C" __global__ void __launch_bounds__(BLOCK, 2)                                         \
        name(const T *x, const uint4 *w, const unsigned *scales, T *y, int m, int n, int k,        \
             unsigned parts)                                                                       \
    {                                                                                              \
        __shared__ __align__(16) unsigned char shared[2 * rows_of_x<NT>::BYTES];                   \
        multiply<TILES, NT, GROUP>(x, w, scales, y, m, n, k, parts, shared);                       \
    }
#define OF_TYPE(type)                                                                              \
    ONE_KERNEL(tiles32_##type##_8_rows, 1, 1, 32, type)                                            \
    ONE_KERNEL(tiles32_##type##_8_rows_wide, 2, 1, 32, type)                                       \
    ONE_KERNEL(tiles32_##type##_16_rows, 1, 2, 32, type)                                           \
    ONE_KERNEL(tiles32_##type##_16_rows_wide, 2, 2, 32, type)                                      \
    ONE_KERNEL(tiles128_##type##_8_rows, 1, 1, 128, type)                                          \
    ONE_KERNEL(tiles128_##type##_8_rows_wide, 2, 1, 128, type)                                     \
    ONE_KERNEL(tiles128_##type##_16_rows, 1, 2, 128, type)                                         \
    ONE_KERNEL(tiles128_##type##_16_rows_wide, 2, 2, 128, type)
OF_TYPE(bf16)
OF_TYPE(f16)
