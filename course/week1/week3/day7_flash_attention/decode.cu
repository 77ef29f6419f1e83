// decode: attention of one query, split over blocks: block b has keys 64 b to 64 b + 63 and writes its largest score m[b], its
// sum l[b] and its output o[b], not divided; combine of day 6 joins them. Rows have 32 numbers.
//
// Here one warp of four does all the work of the block.
__global__ void decode(const float *q, const float *k, const float *v, float *o, float *m, float *l, float scale, int keys)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * 64;
    float mine = q[lane], most = -INFINITY, sum = 0, total = 0;
    // TODO: a quarter of the keys for each warp, and then merge the four results in shared memory.
    if (warp > 0)
        return;
    for (int j = first; j < first + 64 && j < keys; j++) {
        float s = mine * k[j * 32 + lane];
        for (int step = 16; step > 0; step /= 2)
            s += __shfl_xor_sync(0xffffffff, s, step);
        float larger = fmaxf(most, scale * s), w = expf(scale * s - larger), old = expf(most - larger);
        sum = sum * old + w;
        total = total * old + w * v[j * 32 + lane];
        most = larger;
    }
    o[blockIdx.x * 32 + lane] = total;
    if (lane == 0) {
        m[blockIdx.x] = most;
        l[blockIdx.x] = sum;
    }
}
