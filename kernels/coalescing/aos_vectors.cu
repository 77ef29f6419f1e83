/*
 * aos_vectors.cu: structures of 4, 8, .. fields, read four fields at a time by 16-byte loads. With
 * four fields a structure is one load, and a warp's 512 bytes are contiguous: the layout costs
 * nothing. With eight, each request uses half of every sector that it touches.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024

extern "C" __global__ void __launch_bounds__(BLOCK)
copy(const float *in, float *out, long long n, long long k)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    bool aligned = (unsigned long long)in % 16 == 0;
    if (i >= n)
        return;
#pragma unroll 2
    for (long long field = 0; field < k; field += 4) {
        const float *at = in + i * k + field;
        float4 v = aligned ? *(const float4 *)at : make_float4(at[0], at[1], at[2], at[3]);
        out[field * n + i] = v.x;
        out[(field + 1) * n + i] = v.y;
        out[(field + 2) * n + i] = v.z;
        out[(field + 3) * n + i] = v.w;
    }
}
