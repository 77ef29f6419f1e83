// qk: s[i][j] = scale * the dot product of query i and key j. Both have 32 numbers and lie row by row.
//
// A block has 32 x 8 threads and makes 32 x 32 scores; lanes have neighbouring keys. So they read 32 rows of k
// at a time, a sector of each.
__global__ void qk(const float *q, const float *k, float *s, float scale, int queries, int keys)
{
    int j = blockIdx.x * 32 + threadIdx.x;
    // TODO: tiles of 32 queries and 32 keys in shared memory, filled along the rows.
    for (int y = threadIdx.y; y < 32; y += 8) {
        int i = blockIdx.y * 32 + y;
        float sum = 0;
        if (i < queries && j < keys) {
            for (int p = 0; p < 32; p++)
                sum += q[i * 32 + p] * k[j * 32 + p];
            s[i * keys + j] = scale * sum;
        }
    }
}
