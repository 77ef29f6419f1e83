// Texture and surface objects that are destroyed right after the launch that uses them, as many
// programs do: what is under way keeps them. A host function holds the stream back until they are
// gone, so that the kernels certainly run later. Here also one that another object outlives, and
// one destroyed on its own while nothing runs.

#include <atomic>
#include <cstdio>
#include <thread>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess)                                                                  \
            printf("line %d: %s\n", __LINE__, cudaGetErrorName(error));                            \
    } while (0)

const int N = 1000, ROUNDS = 20;
static std::atomic<bool> gone;

static void wait_for_main(void *)
{
    while (!gone)
        std::this_thread::yield();
}

__global__ void add_texels(cudaTextureObject_t texture, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        out[i] += tex1Dfetch<float>(texture, i);
}

__global__ void fill_surface(cudaSurfaceObject_t surface, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        surf2Dwrite(value + i, surface, i * (int)sizeof(int), 0);
}

int main()
{
    float *values, *out;
    CHECK(cudaMallocManaged(&values, N * sizeof *values));
    CHECK(cudaMallocManaged(&out, N * sizeof *out));
    for (int i = 0; i < N; i++) {
        values[i] = (float)i;
        out[i] = 0;
    }
    cudaArray_t array;
    cudaChannelFormatDesc of_int = cudaCreateChannelDesc<int>();
    CHECK(cudaMallocArray(&array, &of_int, N, 1, cudaArraySurfaceLoadStore));
    cudaResourceDesc line = {}, plane = {};
    line.resType = cudaResourceTypeLinear;
    line.res.linear.devPtr = values;
    line.res.linear.desc = cudaCreateChannelDesc<float>();
    line.res.linear.sizeInBytes = N * sizeof *values;
    plane.resType = cudaResourceTypeArray;
    plane.res.array.array = array;
    cudaTextureDesc sampler = {};
    sampler.readMode = cudaReadModeElementType;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

    cudaTextureObject_t kept;
    CHECK(cudaCreateTextureObject(&kept, &line, &sampler, NULL));
    for (int round = 0; round < ROUNDS; round++) {
        gone = false;
        CHECK(cudaLaunchHostFunc(stream, wait_for_main, NULL));
        cudaTextureObject_t texture;
        cudaSurfaceObject_t surface;
        CHECK(cudaCreateTextureObject(&texture, &line, &sampler, NULL));
        CHECK(cudaCreateSurfaceObject(&surface, &plane));
        add_texels<<<(N + 127) / 128, 128, 0, stream>>>(texture, out);
        fill_surface<<<(N + 127) / 128, 128, 0, stream>>>(surface, round);
        CHECK(cudaDestroyTextureObject(texture));
        CHECK(cudaDestroySurfaceObject(surface));
        cudaResourceDesc described;
        if (cudaGetTextureObjectResourceDesc(&described, texture) == cudaSuccess)
            printf("the texture can still be asked for\n");
        (void)cudaGetLastError();
        gone = true;
        if (round % 3 == 0)
            CHECK(cudaStreamSynchronize(stream));
    }
    add_texels<<<(N + 127) / 128, 128, 0, stream>>>(kept, out);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaDestroyTextureObject(kept));

    int wrong = 0, row[N];
    for (int i = 0; i < N; i++)
        wrong += out[i] != (float)(i * (ROUNDS + 1));
    CHECK(
        cudaMemcpy2DFromArray(row, sizeof row, array, 0, 0, sizeof row, 1, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        wrong += row[i] != ROUNDS - 1 + i;
    printf("%d wrong, %s\n", wrong, cudaGetErrorName(cudaGetLastError()));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(values));
    CHECK(cudaFree(out));
    return 0;
}
