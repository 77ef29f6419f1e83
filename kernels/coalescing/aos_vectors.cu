/*
 * aos_vectors.cu: structures of 4, 8, .. fields, read four fields at a time by 16-byte loads. With
 * four fields a structure is one load, and a warp's 512 bytes are contiguous: the layout costs
 * nothing. With eight, each request uses half of every sector that it touches.
 */
// arch: sm_75
#include "device.h"
#define BLOCK 256 // tune: 128 256 512 1024

KERNEL __launch_bounds__(BLOCK) copy(const f32 *in, f32 *out, i64 n, i64 k)
{
    i64 i = global_thread();
    bool aligned = is_aligned(in, 16);
    if (i < n)
        for (i64 field = 0; field < k; field += 4) {
            const f32 *at = in + i * k + field;
            f32x4 v;
            if (aligned)
                v = load_f32x4(at);
            else
                v.x = at[0], v.y = at[1], v.z = at[2], v.w = at[3];
            out[field * n + i] = v.x;
            out[(field + 1) * n + i] = v.y;
            out[(field + 2) * n + i] = v.z;
            out[(field + 3) * n + i] = v.w;
        }
}
