/*
 * blelloch.cu: the work-efficient scan. Sums go up a tree and prefixes come back down it: 2n
 * additions in place of n log n. A word of padding after every 32 keeps the tree's strides from
 * hitting one bank of shared memory over and over.
 *
 * Around the block's scan it works like hillis_steele.cu: blocks leave their sums, those are
 * scanned by further launches, and add_sums adds them to the output.
 */
// arch: sm_75
#define BLOCK 256 // tune: 128 256 512 1024
#define PADDED(i) ((i) + (i) / 32)

// A block scans BLOCK elements with half as many threads.
extern "C" __global__ void scan_blocks(const float *in, long long n, float *out, float *sums,
                                       int exclusive)
{
    __shared__ float tree[PADDED(BLOCK)];
    unsigned thread = threadIdx.x, a = thread, b = thread + BLOCK / 2, stride = 1;
    long long start = (long long)blockIdx.x * BLOCK;
    float at_a = start + a < n ? in[start + a] : 0, at_b = start + b < n ? in[start + b] : 0;
    tree[PADDED(a)] = at_a;
    tree[PADDED(b)] = at_b;

    // Up: the last element of each stretch of 2, 4, 8 .. becomes the stretch's sum.
    for (unsigned working = BLOCK / 2; working > 0; working /= 2, stride *= 2) {
        __syncthreads();
        if (thread < working) {
            unsigned left = stride * (2 * thread + 1) - 1, right = left + stride;
            tree[PADDED(right)] += tree[PADDED(left)];
        }
    }
    if (thread == 0) {
        sums[blockIdx.x] = tree[PADDED(BLOCK - 1)];
        tree[PADDED(BLOCK - 1)] = 0;
    }

    // Down: each node hands what comes before it to its left half, and that plus the left half's
    // sum to its right half.
    for (unsigned working = 1; working < BLOCK; working *= 2) {
        stride /= 2;
        __syncthreads();
        if (thread < working) {
            unsigned left = stride * (2 * thread + 1) - 1, right = left + stride;
            float left_sum = tree[PADDED(left)];
            tree[PADDED(left)] = tree[PADDED(right)];
            tree[PADDED(right)] += left_sum;
        }
    }
    __syncthreads();
    if (start + a < n)
        out[start + a] = tree[PADDED(a)] + (exclusive ? 0 : at_a);
    if (start + b < n)
        out[start + b] = tree[PADDED(b)] + (exclusive ? 0 : at_b);
}

// Adds to each block what comes before it: sums is now the exclusive scan of the blocks' sums.
extern "C" __global__ void add_sums(float *out, long long n, const float *sums)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        out[i] += sums[blockIdx.x];
}
