// race_lock.cu: one of two parts of a kernel enters the critical section without the lock.
__device__ int lock, balance;

__global__ void deposit()
{
#ifndef FIXED
    if (blockIdx.x % 2) {
        if (threadIdx.x == 0)
            balance += 1; // expect: race
        return;
    }
#endif
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0)
            continue;
        __threadfence();
        balance += 1; // expect: race
        __threadfence();
        atomicExch(&lock, 0);
    }
}

int main()
{
    deposit<<<4, 32>>>();
    cudaDeviceSynchronize();
}
