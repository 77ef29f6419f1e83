// Faults inside kernels, each in a child process since it spoils its context: null and wild
// pointers, far out of bounds of an allocation and of shared memory, misaligned access, trap, stack
// too deep, division by zero (no fault). What sticks, what later calls say, what a reset does.

#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

__global__ void write_to(int *p, size_t at)
{
    p[at] = 1;
}
__global__ void read_from(const int *p, int *out)
{
    *out = *p;
}
__global__ void misaligned(char *p)
{
    *(int *)(p + 1) = 5;
}
__global__ void misaligned_vector(float *p)
{
    *(float4 *)(p + 1) = make_float4(1, 2, 3, 4);
}
__global__ void misaligned_atomic(char *p)
{
    atomicAdd((int *)(p + 2), 1);
}
__global__ void trap()
{
    __trap();
}
__global__ void divide(int *out, int a, int b)
{
    out[0] = a / b;
    out[1] = (int)((unsigned)a / (unsigned)b);
    out[2] = a % b;
}

__device__ __noinline__ int deeper(int n, volatile int *sink)
{
    volatile int frame[64];
    for (int i = 0; i < 64; i++)
        frame[i] = n + i;
    int r = n > 0 ? deeper(n - 1, frame) : 0;
    return r + frame[n % 64] + sink[0];
}

__global__ void overflow(int *out, int depth)
{
    volatile int start[1] = {1};
    *out = deeper(depth, start);
}

__global__ void shared_out_of_bounds(int at)
{
    __shared__ volatile int s[32];
    s[threadIdx.x + at] = 1;
}

static void after(const char *what)
{
    cudaError_t status = cudaDeviceSynchronize();
    printf("%s: %s\n", what, cudaGetErrorName(status));
    if (status == cudaSuccess)
        return;
    int *p;
    printf("  then malloc %s", cudaGetErrorName(cudaMalloc(&p, 4)));
    printf(", launch");
    trap<<<1, 1>>>();
    printf(" %s", cudaGetErrorName(cudaGetLastError()));
    printf(", sync %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

static void run(int test)
{
    int *p;
    char *bytes;
    cudaMalloc(&p, 1024);
    cudaMalloc(&bytes, 64);
    switch (test) {
    case 0:
        write_to<<<1, 1>>>(nullptr, 0);
        after("null pointer");
        break;
    case 1:
        write_to<<<1, 1>>>(p, (size_t)1 << 40);
        after("far out of bounds");
        break;
    case 2:
        read_from<<<1, 1>>>((const int *)0xdead0000beef0000ull, p);
        after("wild pointer");
        break;
    case 3:
        misaligned<<<1, 1>>>(bytes);
        after("misaligned");
        break;
    case 4:
        misaligned_vector<<<1, 1>>>((float *)p);
        after("misaligned vector");
        break;
    case 5:
        trap<<<1, 32>>>();
        after("trap");
        break;
    case 6: {
        divide<<<1, 1>>>(p, 7, 0);
        after("division by zero");
        break;
    }
    case 7:
        overflow<<<1, 1>>>(p, 0);
        after("shallow stack");
        break;
    case 8:
        overflow<<<1, 1>>>(p, 1000000);
        after("stack overflow");
        break;
    case 9: {
        write_to<<<1, 1>>>(nullptr, 0);
        cudaDeviceSynchronize();
        printf("reset: %s\n", cudaGetErrorName(cudaDeviceReset()));
        break;
    }
    case 10:
        shared_out_of_bounds<<<1, 32>>>(1 << 24);
        after("shared out of bounds");
        break;
    case 11:
        misaligned_atomic<<<1, 1>>>(bytes);
        after("misaligned atomic");
        break;
    default:
        break;
    }
    fflush(stdout);
}

int main()
{
    for (int test = 0; test <= 11; test++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            run(test);
            _exit(test);
        }
        int status = 0;
        waitpid(child, &status, 0);
        printf("child %d left with %d\n", test, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
    return 0;
}
