// saxpy: four numbers at once, and the last three by the threads that come first.
__global__ void saxpy(float alpha, const float *x, float *y, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (int i = t; i < n / 4; i += step) {
        float4 u = ((const float4 *)x)[i], v = ((float4 *)y)[i];
        v.x += alpha * u.x;
        v.y += alpha * u.y;
        v.z += alpha * u.z;
        v.w += alpha * u.w;
        ((float4 *)y)[i] = v;
    }
    if (t < n % 4)
        y[n / 4 * 4 + t] += alpha * x[n / 4 * 4 + t];
}
