/*
 * scan_warp.h: what the scans of one element type share: vectors of four, and sums within a warp.
 */
#define JOIN2(a, b) a##_##b
#define NAME2(a, b) JOIN2(a, b)
#define NAME(stem)  NAME2(stem, T_NAME)
#define UP(x, lanes)     NAME(shuffle_up)(x, lanes)
#define OF_LANE(x, lane) NAME(shuffle)(x, lane)

typedef struct __align__(16) {
    T x, y, z, w;
} NAME(vector);
#define T4 NAME(vector)

/* The sum up to and with this lane. */
DEVICE T NAME(scan_warp)(T mine)
{
    u32 lane = lane_id();
    for (u32 lanes = 1; lanes < 32; lanes *= 2) {
        T below = UP(mine, lanes);
        if (lane >= lanes)
            mine += below;
    }
    return mine;
}
#define SCAN_WARP(x) NAME(scan_warp)(x)

/* Every lane gets the sum, and the same bits. */
DEVICE T NAME(sum_warp)(T mine)
{
    for (u32 lanes = 16; lanes > 0; lanes /= 2)
        mine += NAME(shuffle_xor)(mine, lanes);
    return mine;
}
#define SUM_WARP(x) NAME(sum_warp)(x)

/* Four neighbours that lie in memory from at on, of which the first left are there: the rest is
 * zero, or is not written. */
DEVICE T4 NAME(load4)(const T *at, i64 left, bool aligned)
{
    T4 v = {0, 0, 0, 0};
    if (aligned && left >= 4) {
        u32x4 words = load_stream_u32x4(at);
        v.x = FROM_BITS(words.x);
        v.y = FROM_BITS(words.y);
        v.z = FROM_BITS(words.z);
        v.w = FROM_BITS(words.w);
    } else {
        if (left > 0)
            v.x = at[0];
        if (left > 1)
            v.y = at[1];
        if (left > 2)
            v.z = at[2];
        if (left > 3)
            v.w = at[3];
    }
    return v;
}
#define LOAD4(at, left, aligned) NAME(load4)(at, left, aligned)

DEVICE void NAME(store4)(T *at, i64 left, bool aligned, T4 v)
{
    if (aligned && left >= 4) {
        f32x4 words = {f32_from_bits(BITS(v.x)), f32_from_bits(BITS(v.y)), f32_from_bits(BITS(v.z)),
                       f32_from_bits(BITS(v.w))};
        store_stream_f32x4(at, words);
    } else {
        if (left > 0)
            at[0] = v.x;
        if (left > 1)
            at[1] = v.y;
        if (left > 2)
            at[2] = v.z;
        if (left > 3)
            at[3] = v.w;
    }
}
#define STORE4(at, left, aligned, v) NAME(store4)(at, left, aligned, v)

/* Four elements to their sums from before them on, each with itself or without. */
DEVICE T4 NAME(scan4)(T4 v, T before, bool exclusive)
{
    T x = before + v.x, y = x + v.y, z = y + v.z, w = z + v.w;
    T4 with = {x, y, z, w}, without = {before, x, y, z};
    return exclusive ? without : with;
}
