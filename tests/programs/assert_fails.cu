// A device assert that fails: the kernel stops, the message goes to stderr, the error is
// cudaErrorAssert and sticks to every later call; the program reports it and leaves with status 3.
// status: 3

#include <cassert>
#include <cstdio>

__global__ void checked(const int *data, int n)
{
    int i = threadIdx.x;
    assert(n > 0);
    assert(i < n || data[i] != 13);
}

int main()
{
    int *data, host[32];
    for (int i = 0; i < 32; i++)
        host[i] = i;
    cudaMalloc(&data, sizeof host);
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    checked<<<1, 32>>>(data, 20);
    printf("passes: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    fflush(stdout);
    checked<<<1, 32>>>(data, 10); // thread 13 fails
    cudaError_t launch = cudaGetLastError(), status = cudaDeviceSynchronize();
    printf("launch: %s\n", cudaGetErrorName(launch));
    printf("fails: %s: %s\n", cudaGetErrorName(status), cudaGetErrorString(status));
    printf("later copy: %s\n", cudaGetErrorName(cudaMemcpy(host, data, 4, cudaMemcpyDeviceToHost)));
    printf("later malloc: %s\n", cudaGetErrorName(cudaMalloc(&data, 4)));
    checked<<<1, 32>>>(data, 20);
    printf("later launch: %s\n", cudaGetErrorName(cudaGetLastError()));
    return status == cudaErrorAssert ? 3 : 1;
}
