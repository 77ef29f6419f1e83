// oob_local.cu: an index into a local array that comes from the data.
__global__ void count(const int *digits, int *out, int n)
{
    int counts[10] = {0};
    for (int i = 0; i < n; i++)
        counts[digits[i]]++; // expect: out_of_bounds
    for (int i = 0; i < 10; i++)
        out[threadIdx.x * 10 + i] = counts[i];
}

int main()
{
#ifdef FIXED
    int host[5] = {1, 9, 3, 3, 0}, *digits, *out;
#else
    int host[5] = {1, 9, 10, 3, 0}, *digits, *out;
#endif
    cudaMalloc(&digits, sizeof host);
    cudaMalloc(&out, 320 * sizeof(int));
    cudaMemcpy(digits, host, sizeof host, cudaMemcpyHostToDevice);
    count<<<1, 32>>>(digits, out, 5);
    cudaDeviceSynchronize();
    cudaFree(digits);
    cudaFree(out);
}
