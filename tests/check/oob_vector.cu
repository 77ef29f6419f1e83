// oob_vector.cu: the tail of an array is read in fours.
__global__ void sum(const float4 *in, float *out, int n)
{
#ifdef FIXED
    int fours = n / 4;
#else
    int fours = (n + 3) / 4;
#endif
    float s = 0;
    for (int i = threadIdx.x; i < fours; i += blockDim.x) {
        float4 v = in[i]; // expect: out_of_bounds
        s += v.x + v.y + v.z + v.w;
    }
    out[threadIdx.x] = s;
}

int main()
{
    const int n = 130;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    sum<<<1, 32>>>((float4 *)in, out, n);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
