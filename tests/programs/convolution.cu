// Convolutions with the mask in constant memory: 1D with halo cells in shared memory, 1D reading
// the halo through the cache, 2D with output tiles, and a separable pass. Integer-valued data.

#include <cstdio>
#include <vector>

#define RADIUS 4
#define WIDTH (2 * RADIUS + 1)
#define TILE 128

__constant__ float mask_1d[WIDTH];
__constant__ float mask_2d[5][5];

__global__ void convolve_halo(const float *in, float *out, int n)
{
    __shared__ float s[TILE + 2 * RADIUS];
    int g = blockIdx.x * TILE + threadIdx.x, l = threadIdx.x + RADIUS;
    s[l] = g < n ? in[g] : 0;
    if (threadIdx.x < RADIUS) {
        int left = g - RADIUS, right = g + TILE;
        s[l - RADIUS] = left >= 0 ? in[left] : 0;
        s[l + TILE] = right < n ? in[right] : 0;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += s[l + k] * mask_1d[k + RADIUS];
    if (g < n)
        out[g] = sum;
}

__global__ void convolve_cached(const float *__restrict__ in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < WIDTH; k++) {
        int at = i - RADIUS + k;
        if (at >= 0 && at < n)
            sum += in[at] * mask_1d[k];
    }
    if (i < n)
        out[i] = sum;
}

__global__ void convolve_2d(const float *in, float *out, int width, int height)
{
    const int OUT = 12, IN = 16;
    __shared__ float s[IN][IN];
    int x = blockIdx.x * OUT + (int)threadIdx.x - 2, y = blockIdx.y * OUT + (int)threadIdx.y - 2;
    bool inside = x >= 0 && x < width && y >= 0 && y < height;
    s[threadIdx.y][threadIdx.x] = inside ? in[y * width + x] : 0.0f;
    __syncthreads();
    if (threadIdx.x >= 2 && threadIdx.x < 2 + OUT && threadIdx.y >= 2 && threadIdx.y < 2 + OUT &&
        inside) {
        float sum = 0;
        for (int dy = 0; dy < 5; dy++)
            for (int dx = 0; dx < 5; dx++)
                sum += s[threadIdx.y + dy - 2][threadIdx.x + dx - 2] * mask_2d[dy][dx];
        out[y * width + x] = sum;
    }
}

static float at(const std::vector<float> &v, int w, int h, int x, int y)
{
    return x < 0 || y < 0 || x >= w || y >= h ? 0.0f : v[y * w + x];
}

int main()
{
    float mask[WIDTH] = {1, -2, 3, 4, 5, 4, 3, -2, 1}, square[5][5];
    for (int i = 0; i < 25; i++)
        square[i / 5][i % 5] = (float)(i % 7 - 3);
    cudaMemcpyToSymbol(mask_1d, mask, sizeof mask);
    cudaMemcpyToSymbol(mask_2d, square, sizeof square);

    const int n = 5000;
    std::vector<float> in(n), out(n), ref(n, 0.0f);
    for (int i = 0; i < n; i++)
        in[i] = (float)(i * 31 % 23);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < WIDTH; k++)
            ref[i] += at(in, n, 1, i - RADIUS + k, 0) * mask[k];
    float *din, *dout;
    cudaMalloc(&din, n * 4);
    cudaMalloc(&dout, n * 4);
    cudaMemcpy(din, in.data(), n * 4, cudaMemcpyHostToDevice);
    for (int which = 0; which < 2; which++) {
        cudaMemset(dout, 0, n * 4);
        if (which == 0)
            convolve_halo<<<(n + TILE - 1) / TILE, TILE>>>(din, dout, n);
        else
            convolve_cached<<<(n + 255) / 256, 256>>>(din, dout, n);
        cudaMemcpy(out.data(), dout, n * 4, cudaMemcpyDeviceToHost);
        printf("1d %s: out[0]=%g out[127]=%g out[128]=%g out[n-1]=%g %s\n",
               which ? "cached" : "halo", out[0], out[127], out[128], out[n - 1],
               out == ref ? "right" : "WRONG");
    }

    const int w = 70, h = 50;
    std::vector<float> image(w * h), result(w * h), expected(w * h, 0.0f);
    for (int i = 0; i < w * h; i++)
        image[i] = (float)(i * i % 19);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int k = 0; k < 25; k++)
                expected[y * w + x] +=
                    at(image, w, h, x + k % 5 - 2, y + k / 5 - 2) * square[k / 5][k % 5];
    cudaMemcpy(din, image.data(), w * h * 4, cudaMemcpyHostToDevice);
    convolve_2d<<<dim3((w + 11) / 12, (h + 11) / 12), dim3(16, 16)>>>(din, dout, w, h);
    cudaMemcpy(result.data(), dout, w * h * 4, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < w * h; i++)
        sum += result[i] * (i % 5);
    printf("2d: out[0]=%g out[1234]=%g out[last]=%g checksum %.0f %s\n", result[0], result[1234],
           result[w * h - 1], sum, result == expected ? "right" : "WRONG");
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
