// misaligned.cu: a float4 is read from an address that is not a multiple of 16.
__global__ void copy(const float *in, float4 *out, int offset)
{
    out[threadIdx.x] = *(const float4 *)(in + offset + 4 * threadIdx.x); // expect: misaligned
}

int main()
{
    float *in;
    float4 *out;
    cudaMalloc(&in, 132 * sizeof(float));
    cudaMalloc(&out, 32 * sizeof(float4));
    cudaMemset(in, 0, 132 * sizeof(float));
#ifdef FIXED
    copy<<<1, 32>>>(in, out, 4);
#else
    copy<<<1, 32>>>(in, out, 1);
#endif
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
