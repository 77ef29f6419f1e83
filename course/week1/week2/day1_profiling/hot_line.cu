// hot_line: out[r][c] = gain[c] * in[r][c], and the same once more the other way round: turned[c][r] =
// out[r][c]. in and out have rows x cols elements, turned has cols x rows.
//
// A block has 32 x 8 threads and makes 32 x 32 elements. Both results are right. One of the four accesses
// takes nearly all the time: the profile says which. Leave the others as they are.
__global__ void hot_line(const float *in, const float *gain, float *out, float *turned, int rows, int cols)
{
    int c = blockIdx.x * 32 + threadIdx.x;
    int top = blockIdx.y * 32;
    // TODO: which of the accesses below is the slow one?
    for (int k = threadIdx.y; k < 32; k += 8) {
        int r = top + k;
        if (r < rows && c < cols) {
            float scaled = gain[c] * in[r * cols + c];
            out[r * cols + c] = scaled;
            turned[c * rows + r] = scaled;
        }
    }
}
