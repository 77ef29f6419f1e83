// race_same_place.cu: several lanes write different values to one word at once.
__global__ void last(const int *in, int *out)
{
    __shared__ int found;
    if (threadIdx.x == 0)
        found = -1;
    __syncthreads();
#ifdef FIXED
    if (in[threadIdx.x] == 7)
        atomicMax(&found, (int)threadIdx.x);
#else
    if (in[threadIdx.x] == 7)
        found = threadIdx.x; // expect: race
#endif
    __syncthreads();
    if (threadIdx.x == 0)
        *out = found;
}

int main()
{
    int host[32] = {0}, *in, *out;
    host[3] = host[9] = 7;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    last<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
