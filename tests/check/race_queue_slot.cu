// race_queue_slot.cu: a consumer takes a slot by number before its producer has filled it
__device__ int head;
__global__ void go(int *a, int *b)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        int slot = atomicAdd(&head, 1);
        b[slot] = t + 1; // expect: race
    }
#ifdef FIXED
    else
        a[t] = atomicAdd(&head, 0);
#else
    else if (atomicAdd(&head, 0) > t)
        a[t] = b[t]; // expect: race
#endif
}

int main()
{
    int *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    go<<<2, 32>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
