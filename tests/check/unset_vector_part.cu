// unset_vector_part.cu: three components of four were written, and all four are added up
__global__ void make(float4 *a)
{
    a[threadIdx.x].x = 1;
    a[threadIdx.x].y = 2;
    a[threadIdx.x].w = 3;
#ifdef FIXED
    a[threadIdx.x].z = 0;
#endif
}
__global__ void go(const float4 *a, float *b)
{
    float4 v = a[threadIdx.x];
    b[threadIdx.x] = v.x + v.y + v.z + v.w; // expect-one: uninitialized
}

int main()
{
    float4 *a;
    float *b;
    cudaMalloc(&a, 32 * 16);
    cudaMalloc(&b, 128);
    make<<<1, 32>>>(a);
    go<<<1, 32>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
