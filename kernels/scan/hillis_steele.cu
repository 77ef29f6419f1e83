/*
 * hillis_steele.cu: running sums of a block in log2(BLOCK) steps. In each step every thread adds
 * the element 1, 2, 4 .. before its own. Simple and regular, but it takes n log n additions.
 *
 * Each block leaves its sum in sums. Further launches scan those sums in the same way, and add_sums
 * then adds them to the output, which is therefore written twice: 16 bytes an element.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024

extern "C" __global__ void scan_blocks(const float *in, long long n, float *out, float *sums,
                                       int exclusive)
{
    __shared__ float buffer[2][BLOCK]; // a step reads one half and writes the other
    int thread = threadIdx.x, from = 0;
    long long i = (long long)blockIdx.x * BLOCK + thread;
    buffer[0][thread] = i < n ? in[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < BLOCK; distance *= 2) {
        float sum = buffer[from][thread];
        if (thread >= distance)
            sum += buffer[from][thread - distance];
        from = 1 - from;
        buffer[from][thread] = sum;
        __syncthreads();
    }
    if (i < n)
        out[i] = !exclusive ? buffer[from][thread] : thread > 0 ? buffer[from][thread - 1] : 0;
    if (thread == BLOCK - 1)
        sums[blockIdx.x] = buffer[from][thread];
}

// Adds to each block what comes before it: sums is now the exclusive scan of the blocks' sums.
extern "C" __global__ void add_sums(float *out, long long n, const float *sums)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        out[i] += sums[blockIdx.x];
}
