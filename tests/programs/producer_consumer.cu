// Blocks that wait for one another: a ring between a producer and a consumer block, a chain in
// which block i waits for block i - 1, a barrier of all blocks by atomics, a software pipeline, and
// the message-passing pattern with release and acquire operations in inline PTX.

#include <cstdio>

const int RING = 8, MESSAGES = 200;

struct ring {
    int slots[RING];
    unsigned written, read;
};

__device__ ring channel;

__global__ void produce_consume(int *received)
{
    volatile ring *r = &channel;
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        for (unsigned i = 0; i < MESSAGES; i++) {
            while (i - r->read >= RING) {
            }
            r->slots[i % RING] = (int)(i * i + 1);
            __threadfence();
            r->written = i + 1;
        }
    } else {
        for (unsigned i = 0; i < MESSAGES; i++) {
            while (r->written <= i) {
            }
            __threadfence();
            received[i] = r->slots[i % RING];
            __threadfence();
            r->read = i + 1;
        }
    }
}

// The whole of block i works after block i - 1 has finished: a running checksum through the grid.
__global__ void chain(volatile unsigned *values, volatile int *turn)
{
    if (threadIdx.x == 0) {
        while (*turn != (int)blockIdx.x) {
        }
        __threadfence();
    }
    __syncthreads();
    unsigned next = values[threadIdx.x] * 31 + values[(threadIdx.x + 1) % blockDim.x] + blockIdx.x;
    __syncthreads();
    values[threadIdx.x] = next;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        *turn = blockIdx.x + 1;
}

__device__ unsigned arrived;
__device__ volatile unsigned generation;

__device__ void all_blocks()
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        unsigned now = generation;
        if (atomicAdd(&arrived, 1) == gridDim.x - 1) {
            arrived = 0;
            __threadfence();
            generation = now + 1;
        } else {
            while (generation == now) {
            }
        }
        __threadfence();
    }
    __syncthreads();
}

__global__ void phases(volatile int *a, volatile int *b, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int round = 0; round < rounds; round++) {
        b[i] = a[(i + 1) % n] + a[(i + n - 1) % n] & 0xffff;
        all_blocks();
        a[i] = b[n - 1 - i] + round;
        all_blocks();
    }
}

__global__ void message_passing(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x + 100;
        __syncthreads();
        if (threadIdx.x == 0)
            asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    } else {
        int seen;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        } while (!seen);
        out[threadIdx.x] = data[threadIdx.x] * 2;
    }
}

int main()
{
    int *received;
    cudaMallocManaged(&received, MESSAGES * sizeof(int));
    produce_consume<<<2, 32>>>(received);
    cudaError_t status = cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < MESSAGES; i++)
        wrong += received[i] != i * i + 1;
    printf("ring: %d %d %d wrong %d %s\n", received[0], received[100], received[199], wrong,
           cudaGetErrorName(status));

    unsigned *values, hash = 0;
    int *turn;
    cudaMallocManaged(&values, 64 * 4);
    cudaMallocManaged(&turn, 4);
    for (int i = 0; i < 64; i++)
        values[i] = i;
    *turn = 0;
    chain<<<20, 64>>>(values, turn);
    status = cudaDeviceSynchronize();
    for (int i = 0; i < 64; i++)
        hash = hash * 33 + values[i];
    printf("chain: turn %d values %u %u hash %08x %s\n", *turn, values[0], values[63], hash,
           cudaGetErrorName(status));

    const int n = 8 * 32;
    int *a, *b;
    cudaMallocManaged(&a, n * 4);
    cudaMallocManaged(&b, n * 4);
    for (int i = 0; i < n; i++)
        a[i] = i;
    phases<<<8, 32>>>(a, b, n, 5);
    status = cudaDeviceSynchronize();
    hash = 0;
    for (int i = 0; i < n; i++)
        hash = hash * 33 + (unsigned)a[i];
    printf("phases: %d %d %d hash %08x %s\n", a[0], a[100], a[255], hash, cudaGetErrorName(status));

    int *data, *flag, *out;
    cudaMalloc(&data, 64 * 4);
    cudaMalloc(&flag, 4);
    cudaMallocManaged(&out, 64 * 4);
    cudaMemset(flag, 0, 4);
    message_passing<<<2, 64>>>(data, flag, out);
    status = cudaDeviceSynchronize();
    printf("message: %d %d %s\n", out[0], out[63], cudaGetErrorName(status));
    return 0;
}
