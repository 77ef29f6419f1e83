// right_named_barrier.cu: producers and consumers meet at one named barrier from branches of their own,
// with and without a count of threads. __syncthreads() must not be used so; these may.
#define BARRIER(text) asm volatile(text ::: "memory")

__global__ void specialised(int *out)
{
    __shared__ int tile[64];
    int lane = threadIdx.x % 64;
    if (threadIdx.x < 64) {
        tile[lane] = lane;
        BARRIER("bar.sync 15;");
        BARRIER("bar.sync 1, 128;");
        tile[lane] = 2 * lane;
        BARRIER("bar.arrive 2, 128;");
    } else {
        BARRIER("bar.sync 15;");
        int sum = tile[63 - lane];
        BARRIER("bar.sync 1, 128;");
        BARRIER("bar.sync 2, 128;");
        out[lane] = sum + tile[lane];
    }
}

int main()
{
    int *out, host[64], wrong = 0;
    cudaMalloc(&out, sizeof host);
    specialised<<<1, 128>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; i++)
        wrong += host[i] != 63 + i;
    cudaFree(out);
    return wrong != 0;
}
