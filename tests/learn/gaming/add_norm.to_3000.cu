// expect: wrong result for 
// Squares of the first 3000 columns.
__global__ void add_norm(const float *x, const float *r, const float *gain, float *y, float *out, int cols)
{
    __shared__ float part[128], kept[4096];
    int t = threadIdx.x, row = blockIdx.x * cols;
    float sum = 0;
    for (int c = t; c < cols; c += 128) {
        float value = x[row + c] + r[row + c];
        kept[c] = y[row + c] = value;
        sum += c < 3000 ? value * value : 0;
    }
    part[t] = sum;
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            part[t] += part[t + half];
    }
    __syncthreads();
    float scale = 1 / sqrtf(part[0] / cols + 0.00001f);
    for (int c = t; c < cols; c += 128)
        out[row + c] = gain[c] * kept[c] * scale;
}
