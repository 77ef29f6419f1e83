// fragments: c = a * b. a has m x k elements, b has k x n, in f16; c has m x n, in f32. All lie row by row, and m,
// n and k are multiples of 16.
//
// A block is one warp and makes 16 x 16 elements of c: eight for each lane, as a dot product each. A tensor core
// can multiply two matrices of 16 x 16 elements in one call.
#include <mma.h>
using namespace nvcuda;

__global__ void fragments(const half *a, const half *b, float *c, int m, int n, int k)
{
    int top = blockIdx.y * 16, left = blockIdx.x * 16;
    // TODO: three fragments: of a, of b, and the sums. Fill the sums with 0, go through k in steps of 16.
    for (int i = threadIdx.x; i < 256; i += 32) {
        int row = top + i / 16, col = left + i % 16;
        float sum = 0;
        for (int p = 0; p < k; p++)
            sum += (float)a[row * k + p] * (float)b[p * n + col];
        c[row * n + col] = sum;
    }
}
