// arrays.cu: a program that needs a plane of a CUDA array ends there, with status 3; what it printed
// is kept.
// simulated: a real GPU has these
// status: 3
#include "check.h"

int main()
{
    cudaArray_t array, plane;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 64, 64);
    printf("before");
    SHOW(cudaArrayGetPlane(&plane, array, 0));
    printf("after");
}
