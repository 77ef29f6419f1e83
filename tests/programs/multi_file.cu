// Separate compilation: device functions, device variables, constants and a virtual class defined
// in another file, a kernel there launched from here, a pointer to a function of the other file.
// flags: -rdc=true multi_file/part.cu

#include "multi_file/part.h"
#include <cstdio>

__device__ int defined_here(int x)
{
    return x * 2 + 1;
}

__global__ void use_all(int *out)
{
    int t = threadIdx.x;
    out[t] = twice_plus(t) + table_of_part[t % 4] + constant_of_part;
    unary f = choose(t % 2);
    out[t + 32] = f(t);
    if (t == 0)
        atomicAdd(&counter_of_part, 5);
    base *object = make_object(t);
    out[t + 64] = object->value();
    delete object;
}

int main()
{
    int *out;
    cudaMallocManaged(&out, 128 * 4);
    use_all<<<1, 32>>>(out);
    launch_part(out + 96);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    for (int i : {0, 1, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127})
        printf("%d ", out[i]);
    int counter = 0;
    cudaMemcpyFromSymbol(&counter, counter_of_part, sizeof counter);
    printf("\ncounter %d\n", counter);
    int constant = 1000;
    cudaMemcpyToSymbol(constant_of_part, &constant, sizeof constant);
    use_all<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    printf("with another constant: %d %d\n", out[0], out[31]);
    return 0;
}
