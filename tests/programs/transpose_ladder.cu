// The transpose ladder: plain copy, naive, through shared memory, with padding against bank
// conflicts, with a swizzle, and diagonal block order; 32 x 32 tiles moved by 32 x 8 threads.

#include <cstdio>
#include <vector>

const int TILE = 32, ROWS = 8;

__global__ void copy(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            out[(y + j) * width + x] = in[(y + j) * width + x];
}

__global__ void naive(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            out[x * height + y + j] = in[(y + j) * width + x];
}

template <int PAD> __global__ void shared_tile(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void swizzled(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x];
}

__global__ void diagonal(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int flat = blockIdx.x + gridDim.x * blockIdx.y;
    int by = flat % gridDim.y, bx = (flat / gridDim.y + by) % gridDim.x;
    int x = bx * TILE + threadIdx.x, y = by * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = by * TILE + threadIdx.x;
    y = bx * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

typedef void (*transpose_kernel)(float *, const float *, int, int);

static void run(const char *name, transpose_kernel kernel, int width, int height, bool transposes)
{
    std::vector<float> in(width * height), out(width * height);
    for (int i = 0; i < width * height; i++)
        in[i] = (float)i;
    float *din, *dout;
    cudaMalloc(&din, in.size() * 4);
    cudaMalloc(&dout, in.size() * 4);
    cudaMemcpy(din, in.data(), in.size() * 4, cudaMemcpyHostToDevice);
    cudaMemset(dout, 0xff, in.size() * 4);
    dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE), block(TILE, ROWS);
    kernel<<<grid, block>>>(dout, din, width, height);
    cudaMemcpy(out.data(), dout, in.size() * 4, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            wrong += out[transposes ? x * height + y : y * width + x] != in[y * width + x];
    double weighted = 0;
    for (size_t i = 0; i < out.size(); i++)
        weighted += (double)out[i] * (double)(i % 1009);
    printf("%-10s %dx%d wrong %d weighted sum %.0f out[1]=%g %s\n", name, width, height, wrong,
           weighted, out[1], cudaGetErrorString(cudaGetLastError()));
    cudaFree(din);
    cudaFree(dout);
}

int main()
{
    const int sizes[][2] = {{256, 128}, {100, 75}, {1, 64}};
    for (auto &size : sizes) {
        run("copy", copy, size[0], size[1], false);
        run("naive", naive, size[0], size[1], true);
        run("shared", shared_tile<0>, size[0], size[1], true);
        run("padded", shared_tile<1>, size[0], size[1], true);
        run("swizzled", swizzled, size[0], size[1], true);
        run("diagonal", diagonal, size[0], size[1], true);
    }
    return 0;
}
