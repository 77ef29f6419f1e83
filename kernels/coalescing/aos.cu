/*
 * aos.cu: all k fields of an array of structures, to a structure of arrays. Each thread has a
 * structure and reads one field after another: k requests of a stride of k, each of which touches
 * the same sectors again. What saves it is the L1, as long as it holds them.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024

KERNEL __launch_bounds__(BLOCK) copy(const f32 *in, f32 *out, i64 n, i64 k)
{
    i64 i = global_thread();
    if (i < n)
        for (i64 field = 0; field < k; field++)
            out[field * n + i] = in[i * k + field];
}
