// expect: wrong result for 
// The first 400 quads.
__global__ void dot4(const signed char *a, const signed char *b, int *out, int rows, int quads)
{
    int lane = threadIdx.x % 32, r = blockIdx.x * 4 + threadIdx.x / 32, sum = 0;
    if (r >= rows)
        return; // whole warps only
    for (int i = lane; i < min(quads, 400); i += 32)
        sum = __dp4a(((const int *)a)[r * quads + i], ((const int *)b)[i], sum);
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (lane == 0)
        out[r] = sum;
}
