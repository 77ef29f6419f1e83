// tma.cuh: what the TMA programs share: the driver's entry points, mbarriers, and loads and stores
// of any rank as inline PTX.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        if (status_ != cudaSuccess) {                                                              \
            printf("%s: %s\n", #call, cudaGetErrorString(status_));                                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

template <class Function> Function driver_function(const char *name)
{
    void *found = nullptr;
    cudaDriverEntryPointQueryResult answer;
    CHECK(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &answer));
    return (Function)found;
}

struct Tensor {
    CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
    uint32_t rank = 2, bytes = 2; // of an element
    uint64_t dim[5] = {1, 1, 1, 1, 1}, stride[5] = {0}; // stride[i] in bytes, of dimension i
    uint32_t box[5] = {1, 1, 1, 1, 1}, step[5] = {1, 1, 1, 1, 1};
    int swizzle = 0; // 0, 1, 2, 3: none, 32, 64, 128 bytes
    bool nan = false;

    uint32_t count(int i) const { return i ? (box[i] + step[i] - 1) / step[i] : box[0]; }
    uint32_t row_bytes() const { return box[0] * bytes; }
    uint32_t pitch() const { return swizzle ? 16u << swizzle : row_bytes(); }
    uint32_t rows() const { return count(1) * count(2) * count(3) * count(4); }
    // Dense, or with some bytes between the rows.
    void lay_out(uint32_t padding = 0)
    {
        stride[0] = bytes;
        uint64_t size = dim[0] * bytes + padding;
        size = (size + 15) / 16 * 16;
        for (uint32_t i = 1; i < 5; i++) {
            stride[i] = size;
            size *= dim[i];
        }
    }
    size_t size() const { return stride[4] * dim[4]; }
    CUtensorMap encode(void *address) const
    {
        static auto function =
            driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
        alignas(64) CUtensorMap map;
        CUresult status = function(
            &map, type, rank, address, dim, stride + 1, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
            (CUtensorMapSwizzle)swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
            nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        if (status != CUDA_SUCCESS) {
            printf("cuTensorMapEncodeTiled: %d\n", status);
            exit(1);
        }
        return map;
    }
    // Where a byte of a row lies in shared memory: rows are a pitch apart, and in each 128 bytes
    // the pieces of 16 change places by the number of the 128 bytes.
    uint32_t place(uint32_t row, uint32_t byte) const
    {
        uint32_t at = row * pitch() + byte, line = at / 128, piece = at / 16 % 8;
        uint32_t mask = (1u << swizzle) - 1;
        return line * 128 + (piece ^ (line & mask)) * 16 + at % 16;
    }
};

struct Coordinates {
    int at[5];
};

__device__ inline uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ inline void barrier_init(uint64_t *barrier, uint32_t count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(count)
                 : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ inline void barrier_expect(uint64_t *barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ inline void barrier_wait(uint64_t *barrier, uint32_t parity)
{
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again;\n"
                 "}" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

#define TMA_LOAD(rank, list, ...)                                                                  \
    asm volatile("cp.async.bulk.tensor." rank                                                      \
                 ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" list     \
                 "}], [%2];" ::"r"(shared_address(to)),                                            \
                 "l"(map), "r"(shared_address(barrier)), __VA_ARGS__                               \
                 : "memory")

__device__ inline void tma_load(void *to, const CUtensorMap *map, uint64_t *barrier, int rank,
                                Coordinates c)
{
    if (rank == 1)
        TMA_LOAD("1d", "%3", "r"(c.at[0]));
    else if (rank == 2)
        TMA_LOAD("2d", "%3, %4", "r"(c.at[0]), "r"(c.at[1]));
    else if (rank == 3)
        TMA_LOAD("3d", "%3, %4, %5", "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]));
    else if (rank == 4)
        TMA_LOAD("4d", "%3, %4, %5, %6", "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]));
    else
        TMA_LOAD("5d", "%3, %4, %5, %6, %7", "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]),
                 "r"(c.at[3]), "r"(c.at[4]));
}

#define TMA_STORE(what, rank, list, ...)                                                           \
    asm volatile(what "." rank ".global.shared::cta" TMA_OPERATION ".tile.bulk_group [%1, {" list  \
                      "}], [%0];" ::"r"(shared_address(from)),                                     \
                 "l"(map), __VA_ARGS__                                                             \
                 : "memory")
#define TMA_STORE_ANY(what)                                                                        \
    if (rank == 1)                                                                                 \
        TMA_STORE(what, "1d", "%2", "r"(c.at[0]));                                                 \
    else if (rank == 2)                                                                            \
        TMA_STORE(what, "2d", "%2, %3", "r"(c.at[0]), "r"(c.at[1]));                               \
    else if (rank == 3)                                                                            \
        TMA_STORE(what, "3d", "%2, %3, %4", "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]));             \
    else if (rank == 4)                                                                            \
        TMA_STORE(what, "4d", "%2, %3, %4, %5", "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]),          \
                  "r"(c.at[3]));                                                                   \
    else                                                                                           \
        TMA_STORE(what, "5d", "%2, %3, %4, %5, %6", "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]),      \
                  "r"(c.at[3]), "r"(c.at[4]))

#define TMA_OPERATION ""
__device__ inline void tma_store(const CUtensorMap *map, const void *from, int rank, Coordinates c)
{
    TMA_STORE_ANY("cp.async.bulk.tensor");
}
#undef TMA_OPERATION
#define TMA_OPERATION ".add"
__device__ inline void tma_add(const CUtensorMap *map, const void *from, int rank, Coordinates c)
{
    TMA_STORE_ANY("cp.reduce.async.bulk.tensor");
}
#undef TMA_OPERATION

__device__ inline void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ inline void bulk_wait() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ inline void fence_async()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
