// add_norm: y = x + r, and out = gain * y / sqrt(mean of y^2 + 1e-5), row by row: what stands between any two parts of a transformer. A block of 128
// threads has one row; rows have at most 4096 numbers.
//
// The sum of squares goes over x and r, and then the result goes over x and r again.
__global__ void add_norm(const float *x, const float *r, const float *gain, float *y, float *out, int cols)
{
    __shared__ float part[128];
    int t = threadIdx.x, row = blockIdx.x * cols;
    float sum = 0;
    // TODO: x and r are read twice. Keep y where it is cheap.
    for (int c = t; c < cols; c += 128)
        sum += (x[row + c] + r[row + c]) * (x[row + c] + r[row + c]);
    part[t] = sum;
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            part[t] += part[t + half];
    }
    __syncthreads();
    float scale = 1 / sqrtf(part[0] / cols + 0.00001f);
    for (int c = t; c < cols; c += 128) {
        float value = x[row + c] + r[row + c];
        y[row + c] = value;
        out[row + c] = gain[c] * value * scale;
    }
}
