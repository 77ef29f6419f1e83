// merge: a long row was cut into parts. Part p has the largest number 20 * m[p] and the sum 1 + l[p] of exp(x - 20 * m[p]).
// lse = the log-sum-exp of the whole row. A warp has one row.
__global__ void merge(const float *m, const unsigned *l, float *lse, int parts)
{
    int row = blockIdx.x * parts;
    float most = -INFINITY, sum = 0;
    // TODO: two parts are merged by rescaling both to the larger of their two m.
    for (int p = threadIdx.x; p < parts; p += 32) {
        most = fmaxf(most, 20 * m[row + p]);
        sum += 1 + l[row + p];
    }
    for (int step = 16; step > 0; step /= 2) {
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    }
    if (threadIdx.x == 0)
        lse[blockIdx.x] = most + __logf(sum);
}
