// oob_vector_tail.cu: a tail of three elements is read as a vector of four
__global__ void go(const float *a, float *b, int n)
{
    int i = threadIdx.x * 4;
    if (i >= n)
        return;
#ifdef FIXED
    if (i + 4 > n) {
        for (; i < n; i++)
            b[i] = a[i];
        return;
    }
#endif
    float4 v = *(const float4 *)(a + i);
    *(float4 *)(b + i) = v; // expect: out_of_bounds
}

int main()
{
    float *a, *b;
    cudaMalloc(&a, 127 * 4);
    cudaMalloc(&b, 127 * 4);
    cudaMemset(a, 0, 127 * 4);
    go<<<1, 32>>>(a, b, 127);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
