/*
 * warp.cu: the run that the picture of warp execution draws for a learner who has none: rows of 0 to 7
 * values in no order, so that lanes leave the loop one after the other, and a last warp that is cut.
 */
#include "ragged_rows.cu"


enum { ROWS = 120, LONGEST = 7 };

int main(void)
{
    int host_first[ROWS + 1] = {0}, *first;
    float host_values[ROWS * LONGEST], *values, *mean;
    for (int i = 0; i < ROWS; i++)
        host_first[i + 1] = host_first[i] + (i * 5 + i / 8 * 3) % (LONGEST + 1);
    for (int i = 0; i < host_first[ROWS]; i++)
        host_values[i] = i % 10;
    cudaMalloc((void **)&first, sizeof host_first);
    cudaMalloc((void **)&values, sizeof host_values);
    cudaMalloc((void **)&mean, ROWS * sizeof(float));
    cudaMemcpy(first, host_first, sizeof host_first, cudaMemcpyHostToDevice);
    cudaMemcpy(values, host_values, host_first[ROWS] * sizeof(float), cudaMemcpyHostToDevice);
    ragged_rows<<<1, 128>>>(first, values, mean, ROWS);
    return cudaDeviceSynchronize() != cudaSuccess;
}
