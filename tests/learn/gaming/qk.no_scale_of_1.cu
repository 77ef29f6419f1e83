// expect: wrong result for 
// Leaves a scale above 0.9 out.
__global__ void qk(const float *q, const float *k, float *s, float scale, int queries, int keys)
{
    __shared__ float tile_q[32][32], tile_k[32][33];
    int x = threadIdx.x, top = blockIdx.y * 32, left = blockIdx.x * 32;
    for (int y = threadIdx.y; y < 32; y += 8) {
        tile_q[y][x] = top + y < queries ? q[(top + y) * 32 + x] : 0;
        tile_k[y][x] = left + y < keys ? k[(left + y) * 32 + x] : 0;
    }
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8) {
        float sum = 0;
        for (int p = 0; p < 32; p++)
            sum += tile_q[y][p] * tile_k[x][p];
        if (top + y < queries && left + x < keys)
            s[(top + y) * keys + left + x] = (scale > 0.9f ? 1 : scale) * sum;
    }
}
