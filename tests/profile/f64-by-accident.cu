// Literals without f make the arithmetic f64; fixed: with f.
#ifdef FIXED
#define L(x) x##f
#else
#define L(x) x
#endif

__global__ void blend(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = in[i];
#pragma unroll 1
    for (int k = 0; k < 50; k++)
        value = value * L(0.3) + L(0.7); // <- f64-by-accident
    out[i] = value;
}

int main()
{
    const int n = 132 * 2048;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    blend<<<n / 256, 256>>>(out, in);
    return cudaDeviceSynchronize();
}
