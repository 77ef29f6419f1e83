// attend: out[i] = the sum of w[j] * v[j], where w is the softmax of scale * q[i] . k[j]. Rows have 32 numbers; at most
// 1024 keys.
//
// A block of 128 threads has one query. Here 32 threads compute all scores on their own, three times over, with the
// exponentials. The result is right.
__global__ void attend(const float *q, const float *k, const float *v, float *out, float scale, int keys)
{
    int c = threadIdx.x;
    const float *query = q + blockIdx.x * 32;
    // TODO: all scores once, into shared memory, a warp for each key; then the softmax; then the sum over v.
    if (c >= 32)
        return;
    float largest = -INFINITY, sum = 0, total = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < keys; j++) {
            float s = 0;
            for (int p = 0; p < 32; p++)
                s += query[p] * k[j * 32 + p];
            s *= scale;
            if (pass == 0) {
                largest = fmaxf(largest, s);
            } else {
                sum += expf(s - largest);
                total += expf(s - largest) * v[j * 32 + c];
            }
        }
    out[blockIdx.x * 32 + c] = total / sum;
}
