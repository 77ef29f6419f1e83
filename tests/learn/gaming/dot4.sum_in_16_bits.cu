// expect: wrong result for rows=[0-9]+ quads=[0-9]+: out
// dot4: sums of 16 bits in halves of a word
__global__ void dot4(const signed char *a, const signed char *b, int *out, int rows, int quads)
{
    int lane = threadIdx.x % 32, r = blockIdx.x * 4 + threadIdx.x / 32, sum = 0;
    if (r >= rows)
        return;
    for (int i = lane; i < quads; i += 32)
        sum = (int)(short)__dp4a(((const int *)a)[r * quads + i], ((const int *)b)[i], sum);
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (lane == 0)
        out[r] = sum;
}
