// expect: wrong result for rows=[0-9]+ cols=[0-9]+: out.*never written
__global__ void row_walk(const float *in, float *out, int rows, int cols)
{
    int whole = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned short i = whole;
    if (whole >= rows * cols)
        return;
    int r = i / cols;
    int c = i % cols;
    out[r * cols + c] = 2 * in[r * cols + c];
}
