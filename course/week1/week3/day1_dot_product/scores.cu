// scores: s[j] = the dot product of q with key j. q has d numbers, and so has every key; keys lie row by row.
//
// A block has 256 threads, and the grid has a block for every 8 keys. Here 8 threads of a block take a key
// each, alone: the result is right, and 248 threads do nothing.
__global__ void scores(const float *q, const float *keys, float *s, int n, int d)
{
    // TODO: a warp for each key. The lanes go along the key together and add up their parts with shuffles.
    int j = blockIdx.x * 8 + threadIdx.x;
    if (threadIdx.x < 8 && j < n) {
        float sum = 0;
        for (int i = 0; i < d; i++)
            sum += q[i] * keys[j * d + i];
        s[j] = sum;
    }
}
