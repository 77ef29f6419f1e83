/*
 * banks.cu: the run that the picture of bank conflicts draws for a learner who has none: a transpose
 * through a tile whose rows are 32 words long, so that a column lies in one bank.
 */
#include "../../../course/week1/day7_fast_memory/transpose/wrong/no_padding.cu"

int main(void)
{
    int rows = 128, cols = 256;
    size_t bytes = (size_t)rows * cols * sizeof(float);
    float *in, *out;
    cudaMalloc((void **)&in, bytes);
    cudaMalloc((void **)&out, bytes);
    cudaMemset(in, 0, bytes);
    transpose<<<dim3(cols / 32, rows / 32), dim3(32, 8)>>>(in, out, rows, cols);
    return cudaDeviceSynchronize() != cudaSuccess;
}
