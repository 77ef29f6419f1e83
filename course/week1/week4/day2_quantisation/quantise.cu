// quantise: codes[r][c] = x[r][c] / scales[r], rounded to the nearest integer from -127 to 127; scales[r] = the largest |x| of
// row r, divided by 127. A block is one warp and has one row.
//
// Here one scale is made up for all rows, and digits are cut off.
__global__ void quantise(const float *x, signed char *codes, float *scales, int cols)
{
    int row = blockIdx.x * cols;
    float scale = 8.0f / 127;
    // TODO: the largest |x| of this row decides the scale; round to the nearest; and a row may be all zero.
    for (int c = threadIdx.x; c < cols; c += 32)
        codes[row + c] = (signed char)(x[row + c] / scale);
    if (threadIdx.x == 0)
        scales[blockIdx.x] = scale;
}
