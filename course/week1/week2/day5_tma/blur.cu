// blur: out[r][c] = the sum of the 3 x 3 elements around in[r][c]; what lies outside of the matrix counts as 0.
// cols is a multiple of 4.
//
// A block has 32 x 8 threads and makes 32 x 32 elements. Every thread loads nine numbers for each of its
// elements and asks four questions about the edge. `map` describes the matrix in tiles of 34 rows and 40
// columns, which the TMA unit can fetch; what lies outside comes as 0.
#include "tma.h"

__global__ void blur(const __grid_constant__ tensor_map map, const float *in, float *out, int rows, int cols)
{
    int c = blockIdx.x * 32 + threadIdx.x;
    // TODO: fetch the tile that begins one row above and four columns left of the block's, and drop the edges.
    for (int y = threadIdx.y; y < 32; y += 8) {
        int r = blockIdx.y * 32 + y;
        float sum = 0;
        for (int i = r - 1; i <= r + 1; i++)
            for (int j = c - 1; j <= c + 1; j++)
                if (i >= 0 && i < rows && j >= 0 && j < cols)
                    sum += in[i * cols + j];
        if (r < rows && c < cols)
            out[r * cols + c] = sum;
    }
}
