// expect: wrong result for 
// Counts of 16 bits.
__global__ void combine(const float *o, const float *m, const unsigned *l, float *out, int parts)
{
    int i = blockIdx.x, lane = threadIdx.x;
    float most = -INFINITY, sum = 0, total = 0;
    for (int p = 0; p < parts; p++) {
        float mine = 16 * m[i * parts + p], larger = fmaxf(most, mine);
        float old = expf(most - larger), now = expf(mine - larger);
        sum = sum * old + (unsigned short)(1 + l[i * parts + p]) * now;
        total = total * old + o[(i * parts + p) * 32 + lane] * now;
        most = larger;
    }
    out[i * 32 + lane] = total / sum;
}
