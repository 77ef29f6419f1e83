// tma_im2col.cu: pixels under a filter's elements, loaded with im2col tensor maps of 3 to 5
// dimensions: padding, strides, batches, swizzles; a convolution's own loops on the host say what
// must arrive.
// flags: -std=c++17
#include "tma.cuh"

enum { SHARED = 40960 };

struct Offsets {
    uint16_t of[3];
};

#define LOAD(rank, list, offsets, ...)                                                             \
    asm volatile("cp.async.bulk.tensor." rank                                                      \
                 ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {" list   \
                 "}], [%2], {" offsets "};" ::"r"(shared_address(box)),                            \
                 "l"(&map), "r"(shared_address(&barrier)), __VA_ARGS__                             \
                 : "memory")

__global__ void load(const __grid_constant__ CUtensorMap map, int rank, Coordinates c, Offsets o,
                     uint32_t bytes, uint8_t *out)
{
    extern __shared__ __align__(1024) uint8_t box[];
    __shared__ __align__(8) uint64_t barrier;
    for (uint32_t i = threadIdx.x; i < SHARED; i += blockDim.x)
        box[i] = 0xee;
    if (threadIdx.x == 0)
        barrier_init(&barrier, 1);
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        barrier_expect(&barrier, bytes);
        if (rank == 3)
            LOAD("3d", "%3, %4, %5", "%6", "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "h"(o.of[0]));
        else if (rank == 4)
            LOAD("4d", "%3, %4, %5, %6", "%7, %8", "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]),
                 "r"(c.at[3]), "h"(o.of[0]), "h"(o.of[1]));
        else
            LOAD("5d", "%3, %4, %5, %6, %7", "%8, %9, %10", "r"(c.at[0]), "r"(c.at[1]),
                 "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]), "h"(o.of[0]), "h"(o.of[1]),
                 "h"(o.of[2]));
    }
    barrier_wait(&barrier, 0);
    for (uint32_t i = threadIdx.x; i < SHARED; i += blockDim.x)
        out[i] = box[i];
}

// A convolution: pixels of the output are numbered along W, then H, then D, then N.
struct Convolution {
    int rank;                        // 3, 4, 5
    int channels, image[3], batches; // image: W, H, D
    int filter[3], pad[3], stride[3];
    int swizzle;

    int spatial() const { return rank - 2; }
    int size_out(int i) const { return (image[i] + 2 * pad[i] - filter[i]) / stride[i] + 1; }
};

static int failures;

static void run(const char *name, const Convolution &v, int first_pixel, int pixels, int channel,
                int channels, Offsets o)
{
    static auto encode = driver_function<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
    cuuint64_t dim[5] = {(cuuint64_t)v.channels}, stride[4], size = 2 * (cuuint64_t)v.channels;
    cuuint32_t step[5] = {1, 1, 1, 1, 1};
    int lower[3], upper[3], at[4] = {0};
    for (int i = 0; i < v.spatial(); i++) {
        dim[1 + i] = v.image[i];
        stride[i] = size;
        size *= v.image[i];
        step[1 + i] = v.stride[i];
        lower[i] = -v.pad[i];
        upper[i] = v.pad[i] - (v.filter[i] - 1);
    }
    dim[v.rank - 1] = v.batches;
    stride[v.rank - 2] = size;
    size *= v.batches;
    // The first pixel's place in the output.
    int rest = first_pixel;
    for (int i = 0; i < v.spatial(); i++) {
        at[i] = rest % v.size_out(i);
        rest /= v.size_out(i);
    }
    Coordinates c = {{channel, 0, 0, 0, 0}};
    for (int i = 0; i < v.spatial(); i++)
        c.at[1 + i] = at[i] * v.stride[i] - v.pad[i];
    c.at[v.rank - 1] = rest;

    std::vector<uint16_t> global(size / 2);
    for (size_t i = 0; i < global.size(); i++)
        global[i] = (uint16_t)(i * 31 + 7);
    uint8_t *in, *out;
    CHECK(cudaMalloc(&in, size));
    CHECK(cudaMalloc(&out, SHARED));
    CHECK(cudaMemcpy(in, global.data(), size, cudaMemcpyHostToDevice));
    alignas(64) CUtensorMap map;
    CUresult status =
        encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, v.rank, in, dim, stride, lower, upper, channels,
               pixels, step, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)v.swizzle,
               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status != CUDA_SUCCESS) {
        printf("%s: encoding fails with %d\n", name, status);
        failures++;
        return;
    }
    load<<<1, 128, SHARED>>>(map, v.rank, c, o, channels * pixels * 2, out);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::vector<uint8_t> shared(SHARED), right(SHARED, 0xee);
    CHECK(cudaMemcpy(shared.data(), out, SHARED, cudaMemcpyDeviceToHost));

    Tensor t; // for the layout in shared memory
    t.box[0] = channels;
    t.swizzle = v.swizzle;
    for (int pixel = 0; pixel < pixels; pixel++) {
        int number = first_pixel + pixel, where[3] = {0};
        bool inside = true;
        for (int i = 0; i < v.spatial(); i++) {
            where[i] = number % v.size_out(i) * v.stride[i] - v.pad[i] + o.of[i];
            number /= v.size_out(i);
            inside = inside && where[i] >= 0 && where[i] < v.image[i];
        }
        inside = inside && number < v.batches;
        size_t element = number;
        for (int i = v.spatial(); i-- > 0;)
            element = element * v.image[i] + where[i];
        for (int k = 0; k < channels; k++) {
            uint16_t value =
                inside && channel + k < v.channels ? global[element * v.channels + channel + k] : 0;
            memcpy(&right[t.place(pixel, 2 * k)], &value, 2);
        }
    }
    size_t wrong = 0, first = 0;
    for (size_t i = SHARED; i-- > 0;)
        if (shared[i] != right[i])
            wrong++, first = i;
    if (wrong)
        printf("%s: %zu bytes differ, the first at %zu: %02x for %02x\n", name, wrong, first,
               shared[first], right[first]);
    else
        printf("%s: ok\n", name);
    failures += wrong > 0;
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
}

int main()
{
    static const struct {
        const char *name;
        Convolution v;
    } cases[] = {
        {"1D, filter 3", {3, 32, {21, 1, 1}, 3, {3, 1, 1}, {1, 0, 0}, {1, 1, 1}, 0}},
        {"1D, stride 2", {3, 32, {20, 1, 1}, 2, {4, 1, 1}, {1, 0, 0}, {2, 1, 1}, 2}},
        {"2D, 3x3 padded", {4, 64, {9, 7, 1}, 3, {3, 3, 1}, {1, 1, 0}, {1, 1, 1}, 3}},
        {"2D, 3x3 unpadded", {4, 64, {9, 7, 1}, 3, {3, 3, 1}, {0, 0, 0}, {1, 1, 1}, 0}},
        {"2D, 5x3 stride 2", {4, 48, {12, 11, 1}, 2, {5, 3, 1}, {2, 1, 0}, {2, 2, 1}, 1}},
        {"2D, 1x1", {4, 24, {5, 6, 1}, 4, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, 0}},
        {"3D, 3x3x3", {5, 16, {6, 5, 4}, 2, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, 1}},
        {"3D, stride 2", {5, 16, {7, 6, 5}, 2, {2, 2, 2}, {0, 1, 0}, {2, 1, 2}, 0}},
    };
    char name[80];
    for (auto &c : cases) {
        int channels = c.v.swizzle ? 8 << c.v.swizzle : 16;
        channels = channels < c.v.channels ? channels : c.v.channels / 8 * 8;
        for (int corner = 0; corner < 2; corner++) {
            Offsets o = {{0, 0, 0}};
            for (int i = 0; i < c.v.spatial(); i++)
                o.of[i] = corner ? c.v.filter[i] - 1 : c.v.filter[i] / 2;
            for (int first = 0; first <= 37; first += 37) {
                snprintf(name, sizeof name, "%s, filter element %d, from pixel %d", c.name, corner,
                         first);
                run(name, c.v, first, 64, c.v.channels - channels, channels, o);
            }
        }
    }
    printf("%d failures\n", failures);
    return failures != 0;
}
