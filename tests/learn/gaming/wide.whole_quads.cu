// expect: wrong result for 
// The tail is left out.
__global__ void wide(float alpha, const float *x, float *y, int n)
{
    int i = 4 * (blockIdx.x * 256 + threadIdx.x);
    if (i + 3 < n) {
        float4 a = *(const float4 *)(x + i), b = *(float4 *)(y + i);
        b.x = alpha * a.x + b.x;
        b.y = alpha * a.y + b.y;
        b.z = alpha * a.z + b.z;
        b.w = alpha * a.w + b.w;
        *(float4 *)(y + i) = b;
    } else {
        for (int k = n; k < n; k++)
            y[k] = alpha * x[k] + y[k];
    }
}
