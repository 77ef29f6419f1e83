// cases.cu: programs for `lockstep run --twice`, by number: which schedules give the same result?
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

__global__ void fill(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = 1.0f / (i + 3);
}

/* A lost update: warps read and write one word. */
__global__ void count(int *total)
{
    if (threadIdx.x % 32 == 0)
        total[5] = total[5] + 1;
}

/* The last block to write wins. */
__global__ void last(int *where)
{
    if (threadIdx.x == 0)
        where[2] = blockIdx.x;
}

/* A barrier is missing between two warps. */
__global__ void reverse(const float *in, float *out)
{
    __shared__ float s[256];
    s[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = s[255 - threadIdx.x];
}

__device__ float total_sum;

__global__ void sum(const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&total_sum, in[i]);
}

__global__ void scale(float *a)
{
    a[threadIdx.x] *= 2;
}

int main(int count_of_words, char **words)
{
    int which = count_of_words > 1 ? atoi(words[1]) : 0;
    float *a, *b;
    int *c, host = 0;
    cudaMalloc(&a, 1024 * sizeof(float));
    cudaMalloc(&b, 1024 * sizeof(float));
    cudaMalloc(&c, 64 * sizeof(int));
    cudaMemset(b, 0, 1024 * sizeof(float));
    cudaMemset(c, 0, 64 * sizeof(int));
    fill<<<4, 256>>>(a, 1024);
    switch (which) {
    case 1:
        count<<<4, 256>>>(c);
        cudaMemcpy(&host, c + 5, sizeof host, cudaMemcpyDeviceToHost);
        printf("counted %d\n", host);
        break;
    case 2:
        last<<<64, 32>>>(c);
        break;
    case 3:
        scale<<<1, 256>>>(b);
        reverse<<<1, 256>>>(a, b);
        break;
    case 4:
        sum<<<4, 256>>>(a, 1024);
        break;
    case 5: /* the host's own doing */
        host = getpid();
        cudaMemcpy(c, &host, sizeof host, cudaMemcpyHostToDevice);
        scale<<<1, 256>>>(a);
        break;
    case 6:
        printf("process\n%d\n", getpid());
        break;
    case 7: {
        int c = getchar(), n = 0;
        for (; c != EOF; c = getchar())
            n++;
        printf("%d characters\n", n);
        break;
    }
    default:
        scale<<<1, 256>>>(a);
        printf("done\n");
    }
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return which == 8 ? 7 : 0;
}
