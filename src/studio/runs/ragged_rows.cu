// ragged_rows: the mean of each row of a table whose rows have different lengths, one thread for each
// row. Row i has the values from first[i] to first[i + 1]. An empty row gets -1.
__global__ void ragged_rows(const int *first, const float *values, float *mean, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows)
        return;
    int from = first[i], to = first[i + 1];
    if (from == to) {
        mean[i] = -1;
        return;
    }
    float sum = 0;
#pragma unroll 1
    for (int p = from; p < to; p++)
        sum += values[p];
    mean[i] = sum / (to - from);
}
