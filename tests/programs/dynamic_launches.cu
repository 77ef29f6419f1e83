// dynamic_launches.cu: kernels that launch kernels: streams of a block, fire and forget, tail
// launches, parameters by value, and what bad launches return.
// flags: -rdc=true

#include <cstdio>

__device__ int counter, trail[64], length;

__device__ void leave(int mark)
{
    trail[atomicAdd(&length, 1)] = mark;
}

__global__ void add(int *sum, int value)
{
    atomicAdd(sum, value * (int)(threadIdx.x + 1));
}

__global__ void mark(int value)
{
    leave(value);
}

// Every block launches for itself; a grid is complete when its children are.
__global__ void spread(int *sum)
{
    if (threadIdx.x == 0)
        add<<<2, 32>>>(sum, (int)blockIdx.x + 1);
    if (threadIdx.x < 4)
        add<<<1, 8, 0, cudaStreamFireAndForget>>>(sum, 1000);
}

__global__ void nest(int depth)
{
    atomicAdd(&counter, 1);
    if (depth == 0)
        return;
    nest<<<1, 2>>>(depth - 1);
}

// One stream keeps its order; tail launches come after everything else, one after another.
__global__ void tail_child(int value)
{
    mark<<<1, 1, 0, cudaStreamTailLaunch>>>(value + 2);
    mark<<<1, 1>>>(value + 1);
    leave(value);
}

__global__ void ordered()
{
    tail_child<<<1, 1, 0, cudaStreamTailLaunch>>>(30);
    tail_child<<<1, 1, 0, cudaStreamTailLaunch>>>(40);
    for (int i = 0; i < 4; i++)
        mark<<<1, 1>>>(10 + i);
}

struct Argument {
    char name[5];
    double weight;
    short pair[3];
};

__global__ void by_value(Argument argument, char letter, long long *sum)
{
    *sum = argument.name[3] + (long long)argument.weight + argument.pair[2] + letter;
}

__global__ void pass_by_value(long long *sum)
{
    Argument argument = {{'a', 'b', 'c', 'd', 'e'}, 1e6, {1, 2, 3}};
    by_value<<<1, 1>>>(argument, 'z', sum);
}

__global__ void refused(int *sum)
{
    add<<<0, 1>>>(sum, 1);
    printf("no blocks: %s\n", cudaGetErrorName(cudaGetLastError()));
    add<<<1, 2000>>>(sum, 1);
    printf("2000 threads: %s\n", cudaGetErrorName(cudaPeekAtLastError()));
    printf("again: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("after that: %s\n", cudaGetErrorName(cudaGetLastError()));
    cudaStream_t stream;
    printf("a blocking stream: %s\n", cudaGetErrorName(cudaStreamCreateWithFlags(&stream, 0)));
    int device = -1;
    printf("device: %s, ", cudaGetErrorString(cudaGetDevice(&device)));
    printf("%d\n", device);
}

static int *total;

static int take()
{
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        printf("%s\n", cudaGetErrorName(error));
    int sum = *total;
    *total = 0;
    return sum;
}

int main()
{
    long long *wide;
    cudaMallocManaged(&total, 4);
    cudaMallocManaged(&wide, 8);
    *total = 0;
    spread<<<5, 64>>>(total);
    printf("spread: %d\n", take());
    nest<<<1, 1>>>(6);
    cudaDeviceSynchronize();
    int count;
    cudaMemcpyFromSymbol(&count, counter, 4);
    printf("nested: %d\n", count);
    ordered<<<1, 1>>>();
    cudaDeviceSynchronize();
    int marks[64];
    cudaMemcpyFromSymbol(&count, length, 4);
    cudaMemcpyFromSymbol(marks, trail, sizeof marks);
    printf("order:");
    for (int i = 0; i < count; i++)
        printf(" %d", marks[i]);
    printf("\n");
    pass_by_value<<<1, 1>>>(wide);
    cudaDeviceSynchronize();
    printf("by value: %lld\n", *wide);
    refused<<<1, 1>>>(total);
    printf("refused: %d\n", take());
    // What the host launches next comes after all children.
    spread<<<5, 64>>>(total);
    add<<<1, 1>>>(total, 1 << 20);
    printf("then: %d\n", take());
    return 0;
}
