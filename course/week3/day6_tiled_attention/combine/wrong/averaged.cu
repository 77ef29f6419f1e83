// Divides every part by its own sum, and takes the average.
__global__ void combine(const float *o, const float *m, const unsigned *l, float *out, int parts)
{
    int i = blockIdx.x, lane = threadIdx.x;
    float most = -INFINITY, sum = 0, total = 0;
    for (int p = 0; p < parts; p++) {
        float mine = 16 * m[i * parts + p], larger = fmaxf(most, mine);
        float old = expf(most - larger), now = expf(mine - larger);
        sum = p + 1;
        total += o[(i * parts + p) * 32 + lane] / (1 + l[i * parts + p]);
        most = larger;
    }
    out[i * 32 + lane] = total / sum;
}
