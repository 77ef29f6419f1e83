// tma_replace.cu: a kernel makes one tensor map after another from a template: it changes a copy in
// shared memory, field by field, publishes it in global memory and loads with it. Maps lie in
// parameters, constant memory and global memory. A loop on the host says what must arrive.
// flags: -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_90a,code=compute_90a -std=c++17
#include "tma.cuh"

enum { ROWS = 48, COLUMNS = 96, BOX = 16, MATRICES = 5 };

__constant__ CUtensorMap constant_map;

// Matrix i of a batch: its size, and its place.
struct Matrix {
    const float *data;
    uint32_t rows, columns, pitch; // pitch in bytes
};

__device__ void replace_map(CUtensorMap *map, const Matrix &m)
{
    uint32_t at = shared_address(map);
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at),
                 "l"(m.data)
                 : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(at),
                 "r"(m.columns)
                 : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at),
                 "r"(m.rows)
                 : "memory");
    asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"r"(at),
                 "l"((uint64_t)m.pitch)
                 : "memory");
}

__device__ void publish_map(CUtensorMap *global, const CUtensorMap *shared)
{
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync."
                 "aligned [%0], [%1], 128;" ::"l"(global),
                 "r"(shared_address(shared))
                 : "memory");
}

__device__ void acquire_map(const CUtensorMap *global)
{
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(global) : "memory");
}

__global__ void load_all(const __grid_constant__ CUtensorMap model, CUtensorMap *maps,
                         const Matrix *matrices, float *out)
{
    __shared__ __align__(128) float tile[BOX * BOX];
    __shared__ __align__(128) CUtensorMap map;
    __shared__ __align__(8) uint64_t barrier;
    if (threadIdx.x == 0)
        barrier_init(&barrier, 1);
    __syncthreads();
    for (int i = 0; i < MATRICES; i++) {
        if (threadIdx.x < 32) {
            ((uint32_t *)&map)[threadIdx.x] = ((const uint32_t *)&model)[threadIdx.x];
            __syncwarp();
            if (threadIdx.x == 0)
                replace_map(&map, matrices[i]);
            __syncwarp();
            publish_map(&maps[i], &map);
            acquire_map(&maps[i]);
        }
        if (threadIdx.x == 0) {
            barrier_expect(&barrier, sizeof tile);
            tma_load(tile, &maps[i], &barrier, 2, {{16, 8}});
        }
        barrier_wait(&barrier, i & 1);
        for (int k = threadIdx.x; k < BOX * BOX; k += blockDim.x)
            out[i * BOX * BOX + k] = tile[k];
        __syncthreads();
    }
}

__global__ void load_constant(float *out)
{
    __shared__ __align__(128) float tile[BOX * BOX];
    __shared__ __align__(8) uint64_t barrier;
    if (threadIdx.x == 0)
        barrier_init(&barrier, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&constant_map) : "memory");
        barrier_expect(&barrier, sizeof tile);
        tma_load(tile, &constant_map, &barrier, 2, {{80, 40}});
    }
    barrier_wait(&barrier, 0);
    for (int k = threadIdx.x; k < BOX * BOX; k += blockDim.x)
        out[k] = tile[k];
}

static int count_wrong(const float *found, const float *data, int x, int y, int rows, int columns,
                       int pitch)
{
    int wrong = 0;
    for (int r = 0; r < BOX; r++)
        for (int c = 0; c < BOX; c++) {
            bool inside = y + r < rows && x + c < columns;
            float right = inside ? data[(y + r) * (pitch / 4) + x + c] : 0;
            wrong += found[r * BOX + c] != right;
        }
    return wrong;
}

int main()
{
    std::vector<float> host(ROWS * COLUMNS);
    for (size_t i = 0; i < host.size(); i++)
        host[i] = (float)i * 0.5f;
    float *data, *out;
    Matrix *matrices;
    CUtensorMap *maps;
    CHECK(cudaMalloc(&data, host.size() * 4 + 64));
    CHECK(cudaMalloc(&out, MATRICES * BOX * BOX * 4));
    CHECK(cudaMalloc(&matrices, MATRICES * sizeof(Matrix)));
    CHECK(cudaMalloc(&maps, MATRICES * sizeof(CUtensorMap)));
    CHECK(cudaMemcpy(data, host.data(), host.size() * 4, cudaMemcpyHostToDevice));
    Tensor t;
    t.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    t.bytes = 4;
    t.dim[0] = COLUMNS;
    t.dim[1] = ROWS;
    t.box[0] = t.box[1] = BOX;
    t.lay_out();
    CUtensorMap map = t.encode(data);

    Matrix list[MATRICES];
    int offsets[MATRICES];
    for (int i = 0; i < MATRICES; i++) {
        offsets[i] = 4 * i * i;
        list[i] = {data + offsets[i], (uint32_t)(18 + i), (uint32_t)(25 + 3 * i),
                   (uint32_t)(COLUMNS * 4 - 16 * i)};
    }
    CHECK(cudaMemcpy(matrices, list, sizeof list, cudaMemcpyHostToDevice));
    load_all<<<1, 64>>>(map, maps, matrices, out);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::vector<float> result(MATRICES * BOX * BOX);
    CHECK(cudaMemcpy(result.data(), out, result.size() * 4, cudaMemcpyDeviceToHost));
    int failures = 0;
    for (int i = 0; i < MATRICES; i++) {
        int wrong = count_wrong(&result[i * BOX * BOX], &host[offsets[i]], 16, 8, list[i].rows,
                                list[i].columns, list[i].pitch);
        printf("matrix %d: %d elements differ\n", i, wrong);
        failures += wrong > 0;
    }

    CHECK(cudaMemcpyToSymbol(constant_map, &map, sizeof map));
    load_constant<<<1, 64>>>(out);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(result.data(), out, BOX * BOX * 4, cudaMemcpyDeviceToHost));
    int wrong = count_wrong(result.data(), host.data(), 80, 40, ROWS, COLUMNS, COLUMNS * 4);
    printf("from constant memory: %d elements differ\n", wrong);
    failures += wrong > 0;

    auto move = driver_function<decltype(&cuTensorMapReplaceAddress)>("cuTensorMapReplaceAddress");
    CUtensorMap moved = map;
    printf("cuTensorMapReplaceAddress: %d, misaligned: %d\n", move(&moved, data + 4),
           move(&moved, (char *)data + 4));
    CHECK(cudaMemcpyToSymbol(constant_map, &moved, sizeof moved));
    load_constant<<<1, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(result.data(), out, BOX * BOX * 4, cudaMemcpyDeviceToHost));
    printf("a moved tensor begins with %g\n", result[0] - host[40 * COLUMNS + 80]);
    printf("%d failures\n", failures);
    return failures != 0;
}
