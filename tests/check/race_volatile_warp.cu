// race_volatile_warp.cu: the last steps of a reduction rely on lanes that run in step.
__global__ void sum(const int *in, int *out)
{
    __shared__ int s[64];
    int i = threadIdx.x;
    s[i] = in[i];
    s[i + 32] = in[i + 32];
    __syncwarp();
#ifdef FIXED
    for (int step = 32; step > 0; step /= 2) {
        int v = i < step ? s[i + step] : 0;
        __syncwarp();
        s[i] += v;
        __syncwarp();
    }
#else
    volatile int *v = s;
    v[i] += v[i + 32];
    if (i < 16) v[i] += v[i + 16]; // expect: race
    if (i < 8) v[i] += v[i + 8]; // expect: race
    if (i < 4) v[i] += v[i + 4]; // expect: race
    if (i < 2) v[i] += v[i + 2]; // expect: race
    if (i < 1) v[i] += v[i + 1]; // expect: race
#endif
    if (i == 0)
        *out = s[0];
}

int main()
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    sum<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
