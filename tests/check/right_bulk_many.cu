// right_bulk_many.cu: every warp has mbarriers of its own, in all more than check follows one by one, and
// the two copies of a phase lie apart in time: a warp that has waited knows both.
// options: -arch=sm_90
#include <cstdint>
#include <cuda_runtime.h>

enum { WARPS = 16, OWN = 3, HALF = 32, TILE = 2 * HALF, ROUNDS = 6 };

static __device__ uint32_t at(const void *shared)
{
    return (uint32_t)__cvta_generic_to_shared(shared);
}
static __device__ void copy(void *to, const int *from, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
                     "r"(at(to)),
                 "l"(from), "r"(HALF * 4), "r"(at(barrier))
                 : "memory");
}
static __device__ void wait(uint64_t *barrier, uint32_t parity)
{
    asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again;\n}" ::"r"(at(barrier)),
                 "r"(parity)
                 : "memory");
}

__global__ void sum(const int *x, int *out)
{
    __shared__ __align__(128) int tiles[WARPS][OWN][TILE];
    __shared__ uint64_t full[WARPS][OWN];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, all = 0;
    if (lane < OWN)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[warp][lane])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < OWN; k++) {
            const int *from = x + ((round * OWN + k) * WARPS + warp) * TILE;
            if (lane == 0) {
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                                 at(&full[warp][k])),
                             "r"(TILE * 4)
                             : "memory");
                copy(tiles[warp][k], from, &full[warp][k]);
                for (int i = 0; i < warp; i++)
                    __nanosleep(20);
                copy(tiles[warp][k] + HALF, from + HALF, &full[warp][k]);
            }
            wait(&full[warp][k], round & 1);
            all += tiles[warp][k][lane] + tiles[warp][k][HALF + lane];
            __syncwarp();
        }
    atomicAdd(out, all);
}

int main()
{
    static int host[ROUNDS * OWN * WARPS * TILE];
    int *x, *out, total = 0, expected = 0;
    for (int &value : host)
        expected += value = (int)(&value - host) % 7;
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&out, 4);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, 4);
    sum<<<1, 32 * WARPS>>>(x, out);
    cudaMemcpy(&total, out, 4, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(out);
    return total != expected;
}
