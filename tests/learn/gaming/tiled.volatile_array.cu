// expect: race between threads of a warp: write at 0x[0-9a-f]+ .byte [0-9]+ of tile_a
__device__ float get(const float *p)
{
    float v;
    asm volatile("ld.relaxed.cta.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
    return v;
}
__device__ void put(float *p, float v)
{
    asm volatile("st.relaxed.cta.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory");
}
__global__ void tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ volatile float tile_a[16][16], tile_b[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y;
    int col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int first = 0; first < k; first += 16) {
        tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
        tile_b[y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
        __syncthreads();
        for (int p = 0; p < 16; p++)
            sum += tile_a[y][p] * tile_b[p][x];
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
