// 2D and 3D indexing: every thread writes who it is; pitched memory with cudaMemcpy2D both ways;
// a 3D grid of 3D blocks; cudaMalloc3D and cudaMemcpy3D; cudaMemset2D.

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(status));                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void who_2d(int *out, size_t pitch, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        int *row = (int *)((char *)out + y * pitch);
        row[x] = y * 1000 + x + 1000000 * blockIdx.y + 10000000 * blockIdx.x;
    }
}

__global__ void who_3d(unsigned *out, uint3 extent)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= extent.x || y >= extent.y || z >= extent.z)
        return;
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    out[(z * extent.y + y) * extent.x + x] =
        lane | threadIdx.x << 5 | threadIdx.y << 10 | threadIdx.z << 15 | blockIdx.z << 20;
}

__global__ void scale_3d(cudaPitchedPtr volume, cudaExtent extent, float factor)
{
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    char *slice = (char *)volume.ptr + z * volume.pitch * extent.height;
    float *row = (float *)(slice + y * volume.pitch);
    if (x < (int)(extent.width / sizeof(float)))
        row[x] = row[x] * factor + (float)(100 * z + y);
}

int main()
{
    const int width = 37, height = 21;
    int *pitched;
    size_t pitch;
    CHECK(cudaMallocPitch(&pitched, &pitch, width * sizeof(int), height));
    printf("pitch holds a row: %s, multiple of 128: %s\n",
           pitch >= width * sizeof(int) ? "yes" : "no", pitch % 128 == 0 ? "yes" : "no");
    CHECK(cudaMemset2D(pitched, pitch, 0xff, width * sizeof(int), height));
    dim3 threads(16, 8), blocks((width + 15) / 16, (height + 7) / 8);
    who_2d<<<blocks, threads>>>(pitched, pitch, width - 1, height);
    std::vector<int> image(width * height);
    CHECK(cudaMemcpy2D(image.data(), width * sizeof(int), pitched, pitch, width * sizeof(int),
                       height, cudaMemcpyDeviceToHost));
    long long sum = 0;
    for (int value : image)
        sum += value;
    printf("2d: %d %d %d %d last column %d sum %lld\n", image[0], image[5], image[17 * width + 20],
           image[20 * width + 35], image[20 * width + 36], sum);

    const uint3 extent = {10, 9, 7};
    unsigned *cube;
    CHECK(cudaMalloc(&cube, 10 * 9 * 7 * sizeof(unsigned)));
    who_3d<<<dim3(3, 3, 4), dim3(4, 3, 2)>>>(cube, extent);
    std::vector<unsigned> values(10 * 9 * 7);
    CHECK(cudaMemcpy(values.data(), cube, values.size() * 4, cudaMemcpyDeviceToHost));
    unsigned hash = 2166136261u;
    for (unsigned value : values)
        hash = (hash ^ value) * 16777619u;
    printf("3d: %x %x %x hash %08x\n", values[0], values[95], values[629], hash);

    cudaExtent box = make_cudaExtent(12 * sizeof(float), 5, 4);
    cudaPitchedPtr volume;
    CHECK(cudaMalloc3D(&volume, box));
    std::vector<float> host(12 * 5 * 4);
    for (size_t i = 0; i < host.size(); i++)
        host[i] = (float)i;
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host.data(), 12 * sizeof(float), 12, 5);
    copy.dstPtr = volume;
    copy.extent = box;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    scale_3d<<<dim3(5, 4), 32>>>(volume, box, 0.5f);
    copy.srcPtr = volume;
    copy.dstPtr = make_cudaPitchedPtr(host.data(), 12 * sizeof(float), 12, 5);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    int wrong = 0;
    for (int i = 0; i < 240; i++)
        wrong += host[i] != i * 0.5f + (float)(100 * (i / 60) + i / 12 % 5);
    printf("volume: %g %g %g wrong %d\n", host[0], host[61], host[239], wrong);
    CHECK(cudaFree(volume.ptr));
    CHECK(cudaFree(cube));
    CHECK(cudaFree(pitched));
    return 0;
}
