// timeout_lock.cu: blocks wait for a lock that is never released, each alternating with another
// word.
__global__ void update(int *lock, volatile int *ready, int *out)
{
    if (threadIdx.x == 0) {
        while (*ready == 0 || atomicCAS(lock, 0, 1) != 0) // expect: timeout
            __nanosleep(50);
        __threadfence();
        *out += 1;
        __threadfence();
#ifdef FIXED
        atomicExch(lock, 0);
#endif
    }
    __syncthreads();
}

int main()
{
    int one = 1, *words;
    cudaMalloc(&words, 3 * sizeof(int));
    cudaMemset(words, 0, 3 * sizeof(int));
    cudaMemcpy(words + 1, &one, sizeof one, cudaMemcpyHostToDevice);
    update<<<20, 96>>>(words, words + 1, words + 2);
    cudaDeviceSynchronize();
    cudaFree(words);
}
