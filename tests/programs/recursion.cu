// Recursion on the device: Fibonacci, factorial, Ackermann, mutual recursion, towers of Hanoi,
// quicksort with its own depth, permutations, n queens by backtracking; lanes recurse to different
// depths. cudaLimitStackSize is raised for the deep ones.

#include <algorithm>
#include <cstdio>
#include <vector>

__host__ __device__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__host__ __device__ unsigned long long factorial(int n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}
__host__ __device__ int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__host__ __device__ bool is_odd(int n);
__host__ __device__ __noinline__ bool is_even(int n)
{
    return n == 0 || is_odd(n - 1);
}
__host__ __device__ __noinline__ bool is_odd(int n)
{
    return n != 0 && is_even(n - 1);
}

__host__ __device__ void hanoi(int n, int from, int to, unsigned &digest)
{
    if (n == 0)
        return;
    int other = 3 - from - to;
    hanoi(n - 1, from, other, digest);
    digest = digest * 31 + from * 3 + to;
    hanoi(n - 1, other, to, digest);
}

__global__ void numbers(int *out, unsigned long long *big)
{
    int t = threadIdx.x;
    out[t] = fibonacci(t % 16);
    big[t] = factorial(t % 21);
    out[t + 32] = ackermann(t % 3, t % 5);
    out[t + 64] = is_even(t * 3) * 10 + is_odd(t);
    unsigned digest = 7;
    hanoi(t % 8, 0, 2, digest);
    out[t + 96] = (int)digest;
}

__device__ int partition(int *a, int low, int high)
{
    int pivot = a[(low + high) / 2], i = low - 1, j = high + 1;
    for (;;) {
        while (a[++i] < pivot) {
        }
        while (a[--j] > pivot) {
        }
        if (i >= j)
            return j;
        int swap = a[i];
        a[i] = a[j];
        a[j] = swap;
    }
}

__device__ void quicksort(int *a, int low, int high, int depth, int *deepest)
{
    *deepest = max(*deepest, depth);
    if (low >= high)
        return;
    int p = partition(a, low, high);
    quicksort(a, low, p, depth + 1, deepest);
    quicksort(a, p + 1, high, depth + 1, deepest);
}

__global__ void sort_rows(int *rows, int length, int *depth)
{
    int deepest = 0;
    quicksort(rows + threadIdx.x * length, 0, length - 1, 0, &deepest);
    depth[threadIdx.x] = deepest;
}

__host__ __device__ int queens(int n, unsigned columns, unsigned left, unsigned right)
{
    unsigned all = (1u << n) - 1;
    if (columns == all)
        return 1;
    int count = 0;
    for (unsigned free = all & ~(columns | left | right); free; free &= free - 1) {
        unsigned bit = free & (0u - free);
        count += queens(n, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return count;
}

__global__ void first_columns(int n, int *total) // one lane a first move
{
    if ((int)threadIdx.x < n) {
        unsigned bit = 1u << threadIdx.x;
        atomicAdd(total, queens(n, bit, bit << 1, bit >> 1));
    }
}

__device__ int deep(int n, int *p)
{
    int local[16];
    for (int i = 0; i < 16; i++)
        local[i] = n + i + p[i % 4];
    if (n > 0)
        local[3] += deep(n - 1, local);
    return local[3] ^ local[n % 16];
}

__global__ void go_deep(int *out, int depth)
{
    int start[4] = {1, 2, 3, 4};
    out[threadIdx.x] = deep(depth + threadIdx.x, start);
}

int main()
{
    size_t before, after;
    cudaDeviceGetLimit(&before, cudaLimitStackSize);
    printf("set: %s\n", cudaGetErrorName(cudaDeviceSetLimit(cudaLimitStackSize, 32 * 1024)));
    cudaDeviceGetLimit(&after, cudaLimitStackSize);
    printf("stack before %zu, after at least 32 K: %s\n", before,
           after >= 32 * 1024 ? "yes" : "no");
    int *out;
    unsigned long long *big;
    cudaMallocManaged(&out, 2048 * 4);
    cudaMallocManaged(&big, 32 * 8);
    numbers<<<1, 32>>>(out, big);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    int wrong = 0;
    for (int t = 0; t < 32; t++) {
        unsigned digest = 7;
        hanoi(t % 8, 0, 2, digest);
        wrong += out[t] != fibonacci(t % 16) || big[t] != factorial(t % 21);
        wrong += out[t + 32] != ackermann(t % 3, t % 5) || out[t + 96] != (int)digest;
        wrong += out[t + 64] != is_even(t * 3) * 10 + is_odd(t);
    }
    printf("fib(15)=%d 20!=%llu ackermann(2,4)=%d hanoi %08x wrong %d\n", out[15], big[20],
           out[14 + 32], out[7 + 96], wrong);

    const int length = 50;
    int *depth;
    cudaMallocManaged(&depth, 32 * 4);
    std::vector<int> want;
    for (int i = 0; i < 32 * length; i++) {
        out[i] = (int)(i * 2654435761u >> 12) % 1000;
        want.push_back(out[i]);
    }
    sort_rows<<<1, 32>>>(out, length, depth);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    for (int r = 0; r < 32; r++)
        std::sort(want.begin() + r * length, want.begin() + (r + 1) * length);
    printf("quicksort: %s, depths %d %d %d\n",
           std::equal(want.begin(), want.end(), out) ? "sorted" : "WRONG", depth[0], depth[10],
           depth[31]);
    int *total;
    cudaMallocManaged(&total, 4);
    for (int n : {4, 6, 8}) {
        *total = 0;
        first_columns<<<1, 32>>>(n, total);
        cudaDeviceSynchronize();
        printf("%d queens: %d, CPU %d\n", n, *total, queens(n, 0, 0, 0));
    }
    go_deep<<<1, 32>>>(out, 60);
    cudaError_t status = cudaDeviceSynchronize();
    printf("deep: %d %d %d %s\n", out[0], out[1], out[31], cudaGetErrorName(status));
    return 0;
}
