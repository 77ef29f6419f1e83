// expect: assertion
#include <assert.h>
// col_sums: an assertion ends the block where it would be wrong
__global__ void col_sums(const float *x, float *s, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    assert(rows <= 48);
    if (c >= cols)
        return;
    float sum = 0;
    for (int r = 0; r < rows && r < 48; r++)
        sum += x[r * cols + c];
    s[c] = sum;
}
