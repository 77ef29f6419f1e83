// unset_shared_vector.cu: a vector load from shared memory of which a quarter was written
__global__ void go(const float *a, float *b)
{
    __shared__ float4 s[32];
    int t = threadIdx.x;
    ((float *)s)[t * 4] = a[t];
#ifdef FIXED
    ((float *)s)[t * 4 + 1] = ((float *)s)[t * 4 + 2] = ((float *)s)[t * 4 + 3] = 0;
#endif
    __syncthreads();
    float4 v = s[31 - t];
    b[t] = v.x + v.y + v.z + v.w; // expect-one: uninitialized
}

int main()
{
    float *a, *b;
    cudaMalloc(&a, 128);
    cudaMalloc(&b, 128);
    cudaMemset(a, 0, 128);
    go<<<1, 32>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
