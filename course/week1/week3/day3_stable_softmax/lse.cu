// lse: out[r] = log(sum of exp(scale * x[r][c])): the log-sum-exp of every row. A warp has one row.
__global__ void lse(const float *x, float *out, float scale, int rows, int cols)
{
    int lane = threadIdx.x % 32, r = blockIdx.x * 4 + threadIdx.x / 32;
    float sum = 0;
    // TODO: log(sum of exp(x)) = largest + log(sum of exp(x - largest)).
    for (int c = lane; r < rows && c < cols; c += 32)
        sum += expf(scale * x[r * cols + c]);
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (r < rows && lane == 0)
        out[r] = __logf(sum);
}
