// expect: wrong result for 
// The last tile is left out of many keys.
__global__ void pv(const float *w, const float *v, float *out, int keys)
{
    int lane = threadIdx.x;
    float sum = 0;
    for (int first = 0; first < (keys > 64 ? keys / 32 * 32 : keys); first += 32) {
        float mine = first + lane < keys ? w[blockIdx.x * keys + first + lane] : 0;
        for (int j = 0; j < 32 && first + j < keys; j++)
            sum += __shfl_sync(0xffffffff, mine, j) * v[(first + j) * 32 + lane];
    }
    out[blockIdx.x * 32 + lane] = sum;
}
