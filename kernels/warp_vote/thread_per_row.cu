/*
 * thread_per_row.cu: one thread walks each row, as a CPU would. The threads of a warp read 128
 * bytes apart, and for groups each compares every pair.
 */
// arch: sm_75
#define BLOCK 128 // tune: 64 128 256

extern "C" __global__ void __launch_bounds__(BLOCK)
    compact(const int *in, long long rows, unsigned, int *out, int *sizes)
{
    long long row = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows)
        return;
    int count = 0;
    for (int i = 0; i < 32; i++)
        if (in[row * 32 + i])
            out[row * 32 + count++] = in[row * 32 + i];
    for (int i = count; i < 32; i++)
        out[row * 32 + i] = 0;
    sizes[row] = count;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    group(const int *in, long long rows, unsigned, int *out, int *sizes)
{
    long long row = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows)
        return;
    int distinct = 0;
    for (int i = 0; i < 32; i++) {
        int before = 0;
        for (int j = 0; j < i; j++)
            before += in[row * 32 + j] == in[row * 32 + i];
        out[row * 32 + i] = before;
        distinct += before == 0;
    }
    sizes[row] = distinct;
}
