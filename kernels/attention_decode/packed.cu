/*
 * packed.cu: each byte of K and V is read once. All heads of a group, and all queries, are the rows
 * of one product on tensor cores: mma.sync has 16 of them anyway. A warp goes through tiles of 16
 * keys by itself, with cp.async keeping its next tiles under way and no barrier of the block in the
 * loop; four warps put their results together when an item ends, while the next item's tiles come
 * in. All blocks have the same number of tiles to go through (share.h), whatever the lengths of the
 * sequences; a second kernel puts together what several blocks had a share of.
 */
// arch: sm_80
#include "packed.h"

/* Kernels of a stream run one after the other. */
static __device__ __forceinline__ void let_next_begin(void)
{
}
static __device__ __forceinline__ void wait_for_previous(void)
{
}
DECODES(bf16)
DECODES(f16)
