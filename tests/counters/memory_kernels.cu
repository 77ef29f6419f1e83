/*
 * memory_kernels.cu: kernels that are about memory: sums along rows and columns, stencils, strides,
 * random reads and writes, pointer chases, narrow and wide elements. For comparing modelled time
 * with a GPU's; timing.h says how to run it.
 */
#include "timing.h"

enum { N = 1 << 24, SIDE = 4096, CUBE = 192 };

/* Sums along rows and columns --------------------------------------------------------------------- */
__global__ void column_sum(const float *a, float *sums, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int y = 0; y < rows; y++)
        sum += a[(size_t)y * columns + x];
    sums[x] = sum;
}
__global__ void column_sum_parts(const float *a, float *sums, int columns, int part)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * part;
    float sum = 0;
    for (int y = first; y < first + part; y++)
        sum += a[(size_t)y * columns + x];
    atomicAdd(&sums[x], sum);
}
__global__ void column_sum_tile(const float *a, float *sums, int rows, int columns)
{
    __shared__ float part[8][33];
    int x = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int y = threadIdx.y; y < rows; y += 8)
        sum += a[(size_t)y * columns + x];
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int k = 1; k < 8; k++)
            sum += part[k][threadIdx.x];
        sums[x] = sum;
    }
}
__global__ void column_sum_double(const double *a, double *sums, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    for (int y = 0; y < rows; y++)
        sum += a[(size_t)y * columns + x];
    sums[x] = sum;
}
__global__ void row_sum_thread(const float *a, float *sums, int columns)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int x = 0; x < columns; x++)
        sum += a[(size_t)y * columns + x];
    sums[y] = sum;
}
__global__ void row_sum_warp(const float *a, float *sums, int columns)
{
    int y = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int x = lane; x < columns; x += 32)
        sum += a[(size_t)y * columns + x];
    for (int step = 16; step; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step);
    if (lane == 0)
        sums[y] = sum;
}
__global__ void row_sum_vector(const float4 *a, float *sums, int columns)
{
    __shared__ float part[8];
    float sum = 0;
    for (int x = threadIdx.x; x < columns; x += blockDim.x) {
        float4 v = a[(size_t)blockIdx.x * columns + x];
        sum += v.x + v.y + v.z + v.w;
    }
    for (int step = 16; step; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 8; i++)
            sum += part[i];
        sums[blockIdx.x] = sum;
    }
}
__global__ void dot_atomic(const float *a, const float *b, float *out, int n)
{
    __shared__ float part[256];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += a[i] * b[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 128; step; step /= 2) {
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(out, part[0]);
}
__global__ void gemv_row(const float *a, const float *x, float *y, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[(size_t)row * n + k] * x[k];
    y[row] = sum;
}
__global__ void gemv_warp(const float *a, const float *x, float *y, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = lane; k < n; k += 32)
        sum += a[(size_t)row * n + k] * x[k];
    for (int step = 16; step; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0)
        y[row] = sum;
}

/* Stencils ----------------------------------------------------------------------------------------- */
__global__ void stencil_1d(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 3 && i < n - 3)
        b[i] = a[i] + 0.5f * (a[i - 1] + a[i + 1]) + 0.25f * (a[i - 2] + a[i + 2]) +
               0.125f * (a[i - 3] + a[i + 3]);
}
template <typename T> __global__ void stencil_9(const T *a, T *b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    T sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += a[(y + dy) * n + x + dx];
    b[y * n + x] = sum * (T)0.111;
}
__global__ void stencil_cross(const float *a, float *b, int n) /* four in each direction */
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 4 || y < 4 || x >= n - 4 || y >= n - 4)
        return;
    float sum = a[y * n + x];
    for (int d = 1; d <= 4; d++)
        sum += 0.1f * (a[y * n + x - d] + a[y * n + x + d] + a[(y - d) * n + x] + a[(y + d) * n + x]);
    b[y * n + x] = sum;
}
__global__ void stencil_tile(const float *a, float *b, int n)
{
    __shared__ float tile[18][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    tile[ty][tx] = a[y * n + x];
    if (threadIdx.x == 0 && x > 0)
        tile[ty][0] = a[y * n + x - 1];
    if (threadIdx.x == 31 && x < n - 1)
        tile[ty][33] = a[y * n + x + 1];
    if (threadIdx.y == 0 && y > 0)
        tile[0][tx] = a[(y - 1) * n + x];
    if (threadIdx.y == 15 && y < n - 1)
        tile[17][tx] = a[(y + 1) * n + x];
    __syncthreads();
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        b[y * n + x] = 0.25f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}
__global__ void stencil_7(const float *a, float *b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1)
        return;
    int i = (z * n + y) * n + x;
    b[i] = 0.4f * a[i] + 0.1f * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + a[i - n * n] + a[i + n * n]);
}
__global__ void stencil_7_columns(const float *a, float *b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    int i = y * n + x;
    float below = a[i], here = a[i + n * n];
    for (int z = 1; z < n - 1; z++) {
        i += n * n;
        float above = a[i + n * n];
        b[i] = 0.4f * here + 0.1f * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + below + above);
        below = here;
        here = above;
    }
}
__global__ void stencil_27(const float *a, float *b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1)
        return;
    float sum = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                sum += a[((z + dz) * n + y + dy) * n + x + dx];
    b[(z * n + y) * n + x] = sum * 0.037f;
}

/* Strides ------------------------------------------------------------------------------------------ */
__global__ void read_stride(const float *a, float *b, int count, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        b[i] = a[(size_t)i * stride];
}
__global__ void write_stride(const float *a, float *b, int count, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        b[(size_t)i * stride] = a[i];
}
__global__ void read_columns(const float *a, float *b, int n) /* the lanes read down a column */
{
    int x = blockIdx.y * blockDim.y + threadIdx.y, y = blockIdx.x * blockDim.x + threadIdx.x;
    b[(size_t)x * n + y] = a[(size_t)y * n + x];
}
__global__ void scale_rows(float *a, int columns, float k) /* a thread has a row */
{
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    for (int x = 0; x < columns; x++)
        a[(size_t)y * columns + x] *= k;
}
struct particle {
    float x, y, z, vx, vy, vz, mass, charge;
};
__global__ void move_particles(particle *p, int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        p[i].x += dt * p[i].vx;
        p[i].y += dt * p[i].vy;
        p[i].z += dt * p[i].vz;
    }
}

/* Random rows and words ------------------------------------------------------------------------------ */
template <typename T> __global__ void gather_from(const T *a, const int *index, T *b, int n, int mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[index[i] & mask];
}
__global__ void scatter_to(const float *a, const int *index, float *b, int n, int mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[index[i] & mask] = a[i];
}
__global__ void gather_sum(const float *a, const int *index, float *b, int n, int each)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < each; k++)
        sum += a[index[k * n + i]];
    b[i] = sum;
}
__global__ void gather_rows(const float *a, const int *index, float *b, int width, int mask)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float *from = a + (size_t)(index[row] & mask) * width;
    for (int x = lane; x < width; x += 32)
        b[(size_t)row * width + x] = from[x];
}
__global__ void count_random(unsigned *bins, const int *index, int n, int mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[index[i] & mask], 1u);
}
__global__ void add_random(float *bins, const int *index, int n, int mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[index[i] & mask], 1.0f);
}
__global__ void spmv_thread(const int *index, const float *values, const float *x, float *y, int each)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = row * each; k < (row + 1) * each; k++)
        sum += values[k] * x[index[k] & 0xfffff];
    y[row] = sum;
}
__global__ void spmv_warp(const int *index, const float *values, const float *x, float *y, int each)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = row * each + lane; k < (row + 1) * each; k += 32)
        sum += values[k] * x[index[k] & 0xfffff];
    for (int step = 16; step; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step);
    if (lane == 0)
        y[row] = sum;
}
__global__ void search(const int *sorted, const int *wanted, int *found, int n, int bits)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, low = 0, value = wanted[i];
    for (int step = 1 << (bits - 1); step; step /= 2)
        if (sorted[low + step - 1] < value)
            low += step;
    if (i < n)
        found[i] = low;
}
__global__ void chase_one(const int *next, int *out, int steps, int mask)
{
    int at = blockIdx.x * 977;
    for (int i = 0; i < steps; i++)
        at = next[at & mask];
    out[blockIdx.x] = at;
}
__global__ void chase_warps(const int *next, int *out, int steps, int mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i;
    for (int k = 0; k < steps; k++)
        at = next[at & mask];
    out[i] = at;
}

/* Widths, directions, many arrays ------------------------------------------------------------------ */
template <typename T> __global__ void copy_of(const T *a, T *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i];
}
__global__ void reverse(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[n - 1 - i] = a[i];
}
__global__ void triad(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + 3.0f * b[i];
}
__global__ void sum_of_six(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i] + a[n + i] + a[2 * n + i] + a[3 * n + i] + a[4 * n + i] + a[5 * n + i];
}
__global__ void read_only(const float4 *a, float *out, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 v = a[i];
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 12345.0f)
        out[0] = sum;
}
__global__ void write_only(float4 *a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        a[i] = make_float4(1, 2, 3, 4);
}
__global__ void transpose_16(const float *a, float *b, int n)
{
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = a[y * n + x];
    __syncthreads();
    b[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

/* Launches ----------------------------------------------------------------------------------------- */
__global__ void fill_random(int *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = (unsigned)i * 2654435761u + 12345u;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    if (i < n)
        a[i] = (int)((x ^ x >> 16) & (N - 1));
}
__global__ void fill_sorted(int *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = 16 * i;
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    float *a = memory<float>(2 * N), *b = memory<float>(2 * N);
    int *index = memory<int>(N), *sorted = memory<int>(1 << 20);
    LAUNCH("fill_random", (fill_random<<<N / 256, 256>>>(index, N)));
    LAUNCH("fill_sorted", (fill_sorted<<<4096, 256>>>(sorted, 1 << 20)));
    LAUNCH("column_sum_4096", (column_sum<<<16, 256>>>(a, b, SIDE, SIDE)));
    LAUNCH("column_sum_wide", (column_sum<<<512, 256>>>(a, b, 128, 1 << 17)));
    LAUNCH("column_sum_narrow", (column_sum<<<4, 64>>>(a, b, 8192, 256)));
    LAUNCH("column_sum_middle", (column_sum<<<128, 128>>>(a, b, 1024, 16384)));
    LAUNCH("column_sum_parts", (column_sum_parts<<<dim3(16, 64), 256>>>(a, b, SIDE, 64)));
    LAUNCH("column_sum_tile", (column_sum_tile<<<128, dim3(32, 8)>>>(a, b, SIDE, SIDE)));
    LAUNCH("column_sum_double", (column_sum_double<<<32, 128>>>((double *)a, (double *)b, 2048, 4096)));
    LAUNCH("row_sum_thread", (row_sum_thread<<<64, 256>>>(a, b, 1024)));
    LAUNCH("row_sum_thread_short", (row_sum_thread<<<1024, 256>>>(a, b, 64)));
    LAUNCH("row_sum_warp", (row_sum_warp<<<512, 256>>>(a, b, SIDE)));
    LAUNCH("row_sum_warp_short", (row_sum_warp<<<16384, 256>>>(a, b, 128)));
    LAUNCH("row_sum_vector", (row_sum_vector<<<4096, 256>>>((float4 *)a, b, 1024)));
    LAUNCH("dot_atomic", (dot_atomic<<<1056, 256>>>(a, b, b + N, N)));
    LAUNCH("dot_atomic_small", (dot_atomic<<<128, 256>>>(a, b, b + N, 1 << 18)));
    LAUNCH("gemv_row", (gemv_row<<<32, 128>>>(a, b, b + N, SIDE)));
    LAUNCH("gemv_warp", (gemv_warp<<<512, 256>>>(a, b, b + N, SIDE)));
    dim3 wide(32, 8), square(16, 16), flat(64, 4), plane(SIDE / 32, SIDE / 8);
    LAUNCH("stencil_1d", (stencil_1d<<<N / 256, 256>>>(a, b, N)));
    LAUNCH("stencil_9", (stencil_9<float><<<plane, wide>>>(a, b, SIDE)));
    LAUNCH("stencil_9_square", (stencil_9<float><<<dim3(SIDE / 16, SIDE / 16), square>>>(a, b, SIDE)));
    LAUNCH("stencil_9_double",
           (stencil_9<double><<<dim3(64, 256), wide>>>((double *)a, (double *)b, 2048)));
    LAUNCH("stencil_9_small", (stencil_9<float><<<dim3(16, 64), wide>>>(a, b, 512)));
    LAUNCH("stencil_cross", (stencil_cross<<<plane, wide>>>(a, b, SIDE)));
    LAUNCH("stencil_tile", (stencil_tile<<<dim3(SIDE / 32, SIDE / 16), dim3(32, 16)>>>(a, b, SIDE)));
    dim3 cube(CUBE / 32, CUBE / 8, CUBE);
    LAUNCH("stencil_7", (stencil_7<<<cube, wide>>>(a, b, CUBE)));
    LAUNCH("stencil_7_flat", (stencil_7<<<dim3(CUBE / 64, CUBE / 4, CUBE), flat>>>(a, b, CUBE)));
    LAUNCH("stencil_7_columns", (stencil_7_columns<<<dim3(8, 32), wide>>>(a, b, 256)));
    LAUNCH("stencil_27", (stencil_27<<<cube, wide>>>(a, b, CUBE)));
    LAUNCH("read_stride_4", (read_stride<<<N / 4 / 256, 256>>>(a, b, N / 4, 4)));
    LAUNCH("read_stride_8", (read_stride<<<N / 4 / 256, 256>>>(a, b, N / 4, 8)));
    LAUNCH("read_stride_16", (read_stride<<<N / 8 / 256, 256>>>(a, b, N / 8, 16)));
    LAUNCH("read_stride_32", (read_stride<<<N / 16 / 256, 256>>>(a, b, N / 16, 32)));
    LAUNCH("read_stride_64", (read_stride<<<N / 32 / 256, 256>>>(a, b, N / 32, 64)));
    LAUNCH("read_stride_256", (read_stride<<<N / 128 / 256, 256>>>(a, b, N / 128, 256)));
    LAUNCH("read_stride_1024", (read_stride<<<N / 512 / 256, 256>>>(a, b, N / 512, 1024)));
    LAUNCH("write_stride_4", (write_stride<<<N / 4 / 256, 256>>>(a, b, N / 4, 4)));
    LAUNCH("write_stride_16", (write_stride<<<N / 8 / 256, 256>>>(a, b, N / 8, 16)));
    LAUNCH("write_stride_64", (write_stride<<<N / 32 / 256, 256>>>(a, b, N / 32, 64)));
    LAUNCH("read_columns", (read_columns<<<dim3(SIDE / 32, SIDE / 8), wide>>>(a, b, SIDE)));
    LAUNCH("read_columns_square", (read_columns<<<dim3(128, 128), square>>>(a, b, 2048)));
    LAUNCH("scale_rows", (scale_rows<<<64, 256>>>(a, 256, 1.5f)));
    LAUNCH("move_particles", (move_particles<<<N / 8 / 256, 256>>>((particle *)a, N / 8, 0.1f)));
    int few = N / 4;
    LAUNCH("gather_64m", (gather_from<float><<<few / 256, 256>>>(a, index, b, few, N - 1)));
    LAUNCH("gather_16m", (gather_from<float><<<few / 256, 256>>>(a, index, b, few, N / 4 - 1)));
    LAUNCH("gather_1m", (gather_from<float><<<few / 256, 256>>>(a, index, b, few, N / 64 - 1)));
    LAUNCH("gather_64k", (gather_from<float><<<few / 256, 256>>>(a, index, b, few, 16383)));
    LAUNCH("gather_double", (gather_from<double><<<few / 512, 256>>>((double *)a, index, (double *)b, few / 2, N - 1)));
    LAUNCH("gather_float4", (gather_from<float4><<<few / 1024, 256>>>((float4 *)a, index, (float4 *)b, few / 4, N / 2 - 1)));
    LAUNCH("gather_byte", (gather_from<char><<<few / 256, 256>>>((char *)a, index, (char *)b, few, N - 1)));
    LAUNCH("gather_sum", (gather_sum<<<256, 256>>>(a, index, b, 65536, 16)));
    LAUNCH("gather_rows_32", (gather_rows<<<8192, 256>>>(a, index, b, 32, (1 << 20) - 1)));
    LAUNCH("gather_rows_128", (gather_rows<<<4096, 256>>>(a, index, b, 128, (1 << 17) - 1)));
    LAUNCH("gather_rows_512", (gather_rows<<<1024, 256>>>(a, index, b, 512, (1 << 15) - 1)));
    LAUNCH("scatter_64m", (scatter_to<<<few / 256, 256>>>(a, index, b, few, N - 1)));
    LAUNCH("scatter_4m", (scatter_to<<<few / 256, 256>>>(a, index, b, few, N / 16 - 1)));
    LAUNCH("count_random_64m", (count_random<<<few / 256, 256>>>((unsigned *)b, index, few, N - 1)));
    LAUNCH("count_random_64k", (count_random<<<few / 256, 256>>>((unsigned *)b, index, few, 65535)));
    LAUNCH("count_random_1k", (count_random<<<few / 256, 256>>>((unsigned *)b, index, few, 1023)));
    LAUNCH("add_random_64m", (add_random<<<few / 256, 256>>>(b, index, few, N - 1)));
    LAUNCH("add_random_1k", (add_random<<<few / 256, 256>>>(b, index, few, 1023)));
    LAUNCH("spmv_thread", (spmv_thread<<<1024, 256>>>(index, a, b, b + N, 32)));
    LAUNCH("spmv_warp", (spmv_warp<<<16384, 256>>>(index, a, b, b + N, 64)));
    LAUNCH("search", (search<<<4096, 256>>>(sorted, index, (int *)b, 1 << 20, 20)));
    LAUNCH("chase_one", (chase_one<<<1, 1>>>(index, (int *)b, 1000, N - 1)));
    LAUNCH("chase_one_4m", (chase_one<<<1, 1>>>(index, (int *)b, 1000, (1 << 20) - 1)));
    LAUNCH("chase_many", (chase_one<<<132, 1>>>(index, (int *)b, 500, N - 1)));
    LAUNCH("chase_warps_4", (chase_warps<<<528, 32>>>(index, (int *)b, 128, N - 1)));
    LAUNCH("chase_warps_32", (chase_warps<<<528, 256>>>(index, (int *)b, 32, N - 1)));
    LAUNCH("chase_warps_1m", (chase_warps<<<528, 256>>>(index, (int *)b, 64, N / 64 - 1)));
    LAUNCH("copy_bytes", (copy_of<char><<<N / 256, 256>>>((char *)a, (char *)b, N)));
    LAUNCH("copy_shorts", (copy_of<short><<<N / 256, 256>>>((short *)a, (short *)b, N)));
    LAUNCH("copy_doubles", (copy_of<double><<<N / 2 / 256, 256>>>((double *)a, (double *)b, N / 2)));
    LAUNCH("copy_large", (copy_of<float4><<<N / 2 / 256, 256>>>((float4 *)a, (float4 *)b, N / 2)));
    LAUNCH("copy_64k", (copy_of<float><<<64, 256>>>(a, b, 1 << 14)));
    LAUNCH("copy_1m", (copy_of<float><<<1024, 256>>>(a, b, 1 << 18)));
    LAUNCH("copy_8m", (copy_of<float><<<8192, 256>>>(a, b, 1 << 21)));
    LAUNCH("reverse", (reverse<<<N / 256, 256>>>(a, b, N)));
    LAUNCH("triad", (triad<<<N / 256, 256>>>(a, a + N, b, N)));
    LAUNCH("triad_blocks_of_64", (triad<<<N / 64, 64>>>(a, a + N, b, N)));
    LAUNCH("triad_blocks_of_1024", (triad<<<N / 1024, 1024>>>(a, a + N, b, N)));
    LAUNCH("sum_of_six", (sum_of_six<<<N / 4 / 256, 256>>>(a, b, N / 4)));
    LAUNCH("read_only", (read_only<<<1056, 256>>>((float4 *)a, b, N / 2)));
    LAUNCH("write_only", (write_only<<<1056, 256>>>((float4 *)b, N / 2)));
    LAUNCH("transpose_16", (transpose_16<<<dim3(SIDE / 16, SIDE / 16), square>>>(a, b, SIDE)));
    check(cudaDeviceSynchronize(), "end");
    return 0;
}
