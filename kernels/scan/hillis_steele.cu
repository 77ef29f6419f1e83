/*
 * hillis_steele.cu: in each of log2(block) steps every thread adds the element so far before it.
 * Simple and regular, but n log n additions. Blocks are scanned, then their sums in the same way,
 * and a second kernel adds those: 4n bytes.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define EACH "hillis_steele.cu"
#include "each_type.h"
#else

KERNEL NAME(scan_blocks)(const T *in, i64 n, T *out, T *sums, i32 exclusive)
{
    __shared__ T buffer[2][BLOCK];
    u32 thread = thread_x(), from = 0;
    i64 i = global_thread();
    T mine = i < n ? in[i] : 0;
    buffer[0][thread] = mine;
    sync_block();
    for (u32 distance = 1; distance < BLOCK; distance *= 2) {
        T sum = buffer[from][thread];
        if (thread >= distance)
            sum += buffer[from][thread - distance];
        from = 1 - from;
        buffer[from][thread] = sum;
        sync_block();
    }
    if (i < n)
        out[i] = !exclusive ? buffer[from][thread] : thread ? buffer[from][thread - 1] : 0;
    if (thread == BLOCK - 1)
        sums[block_x()] = buffer[from][thread];
}
#include "add_sums.h"
#endif
