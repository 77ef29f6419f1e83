/*
 * warp.cu: the run that the picture of warp execution draws for a learner who has none: day 3's kernel
 * as it is given, whose lanes take turns, with a last warp that is cut.
 */
#include "../../../course/week1/day3_how_gpus_work/two_ways/exercise.cu"

int main(void)
{
    int n = 120, terms = 2;
    float *x, *w, *y;
    cudaMalloc((void **)&x, n * sizeof(float));
    cudaMalloc((void **)&w, terms * sizeof(float));
    cudaMalloc((void **)&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    cudaMemset(w, 0, terms * sizeof(float));
    two_ways<<<1, 128>>>(x, w, y, n, terms);
    return cudaDeviceSynchronize() != cudaSuccess;
}
