/*
 * unseen_kernels.cu: kernels that no constant of the time model was fitted to, of the kinds that it
 * was once wrong about: loops whose loads the compiler moves ahead and batches, stencils in three
 * dimensions, rows of DRAM at strides and in random order, products on tensor cores through plain
 * loads. timing.h says how it is run.
 */
#include "timing.h"

#include <mma.h>

enum { N = 1 << 24 }; /* floats: 64 MiB */

/* Sums -------------------------------------------------------------------------------------------*/

__global__ void sum_down(const float *a, float *sums, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (x < columns)
        for (int y = 0; y < rows; y++)
            sum += a[(size_t)y * columns + x];
    if (x < columns)
        sums[x] = sum;
}

__global__ void largest_down(const int *a, int *most, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, best = a[x];
#pragma unroll 8
    for (int y = 1; y < rows; y++)
        best = max(best, a[(size_t)y * columns + x]);
    most[x] = best;
}

__global__ void mean_and_spread(const float *a, float *out, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0, squares = 0;
    for (int y = 0; y < rows; y++) {
        float v = a[(size_t)y * columns + x];
        sum += v;
        squares += v * v;
    }
    out[x] = sum / rows;
    out[columns + x] = squares / rows;
}

__global__ void weighted_down(const float *a, const float *w, float *sums, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int y = 0; y < rows; y++)
        sum += w[y] * a[(size_t)y * columns + x];
    sums[x] = sum;
}

__global__ void first_above(const float *a, int *found, int rows, int columns) /* ends by its data */
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = 0;
    while (y < rows && a[(size_t)y * columns + x] < 1e30f)
        y++;
    found[x] = y;
}

__global__ void grid_stride_sum(const float *a, float *out, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += a[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void two_vectors(const float *a, const float *b, float *out, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += a[i] * b[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Stencils in three dimensions ---------------------------------------------------------------------*/

__global__ void heat(const float *a, float *b, int nx, int ny, int nz, float k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    size_t row = nx, plane = (size_t)nx * ny, i = z * plane + y * row + x;
    b[i] = a[i] + k * (a[i - 1] + a[i + 1] + a[i - row] + a[i + row] + a[i - plane] + a[i + plane] - 6 * a[i]);
}

__global__ void heat_marching(const float *a, float *b, int nx, int ny, int nz, float k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1)
        return;
    size_t row = nx, plane = (size_t)nx * ny, i = plane + y * row + x;
    float below = a[i - plane], here = a[i];
    for (int z = 1; z < nz - 1; z++, i += plane) {
        float above = a[i + plane];
        b[i] = here + k * (a[i - 1] + a[i + 1] + a[i - row] + a[i + row] + below + above - 6 * here);
        below = here;
        here = above;
    }
}

__global__ void heat_tile(const float *a, float *b, int nx, int ny, int nz, float k)
{
    __shared__ float tile[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    size_t row = nx, plane = (size_t)nx * ny, i = plane + y * row + x;
    bool inside = x >= 1 && y >= 1 && x < nx - 1 && y < ny - 1;
    float below = a[i - plane], here = a[i];
    for (int z = 1; z < nz - 1; z++, i += plane) {
        float above = a[i + plane];
        tile[ty][tx] = here;
        if (threadIdx.x == 0 && x > 0)
            tile[ty][0] = a[i - 1];
        if (threadIdx.x == 31 && x < nx - 1)
            tile[ty][33] = a[i + 1];
        if (threadIdx.y == 0 && y > 0)
            tile[0][tx] = a[i - row];
        if (threadIdx.y == 7 && y < ny - 1)
            tile[9][tx] = a[i + row];
        __syncthreads();
        if (inside)
            b[i] = here + k * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] +
                               below + above - 6 * here);
        __syncthreads();
        below = here;
        here = above;
    }
}

__global__ void blur_27(const float *a, float *b, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    float sum = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                sum += a[((size_t)(z + dz) * ny + y + dy) * nx + x + dx];
    b[((size_t)z * ny + y) * nx + x] = sum * (1.0f / 27);
}

__global__ void wave_25(const float *a, const float *before, float *b, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 4 || y < 4 || z < 4 || x >= nx - 4 || y >= ny - 4 || z >= nz - 4)
        return;
    size_t row = nx, plane = (size_t)nx * ny, i = z * plane + y * row + x;
    float sum = -2.5f * a[i];
#pragma unroll
    for (int r = 1; r <= 4; r++)
        sum += (a[i - r] + a[i + r] + a[i - r * row] + a[i + r * row] + a[i - r * plane] + a[i + r * plane]) / r;
    b[i] = 2 * a[i] - before[i] + 0.1f * sum;
}

/* Rows of DRAM -----------------------------------------------------------------------------------*/

/* `width` floats of each row, rows `pitch` floats apart; a thread copies one float. */
__global__ void copy_rows(const float *a, float *b, int rows, int width, int pitch)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / width;
    if (row < rows)
        b[i] = a[(size_t)row * pitch + i % width];
}

__global__ void copy_random_rows(const float *a, const int *index, float *b, int rows, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / width;
    if (row < rows)
        b[i] = a[(size_t)index[row] * width + i % width];
}

__global__ void write_random_rows(const float *a, const int *index, float *b, int rows, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / width;
    if (row < rows)
        b[(size_t)index[row] * width + i % width] = a[i];
}

__global__ void sum_random_rows(const float *a, const int *index, float *b, int each, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, bag = i / width;
    float sum = 0;
    for (int k = 0; k < each; k++)
        sum += a[(size_t)index[bag * each + k] * width + i % width];
    b[i] = sum;
}

/* Tensor cores through plain loads ----------------------------------------------------------------*/

using namespace nvcuda;

__global__ void wmma_straight(const half *a, const half *b, float *c, int n) /* a warp: 32 x 32 */
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, tiles = n / 32;
    int row = warp / tiles * 32, column = warp % tiles * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
    for (int i = 0; i < 4; i++)
        wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
        for (int i = 0; i < 2; i++) {
            wmma::load_matrix_sync(fa[i], a + (size_t)(row + 16 * i) * n + k, n);
            wmma::load_matrix_sync(fb[i], b + (size_t)k * n + column + 16 * i, n);
        }
        for (int i = 0; i < 4; i++)
            wmma::mma_sync(sums[i / 2][i % 2], fa[i / 2], fb[i % 2], sums[i / 2][i % 2]);
    }
    for (int i = 0; i < 4; i++)
        wmma::store_matrix_sync(c + (size_t)(row + i / 2 * 16) * n + column + i % 2 * 16, sums[i / 2][i % 2], n,
                                wmma::mem_row_major);
}

__global__ void __launch_bounds__(128) wmma_shared(const half *a, const half *b, float *c, int n)
{
    __shared__ half as[64][40], bs[32][72]; /* a block: 64 x 64, a warp: 32 x 32 */
    int warp = threadIdx.x / 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
    int wr = warp / 2 * 32, wc = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
    for (int i = 0; i < 4; i++)
        wmma::fill_fragment(sums[i / 2][i % 2], 0.0f);
    for (int k = 0; k < n; k += 32) {
        for (int i = threadIdx.x; i < 256; i += 128) {
            *(uint4 *)&as[i / 4][i % 4 * 8] = *(const uint4 *)&a[(size_t)(row + i / 4) * n + k + i % 4 * 8];
            *(uint4 *)&bs[i / 8][i % 8 * 8] = *(const uint4 *)&b[(size_t)(k + i / 8) * n + column + i % 8 * 8];
        }
        __syncthreads();
        for (int s = 0; s < 32; s += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(fa[i], &as[wr + 16 * i][s], 40);
                wmma::load_matrix_sync(fb[i], &bs[s][wc + 16 * i], 72);
            }
            for (int i = 0; i < 4; i++)
                wmma::mma_sync(sums[i / 2][i % 2], fa[i / 2], fb[i % 2], sums[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        wmma::store_matrix_sync(c + (size_t)(row + wr + i / 2 * 16) * n + column + wc + i % 2 * 16,
                                sums[i / 2][i % 2], n, wmma::mem_row_major);
}

__global__ void shuffled(int *a, int n, int mask) /* numbers below mask + 1, in no order */
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = (int)((i * 2654435761u ^ i * 40503u >> 3) >> 4) & mask;
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    float *a = memory<float>(N), *b = memory<float>(N), *c = memory<float>(N);
    int *index = memory<int>(1 << 20);
    dim3 wide(32, 8), cube(32, 4, 2), flat(64, 2, 2), small(8, 8, 8);
    LAUNCH("sum_down_4096", (sum_down<<<16, 256>>>(a, b, 4096, 4096)));
    LAUNCH("sum_down_64k", (sum_down<<<512, 128>>>(a, b, 256, 65536)));
    LAUNCH("sum_down_1000", (sum_down<<<8, 128>>>(a, b, 5000, 1000)));
    LAUNCH("sum_down_16k", (sum_down<<<64, 256>>>(a, b, 1024, 16384)));
    LAUNCH("largest_down", (largest_down<<<32, 256>>>((int *)a, (int *)b, 2048, 8192)));
    LAUNCH("mean_and_spread", (mean_and_spread<<<128, 128>>>(a, b, 1024, 16384)));
    LAUNCH("weighted_down", (weighted_down<<<64, 128>>>(a, c, b, 2048, 8192)));
    LAUNCH("first_above", (first_above<<<128, 256>>>(a, (int *)b, 512, 32768)));
    LAUNCH("grid_stride_sum_132", (grid_stride_sum<<<132, 256>>>(a, b, N)));
    LAUNCH("grid_stride_sum_1056", (grid_stride_sum<<<1056, 256>>>(a, b, N)));
    LAUNCH("two_vectors", (two_vectors<<<528, 256>>>(a, c, b, N)));
    LAUNCH("heat_256", (heat<<<dim3(8, 64, 128), cube>>>(a, b, 256, 256, 256, 0.1f)));
    LAUNCH("heat_256_flat", (heat<<<dim3(4, 128, 128), flat>>>(a, b, 256, 256, 256, 0.1f)));
    LAUNCH("heat_256_small", (heat<<<dim3(32, 32, 32), small>>>(a, b, 256, 256, 256, 0.1f)));
    LAUNCH("heat_200", (heat<<<dim3(7, 50, 100), cube>>>(a, b, 200, 200, 200, 0.1f)));
    LAUNCH("heat_marching", (heat_marching<<<dim3(8, 32), wide>>>(a, b, 256, 256, 256, 0.1f)));
    LAUNCH("heat_tile", (heat_tile<<<dim3(8, 32), wide>>>(a, b, 256, 256, 256, 0.1f)));
    LAUNCH("blur_27_256", (blur_27<<<dim3(8, 64, 128), cube>>>(a, b, 256, 256, 256)));
    LAUNCH("blur_27_small", (blur_27<<<dim3(32, 32, 32), small>>>(a, b, 256, 256, 256)));
    LAUNCH("wave_25", (wave_25<<<dim3(8, 64, 128), cube>>>(a, c, b, 256, 256, 256)));
    LAUNCH("rows_8_of_64", (copy_rows<<<8192, 256>>>(a, b, 262144, 8, 64)));
    LAUNCH("rows_16_of_64", (copy_rows<<<16384, 256>>>(a, b, 262144, 16, 64)));
    LAUNCH("rows_32_of_128", (copy_rows<<<16384, 256>>>(a, b, 131072, 32, 128)));
    LAUNCH("rows_64_of_1024", (copy_rows<<<4096, 256>>>(a, b, 16384, 64, 1024)));
    LAUNCH("rows_8_of_512", (copy_rows<<<1024, 256>>>(a, b, 32768, 8, 512)));
    for (int width = 8; width <= 512; width *= 4) {
        char label[40];
        int most = N / width, rows = 4194304 / width;
        shuffled<<<4096, 256>>>(index, 1 << 20, most - 1);
        check(cudaDeviceSynchronize(), "shuffled");
        if (!timing)
            printf("shuffled_%d\n", width);
        snprintf(label, sizeof(label), "random_rows_%d", width);
        LAUNCH(label, (copy_random_rows<<<16384, 256>>>(a, index, b, rows, width)));
        snprintf(label, sizeof(label), "write_random_rows_%d", width);
        LAUNCH(label, (write_random_rows<<<16384, 256>>>(a, index, b, rows, width)));
        snprintf(label, sizeof(label), "sum_random_rows_%d", width);
        LAUNCH(label, (sum_random_rows<<<1024, 256>>>(a, index, b, 16, width)));
    }
    LAUNCH("wmma_straight_512", (wmma_straight<<<64, 128>>>((half *)a, (half *)b, c, 512)));
    LAUNCH("wmma_straight_1024", (wmma_straight<<<256, 128>>>((half *)a, (half *)b, c, 1024)));
    LAUNCH("wmma_shared_1024", (wmma_shared<<<dim3(16, 16), 128>>>((half *)a, (half *)b, c, 1024)));
    LAUNCH("wmma_shared_512", (wmma_shared<<<dim3(8, 8), 128>>>((half *)a, (half *)b, c, 512)));
    check(cudaDeviceSynchronize(), "end");
    return 0;
}
