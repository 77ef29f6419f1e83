// stable: (m, l) follow each other in one walk; pairs are merged by shuffles, then in shared memory.
struct pair {
    float m, l;
};
__device__ __forceinline__ pair join(pair a, pair b)
{
    float m = fmaxf(a.m, b.m);
    if (m == -INFINITY)
        return a;
    return {m, a.l * __expf(a.m - m) + b.l * __expf(b.m - m)};
}
__global__ void stable(const float *x, float *out, float scale, int cols)
{
    __shared__ pair of_warp[4];
    const float *row = x + (size_t)blockIdx.x * cols;
    pair mine = {-INFINITY, 0};
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        mine = join(mine, {scale * row[c], 1});
    for (int step = 16; step; step >>= 1) {
        pair other = {__shfl_xor_sync(~0u, mine.m, step), __shfl_xor_sync(~0u, mine.l, step)};
        mine = join(mine, other);
    }
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    pair all = join(join(of_warp[0], of_warp[1]), join(of_warp[2], of_warp[3]));
    float inverse = 1.0f / all.l;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[(size_t)blockIdx.x * cols + c] = __expf(scale * row[c] - all.m) * inverse;
}
