// faults.cu: a fault in a kernel sticks: every later call gives the same error.
#include "check.h"
#include <cassert>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void store(int *p)
{
    *p = 1;
}
__global__ void trap()
{
    __trap();
}
__global__ void check(int x)
{
    assert(x == 1);
}

static void illegal()
{
    int *p, count;
    store<<<1, 1>>>((int *)16);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaMalloc(&p, 4));
    LAUNCHED((store<<<1, 1>>>(p)));
    SHOW(cudaFree(nullptr));
    SHOW(cudaStreamSynchronize(0));
    cudaEvent_t event;
    SHOW(cudaEventCreate(&event));
    SHOW(cudaGetDeviceCount(&count));
    SHOW(cudaSetDevice(0));
    std::thread([] {
        printf("kept in another thread %d\n", cudaGetLastError());
        SHOW(cudaDeviceSynchronize());
    }).join();
}
static void misaligned()
{
    char *p;
    MUST(cudaMalloc(&p, 64));
    store<<<1, 1>>>((int *)(p + 1));
    SHOW(cudaDeviceSynchronize());
}
static void trapped()
{
    int h, *p;
    MUST(cudaMalloc(&p, 64));
    trap<<<1, 1>>>();
    SHOW(cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost));
    SHOW(cudaDeviceSynchronize());
}
static void asserted()
{
    check<<<1, 1>>>(1);
    SHOW(cudaDeviceSynchronize());
    check<<<1, 1>>>(0);
    SHOW(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
    void (*const parts[])() = {illegal, misaligned, trapped, asserted};
    for (auto part : parts) {
        fflush(stdout);
        pid_t child = fork(); // the device must not be in use yet
        if (child == 0) {
            part();
            fflush(stdout);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        printf("ended %d\n", status);
    }
}
