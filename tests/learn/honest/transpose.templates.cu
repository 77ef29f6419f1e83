// transpose: sizes as template parameters, pointers restrict.
template <int SIDE, int ROWS> __device__ __forceinline__ void turn(const float *__restrict__ in, float *__restrict__ out, int rows, int cols)
{
    __shared__ float tile[SIDE * (SIDE + 1)];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int left = blockIdx.x * SIDE, top = blockIdx.y * SIDE;
#pragma unroll
    for (int k = 0; k < SIDE; k += ROWS)
        if (top + ty + k < rows && left + tx < cols)
            tile[(ty + k) * (SIDE + 1) + tx] = __ldg(&in[(size_t)(top + ty + k) * cols + left + tx]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < SIDE; k += ROWS)
        if (left + ty + k < cols && top + tx < rows)
            out[(size_t)(left + ty + k) * rows + top + tx] = tile[tx * (SIDE + 1) + ty + k];
}
__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    turn<32, 8>(in, out, rows, cols);
}
