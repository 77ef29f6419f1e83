// race_flag_without_barrier.cu: one thread announces that its block is done before the others are.
__device__ int ready;

__global__ void hand_over(int *data, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x; // expect: race
#ifdef FIXED
        __syncthreads();
#endif
        if (threadIdx.x == 0) {
            __threadfence();
            atomicExch(&ready, 1);
        }
    } else {
        if (threadIdx.x == 0)
            while (atomicAdd(&ready, 0) == 0)
                continue;
        __syncthreads();
        __threadfence();
        out[threadIdx.x] = data[127 - threadIdx.x]; // expect: race
    }
}

int main()
{
    int *data, *out;
    cudaMalloc(&data, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(data, 0, 128 * sizeof(int));
    hand_over<<<2, 128>>>(data, out);
    cudaDeviceSynchronize();
    cudaFree(data);
    cudaFree(out);
}
