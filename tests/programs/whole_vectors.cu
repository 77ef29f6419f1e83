// A 16-byte store by one thread is seen whole by threads of other blocks, as CUB's scans by key need
// it: they keep a flag and two numbers in one vector.

#include <cstdio>

__global__ void exchange(ulonglong2 *word, unsigned *torn, unsigned long long last)
{
    if (blockIdx.x == 0) {
        for (unsigned long long i = 1; i <= last; i++)
            asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %1};" ::"l"(word), "l"(i) : "memory");
        return;
    }
    unsigned wrong = 0;
    unsigned long long x, y;
    do {
        asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];"
                     : "=l"(x), "=l"(y)
                     : "l"(word)
                     : "memory");
        wrong += x != y;
    } while (x != last);
    atomicAdd(torn, wrong);
}

int main()
{
    ulonglong2 *word;
    unsigned *torn, result = 1;
    cudaMalloc(&word, sizeof *word);
    cudaMalloc(&torn, sizeof *torn);
    cudaMemset(word, 0, sizeof *word);
    cudaMemset(torn, 0, sizeof *torn);
    exchange<<<2, 1>>>(word, torn, 200000);
    cudaMemcpy(&result, torn, sizeof result, cudaMemcpyDeviceToHost);
    printf("%s, torn: %u\n", cudaGetErrorString(cudaGetLastError()), result);
    return 0;
}
