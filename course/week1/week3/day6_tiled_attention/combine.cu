// combine: the keys of a query were split into parts. Part p has the largest score 16 * m[p], the sum 1 + l[p] of exp(s - 16 *
// m[p]), and an output o[p] that is not divided yet. A warp has one query; lane c makes out[c].
__global__ void combine(const float *o, const float *m, const unsigned *l, float *out, int parts)
{
    int i = blockIdx.x, lane = threadIdx.x;
    float sum = 0, total = 0;
    // TODO: parts with different largest scores cannot be added as they are.
    for (int p = 0; p < parts; p++) {
        sum += 1 + l[i * parts + p];
        total += o[(i * parts + p) * 32 + lane];
    }
    out[i * 32 + lane] = total / sum;
}
