/*
 * blelloch.cu: the work-efficient scan: sums go up a tree and prefixes come down, 2n additions in
 * place of n log n. A word of padding after every 32 keeps the tree's strides off one bank.
 */
// arch: sm_75
#ifndef EACH
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024
#define PADDED(i) ((i) + (i) / 32)
#define EACH "blelloch.cu"
#include "each_type.h"
#else

/* A block scans BLOCK elements with half as many threads. */
KERNEL NAME(scan_blocks)(const T *in, i64 n, T *out, T *sums, i32 exclusive)
{
    __shared__ T tree[PADDED(BLOCK)];
    u32 thread = thread_x(), a = thread, b = thread + BLOCK / 2, stride = 1;
    i64 start = (i64)block_x() * BLOCK;
    T at_a = start + a < n ? in[start + a] : 0, at_b = start + b < n ? in[start + b] : 0;
    tree[PADDED(a)] = at_a;
    tree[PADDED(b)] = at_b;
    for (u32 working = BLOCK / 2; working > 0; working /= 2, stride *= 2) {
        sync_block();
        if (thread < working) {
            u32 left = stride * (2 * thread + 1) - 1, right = left + stride;
            tree[PADDED(right)] += tree[PADDED(left)];
        }
    }
    if (thread == 0) {
        sums[block_x()] = tree[PADDED(BLOCK - 1)];
        tree[PADDED(BLOCK - 1)] = 0;
    }
    for (u32 working = 1; working < BLOCK; working *= 2) {
        stride /= 2;
        sync_block();
        if (thread < working) {
            u32 left = stride * (2 * thread + 1) - 1, right = left + stride;
            T below = tree[PADDED(left)];
            tree[PADDED(left)] = tree[PADDED(right)];
            tree[PADDED(right)] += below;
        }
    }
    sync_block();
    if (start + a < n)
        out[start + a] = tree[PADDED(a)] + (exclusive ? 0 : at_a);
    if (start + b < n)
        out[start + b] = tree[PADDED(b)] + (exclusive ? 0 : at_b);
}
#include "add_sums.h"
#endif
