// dynamic_polls.cu: kernels that wait for their children by polling: one child, a child for each
// block, a child's child, several one after the other, copies, and tail launches that come last.
// flags: -rdc=true

#include <cstdio>

__device__ volatile int flags[64];
__device__ int sum, order[8], length;

__device__ void wait_for(int which, int value)
{
    while (flags[which] != value)
        ;
    __threadfence();
}

__global__ void set(int which, int value)
{
    atomicAdd(&sum, value);
    __threadfence();
    flags[which] = value;
}

__global__ void set_by_child(int which, int value)
{
    set<<<1, 1, 0, cudaStreamFireAndForget>>>(which + 1, value);
    wait_for(which + 1, value);
    flags[which] = value + 1;
}

__global__ void leave(int mark)
{
    order[length++] = mark;
}

__global__ void one()
{
    if (threadIdx.x == 0)
        set<<<1, 1, 0, cudaStreamFireAndForget>>>(0, 5);
    wait_for(0, 5);
}

__global__ void each_block()
{
    if (threadIdx.x == 0) {
        set<<<1, 1>>>(blockIdx.x, (int)blockIdx.x + 1);
        wait_for(blockIdx.x, (int)blockIdx.x + 1);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&sum, 1000);
}

__global__ void grandchild()
{
    set_by_child<<<1, 1, 0, cudaStreamFireAndForget>>>(0, 7);
    wait_for(0, 8);
}

__global__ void rounds()
{
    for (int i = 1; i <= 5; i++) {
        set<<<1, 1, 0, cudaStreamFireAndForget>>>(3, i);
        wait_for(3, i);
    }
}

__global__ void tail_last()
{
    leave<<<1, 1, 0, cudaStreamTailLaunch>>>(2);
    set<<<1, 1, 0, cudaStreamFireAndForget>>>(0, 1);
    wait_for(0, 1);
    order[length++] = 1;
}

static void show(const char *name, cudaError_t error)
{
    int total, zeros[64] = {0};
    cudaMemcpyFromSymbol(&total, sum, sizeof total);
    printf("%s: sum %d, %s\n", name, total, cudaGetErrorName(error));
    cudaMemcpyToSymbol(sum, zeros, sizeof sum);
    cudaMemcpyToSymbol(flags, zeros, sizeof zeros);
}

int main()
{
    one<<<1, 64>>>();
    show("one", cudaDeviceSynchronize());
    each_block<<<20, 64>>>();
    show("each block", cudaDeviceSynchronize());
    grandchild<<<1, 1>>>();
    show("grandchild", cudaDeviceSynchronize());
    rounds<<<1, 1>>>();
    show("rounds", cudaDeviceSynchronize());
    tail_last<<<1, 1>>>();
    cudaError_t error = cudaDeviceSynchronize();
    int marks[8], count;
    cudaMemcpyFromSymbol(marks, order, sizeof marks);
    cudaMemcpyFromSymbol(&count, length, sizeof count);
    printf("%d marks: %d %d\n", count, marks[0], marks[1]);
    show("tail last", error);
    return 0;
}
