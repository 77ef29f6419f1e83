// tma_tile.cu: boxes of tensors of 1 to 5 dimensions are loaded with every swizzle, at ragged edges
// and outside, with element strides and both fills; a loop on the host says what must arrive where.
// flags: -std=c++17
#include "tma.cuh"

enum { SHARED = 40960 };

__global__ void load(const __grid_constant__ CUtensorMap map, int rank, Coordinates c,
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
        tma_load(box, &map, &barrier, rank, c);
    }
    barrier_wait(&barrier, 0);
    for (uint32_t i = threadIdx.x; i < SHARED; i += blockDim.x)
        out[i] = box[i];
}

static int failures;

static std::vector<uint8_t> expected(const Tensor &t, const std::vector<uint8_t> &global,
                                     Coordinates c)
{
    std::vector<uint8_t> shared(SHARED, 0xee);
    uint32_t row = 0;
    for (uint32_t e = 0; e < t.count(4); e++)
        for (uint32_t d = 0; d < t.count(3); d++)
            for (uint32_t h = 0; h < t.count(2); h++)
                for (uint32_t w = 0; w < t.count(1); w++, row++)
                    for (uint32_t x = 0; x < t.box[0]; x++) {
                        const uint32_t steps[5] = {x, w, h, d, e};
                        bool inside = true;
                        uint64_t from = 0;
                        for (uint32_t i = 0; i < t.rank; i++) {
                            int64_t at = c.at[i] + (int64_t)steps[i] * (i ? t.step[i] : 1);
                            inside = inside && at >= 0 && at < (int64_t)t.dim[i];
                            from += (uint64_t)at * t.stride[i];
                        }
                        for (uint32_t b = 0; b < t.bytes; b++) {
                            uint8_t fill = t.nan ? ((x * t.bytes + b) & 1 ? 0x7f : 0xf7) : 0;
                            shared[t.place(row, x * t.bytes + b)] =
                                inside ? global[from + b] : fill;
                        }
                    }
    return shared;
}

static void run(const char *name, Tensor t, Coordinates c)
{
    std::vector<uint8_t> global(t.size()), shared(SHARED);
    for (size_t i = 0; i < global.size(); i++)
        global[i] = (uint8_t)(i * 7 + i / 251);
    uint8_t *in, *out;
    CHECK(cudaMalloc(&in, global.size()));
    CHECK(cudaMalloc(&out, SHARED));
    CHECK(cudaMemcpy(in, global.data(), global.size(), cudaMemcpyHostToDevice));
    CUtensorMap map = t.encode(in);
    load<<<1, 128, SHARED>>>(map, t.rank, c, t.rows() * t.row_bytes(), out);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(shared.data(), out, SHARED, cudaMemcpyDeviceToHost));
    std::vector<uint8_t> right = expected(t, global, c);
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

static Tensor make(uint32_t rank, uint32_t bytes, CUtensorMapDataType type)
{
    static const uint64_t dims[5] = {72, 19, 7, 5, 3};
    static const uint32_t boxes[5] = {0, 6, 3, 2, 2};
    Tensor t;
    t.rank = rank;
    t.bytes = bytes;
    t.type = type;
    for (uint32_t i = 0; i < rank; i++) {
        t.dim[i] = dims[i];
        t.box[i] = i ? boxes[i] : 32 / bytes;
    }
    t.lay_out(16);
    return t;
}

int main()
{
    char name[80];
    // Every rank and swizzle, inside and over every edge.
    static const Coordinates places[] = {{{0, 0, 0, 0, 0}}, {{16, 3, 2, 1, 1}}, {{64, 17, 5, 4, 2}},
                                         {{-16, -2, -1, -1, -1}}, {{80, 4, 4, 4, 4}}};
    for (uint32_t rank = 1; rank <= 5; rank++)
        for (int swizzle = 0; swizzle <= 3; swizzle++)
            for (size_t place = 0; place < sizeof places / sizeof *places; place++) {
                Tensor t = make(rank, 2, CU_TENSOR_MAP_DATA_TYPE_UINT16);
                t.swizzle = swizzle;
                snprintf(name, sizeof name, "%ud swizzle %d place %zu", rank, swizzle, place);
                run(name, t, places[place]);
            }
    // Every width of a row under every swizzle: narrow rows take the whole pitch.
    for (int swizzle = 0; swizzle <= 3; swizzle++)
        for (uint32_t width = 8; width <= (swizzle ? 8u << swizzle : 128); width += 8) {
            Tensor t = make(2, 2, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
            t.swizzle = swizzle;
            t.box[0] = width;
            t.box[1] = 20;
            snprintf(name, sizeof name, "width %u swizzle %d", width, swizzle);
            run(name, t, {{8, -1}});
        }
    // Element strides.
    for (uint32_t step = 2; step <= 8; step++) {
        Tensor t = make(3, 4, CU_TENSOR_MAP_DATA_TYPE_INT32);
        t.step[1] = step;
        t.step[2] = step > 4 ? 2 : 1;
        t.box[1] = 13;
        snprintf(name, sizeof name, "step %u", step);
        run(name, t, {{4, -3, 1}});
    }
    // Every type, and the fill with NaN.
    static const struct {
        CUtensorMapDataType type;
        uint32_t bytes;
        const char *name;
    } types[] = {{CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, "u8"},
                 {CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, "u16"},
                 {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, "u32"},
                 {CU_TENSOR_MAP_DATA_TYPE_INT32, 4, "s32"},
                 {CU_TENSOR_MAP_DATA_TYPE_UINT64, 8, "u64"},
                 {CU_TENSOR_MAP_DATA_TYPE_INT64, 8, "s64"},
                 {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, "f16"},
                 {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, "f32"},
                 {CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, "f64"},
                 {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, "bf16"},
                 {CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, 4, "f32 ftz"}};
    for (auto &type : types) {
        Tensor t = make(2, type.bytes, type.type);
        t.dim[0] = 77; // the last piece of a row is ragged
        t.lay_out();
        t.nan = type.type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
        snprintf(name, sizeof name, "type %s", type.name);
        run(name, t, {{(int)(64 / type.bytes * type.bytes), 16}});
    }
    // A tile as a matrix product loads it.
    Tensor t;
    t.type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    t.dim[0] = 300;
    t.dim[1] = 200;
    t.box[0] = 64;
    t.box[1] = 128;
    t.swizzle = 3;
    t.lay_out(8);
    run("128x64 bf16", t, {{128, 64}});
    run("128x64 bf16 at the edge", t, {{256, 128}});
    printf("%d failures\n", failures);
    return failures != 0;
}
