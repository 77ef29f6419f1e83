// tma_store.cu: boxes of shared memory are stored into tensors of 1 to 5 dimensions and added to them,
// with every swizzle and at ragged edges; a loop on the host says what must be there then. Stores
// clip by whole pieces of 16 bytes, so they write into the padding of a ragged row.
// flags: -std=c++17
#include "tma.cuh"

enum { SHARED = 32768 };

__global__ void store(const __grid_constant__ CUtensorMap map, int rank, Coordinates c, bool adds)
{
    extern __shared__ __align__(1024) uint8_t box[];
    for (uint32_t i = threadIdx.x; i < SHARED / 4; i += blockDim.x)
        ((uint32_t *)box)[i] = i * 2654435761u;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        if (adds)
            tma_add(&map, box, rank, c);
        else
            tma_store(&map, box, rank, c);
        bulk_commit();
        bulk_wait();
    }
}

static int failures;

static void expected(const Tensor &t, std::vector<uint8_t> &global, Coordinates c, bool adds)
{
    std::vector<uint8_t> shared(SHARED);
    for (uint32_t i = 0; i < SHARED / 4; i++) {
        uint32_t word = i * 2654435761u;
        memcpy(&shared[4 * i], &word, 4);
    }
    uint64_t limit = (t.dim[0] * t.bytes + 15) / 16 * 16; // bytes of a row that are stored
    uint32_t row = 0;
    for (uint32_t e = 0; e < t.count(4); e++)
        for (uint32_t d = 0; d < t.count(3); d++)
            for (uint32_t h = 0; h < t.count(2); h++)
                for (uint32_t w = 0; w < t.count(1); w++, row++)
                    for (uint32_t x = 0; x < t.box[0]; x++) {
                        const uint32_t steps[5] = {x, w, h, d, e};
                        bool inside = (c.at[0] + x) * t.bytes < limit;
                        uint64_t to = 0;
                        for (uint32_t i = 0; i < t.rank; i++) {
                            uint64_t at = c.at[i] + (uint64_t)steps[i] * (i ? t.step[i] : 1);
                            inside = inside && (i == 0 || at < t.dim[i]);
                            to += at * t.stride[i];
                        }
                        if (!inside)
                            continue;
                        uint64_t value = 0, old = 0;
                        memcpy(&value, &shared[t.place(row, x * t.bytes)], t.bytes);
                        memcpy(&old, &global[to], t.bytes);
                        value += adds ? old : 0;
                        memcpy(&global[to], &value, t.bytes);
                    }
}

static void run(const char *name, Tensor t, Coordinates c, bool adds)
{
    std::vector<uint8_t> global(t.size()), result(t.size());
    for (size_t i = 0; i < global.size(); i++)
        global[i] = (uint8_t)(i * 13 + 5);
    uint8_t *out;
    CHECK(cudaMalloc(&out, global.size()));
    CHECK(cudaMemcpy(out, global.data(), global.size(), cudaMemcpyHostToDevice));
    CUtensorMap map = t.encode(out);
    store<<<1, 128, SHARED>>>(map, t.rank, c, adds);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(result.data(), out, global.size(), cudaMemcpyDeviceToHost));
    expected(t, global, c, adds);
    size_t wrong = 0, first = 0;
    for (size_t i = global.size(); i-- > 0;)
        if (result[i] != global[i])
            wrong++, first = i;
    if (wrong)
        printf("%s: %zu bytes differ, the first at %zu: %02x for %02x\n", name, wrong, first,
               result[first], global[first]);
    else
        printf("%s: ok\n", name);
    failures += wrong > 0;
    CHECK(cudaFree(out));
}

int main()
{
    char name[80];
    static const uint64_t dims[5] = {74, 19, 7, 5, 3};
    static const uint32_t boxes[5] = {0, 6, 3, 2, 2};
    static const Coordinates places[] = {{{0, 0, 0, 0, 0}}, {{16, 3, 2, 1, 1}}, {{64, 17, 5, 4, 2}},
                                         {{80, 4, 4, 4, 4}}};
    for (uint32_t rank = 1; rank <= 5; rank++)
        for (int swizzle = 0; swizzle <= 3; swizzle++)
            for (int adds = 0; adds < 2; adds++)
                for (size_t place = 0; place < sizeof places / sizeof *places; place++) {
                    Tensor t;
                    t.rank = rank;
                    t.bytes = adds ? 4 : 2;
                    t.type = adds ? CU_TENSOR_MAP_DATA_TYPE_UINT32 : CU_TENSOR_MAP_DATA_TYPE_UINT16;
                    for (uint32_t i = 0; i < rank; i++) {
                        t.dim[i] = dims[i];
                        t.box[i] = i ? boxes[i] : 32 / t.bytes;
                    }
                    t.swizzle = swizzle;
                    t.lay_out(32);
                    snprintf(name, sizeof name, "%s %ud swizzle %d place %zu",
                             adds ? "add" : "store", rank, swizzle, place);
                    run(name, t, places[place], adds);
                }
    for (uint32_t step = 2; step <= 8; step += 3) {
        Tensor t;
        t.bytes = 8;
        t.type = CU_TENSOR_MAP_DATA_TYPE_UINT64;
        t.dim[0] = 20;
        t.dim[1] = 40;
        t.box[0] = 8;
        t.box[1] = 24;
        t.step[1] = step;
        t.lay_out();
        snprintf(name, sizeof name, "add with step %u", step);
        run(name, t, {{4, 9}}, true);
    }
    printf("%d failures\n", failures);
    return failures != 0;
}
