// expect: wrong result for n=
// wide: the last numbers by a float4 that overlaps the one before
__global__ void wide(float alpha, const float *x, float *y, int n)
{
    int i = 4 * (blockIdx.x * 256 + threadIdx.x);
    if (i >= n)
        return;
    if (i + 3 >= n)
        i = n > 4 ? n - 4 & ~3 : 0;
    float4 a = *(const float4 *)(x + i), b = *(float4 *)(y + i);
    b.x = alpha * a.x + b.x;
    b.y = alpha * a.y + b.y;
    b.z = alpha * a.z + b.z;
    b.w = alpha * a.w + b.w;
    *(float4 *)(y + i) = b;
}
