// barrier_lane_operand.cu: lanes of one warp name different barriers with one instruction.
__global__ void halves(int *a)
{
    int id = 1;
#ifndef FIXED
    id += threadIdx.x / 16 % 2;
#endif
    a[threadIdx.x] = 1;
    asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory"); // expect: barrier "names barrier"
    a[64 + threadIdx.x] = a[63 - threadIdx.x];
}

int main()
{
    int *a;
    cudaMalloc(&a, 128 * sizeof(int));
    halves<<<1, 64>>>(a);
    cudaDeviceSynchronize();
    cudaFree(a);
}
