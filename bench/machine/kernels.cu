// kernels.cu: the kernels that `make bench-machine` runs on the machine, compiled to PTX like those
// in kernels/. plain.c has the same algorithms for one CPU core.

extern "C" __global__ void nothing()
{
}

extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

// a, b, c: [n][n]
extern "C" __global__ void matmul_naive(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

#define TILE 16

extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int tile = 0; tile < n; tile += TILE) {
        as[ty][tx] = a[row * n + tile + tx];
        bs[ty][tx] = b[(tile + ty) * n + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// One partial sum a block: [gridDim.x]
extern "C" __global__ void reduction(const float *in, float *partial, int n)
{
    __shared__ float sums[32];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x)
        sum += in[i];
    for (int d = 16; d; d >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0)
        sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? sums[lane] : 0;
        for (int d = 16; d; d >>= 1)
            sum += __shfl_down_sync(0xffffffff, sum, d);
        if (lane == 0)
            partial[blockIdx.x] = sum;
    }
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, int n)
{
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], local[i]);
}

__device__ static unsigned shared_address(const void *p)
{
    unsigned long long at;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(at) : "l"(p));
    return (unsigned)at;
}

__device__ static void mma_m16n8k16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// a: [n][n] halves, b: [n][n] halves, c: [n][n]. 64 x 64 a block of 128 threads, 32 x 32 a warp.
extern "C" __global__ void gemm_mma(const unsigned short *a, const unsigned short *b, float *c,
                                    int n)
{
    __shared__ __align__(16) unsigned short as[64][40], bs[32][72];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    int row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
    int wr = (warp >> 1) * 32, wc = (warp & 1) * 32;
    float sums[2][4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 32) {
        for (int i = t; i < 64 * 4; i += 128) {
            const uint4 *from = (const uint4 *)&a[(row0 + i / 4) * n + k0 + i % 4 * 8];
            *(uint4 *)&as[i / 4][i % 4 * 8] = *from;
        }
        for (int i = t; i < 32 * 8; i += 128) {
            const uint4 *from = (const uint4 *)&b[(k0 + i / 8) * n + column0 + i % 8 * 8];
            *(uint4 *)&bs[i / 8][i % 8 * 8] = *from;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; k += 16) {
            unsigned fa[2][4], fb[4][2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                unsigned at = shared_address(&as[wr + i * 16 + lane % 16][k + lane / 16 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3])
                             : "r"(at));
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                unsigned at = shared_address(&bs[k + lane % 16][wc + j * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                             : "=r"(fb[j][0]), "=r"(fb[j][1])
                             : "r"(at));
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    mma_m16n8k16(sums[i][j], fa[i], fb[j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int r = row0 + wr + i * 16 + lane / 4 + (e >> 1) * 8;
                c[r * n + column0 + wc + j * 8 + lane % 4 * 2 + (e & 1)] = sums[i][j][e];
            }
}
