// precheck.cu: a plain look before an atomic saves most atomics; an old value does no harm. That is a
// remark. The same look before a sum decides upon what is not complete, and is an error.
__global__ void highest(const int *in, int *most, int *found)
{
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
#ifdef FIXED
    atomicMax(most, v);
    atomicOr(found, v == 3);
#else
    if (*most < v) // expect: precheck
        atomicMax(most, v); // expect: precheck
    if (v == 3 && *found == 0) // expect: precheck
        atomicExch(found, 1); // expect: precheck "benign race"
#endif
}

__global__ void limited(int *total, int *out)
{
#ifdef FIXED
    int at = atomicAdd(total, 1);
    if (at < 32)
        out[at] = 1;
#else
    if (*total < 32) // expect: race
        out[atomicAdd(total, 1)] = 1; // expect: race
#endif
}

int main()
{
    int *in, *words, *out, host[256];
    for (int i = 0; i < 256; i++)
        host[i] = i % 7;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&words, 3 * sizeof(int));
    cudaMalloc(&out, 1024 * sizeof(int));
    cudaMemset(words, 0, 3 * sizeof(int));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    highest<<<4, 64>>>(in, words, words + 1);
    limited<<<4, 64>>>(words + 2, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(words);
    cudaFree(out);
}
