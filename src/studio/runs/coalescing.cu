/*
 * coalescing.cu: the run that the picture of coalescing draws for a learner who has none: a warp walks
 * down a column, so that each lane needs a sector of its own.
 */
#include "../../../course/week1/day7_fast_memory/row_walk/exercise.cu"

int main(void)
{
    int rows = 256, cols = 128;
    size_t bytes = (size_t)rows * cols * sizeof(float);
    float *in, *out;
    cudaMalloc((void **)&in, bytes);
    cudaMalloc((void **)&out, bytes);
    cudaMemset(in, 0, bytes);
    row_walk<<<rows * cols / 256, 256>>>(in, out, rows, cols);
    return cudaDeviceSynchronize() != cudaSuccess;
}
