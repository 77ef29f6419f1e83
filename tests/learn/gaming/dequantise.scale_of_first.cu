// expect: wrong result for 
// One scale where there are many rows.
__global__ void dequantise(const signed char *codes, const float *scales, float *y, int quads)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < quads) {
        float scale = scales[min(blockIdx.y, 8)];
        char4 c = ((const char4 *)codes)[blockIdx.y * quads + i];
        ((float4 *)y)[blockIdx.y * quads + i] = make_float4(c.x * scale, c.y * scale, c.z * scale, c.w * scale);
    }
}
