// fork.cu: a child of a process whose kernel runs gets cudaErrorInitializationError and can exit; a
// child forked before the first call has a GPU of its own.
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

__global__ void wait_for(volatile int *flag)
{
    while (!*flag) {
    }
}

__global__ void write_one(int *to)
{
    *to = 41;
}

static void fresh_child()
{
    int *data, value = 0;
    cudaMalloc(&data, 4);
    write_one<<<1, 1>>>(data);
    cudaMemcpy(&value, data, 4, cudaMemcpyDeviceToHost);
    printf("before: %d\n", value);
}

static void late_child(int *data)
{
    int *more, device, value;
    printf("cudaMalloc: %d\n", cudaMalloc(&more, 4));
    printf("cudaGetDevice: %d\n", cudaGetDevice(&device));
    printf("cudaMemcpy: %d\n", cudaMemcpy(&value, data, 4, cudaMemcpyDeviceToHost));
    printf("cudaDeviceSynchronize: %d\n", cudaDeviceSynchronize());
    write_one<<<1, 1>>>(data);
    printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
}

static int end_of(pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int main()
{
    pid_t child = fork();
    if (child == 0) {
        fresh_child();
        exit(0);
    }
    printf("ended: %d\n", end_of(child));
    int *flag, *data;
    cudaHostAlloc(&flag, 4, cudaHostAllocMapped);
    cudaMalloc(&data, 4);
    *flag = 0;
    wait_for<<<1, 32>>>(flag);
    cudaStreamQuery(0);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        alarm(20);
        late_child(data);
        exit(5);
    }
    printf("ended: %d\n", end_of(child));
    *(volatile int *)flag = 1;
    printf("parent: %d\n", cudaDeviceSynchronize());
    return 0;
}
