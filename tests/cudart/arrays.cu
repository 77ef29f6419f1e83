// arrays.cu: a program that needs a CUDA array ends there, with status 3; what it printed is kept.
// simulated: a real GPU has these
// status: 3
#include "check.h"

int main()
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    printf("before");
    SHOW(cudaMallocArray(&array, &format, 64, 64));
    printf("after");
}
