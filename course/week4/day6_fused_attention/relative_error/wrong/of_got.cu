// Divides by the size of the wrong one.
__global__ void relative_error(const float *got, const float *exact, float *error, int cols)
{
    int lane = threadIdx.x;
    float off = 0, size = 0;
    for (int c = lane; c < cols; c += 32) {
        float e = exact[blockIdx.x * cols + c], d = got[blockIdx.x * cols + c] - e;
        off += d * d;
        size += (d + e) * (d + e);
    }
    for (int step = 16; step > 0; step /= 2) {
        off += __shfl_xor_sync(0xffffffff, off, step);
        size += __shfl_xor_sync(0xffffffff, size, step);
    }
    if (lane == 0)
        error[blockIdx.x] = sqrtf(off / size);
}
