/*
 * wide.h: four neighbouring elements of a row at a time, for matmul kernels that come in two forms:
 * wide, where all rows begin at multiples of 16 bytes, and any, which goes element by element.
 * Include after tile.h.
 */

DEVICE f32 part(f32x4 v, u32 i)
{
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

DEVICE f32x4 four_elements(matrix x, i64 row, i64 column, bool wide)
{
    f32x4 v = {0, 0, 0, 0};
    if (wide) { /* all four are inside, or none is */
        if (row < x.rows && column < x.columns)
            v = load_f32x4(x.at + row * x.columns + column);
        return v;
    }
    v.x = element(x, row, column);
    v.y = element(x, row, column + 1);
    v.z = element(x, row, column + 2);
    v.w = element(x, row, column + 3);
    return v;
}

DEVICE void put_four(f32 *to, i64 rows, i64 columns, i64 row, i64 column, const f32 value[4],
                     bool wide)
{
    if (row >= rows || column >= columns)
        return;
    f32 *at = to + row * columns + column;
    if (wide) {
        f32x4 v = {value[0], value[1], value[2], value[3]};
        store_stream_f32x4(at, v);
        return;
    }
#pragma unroll
    for (u32 i = 0; i < 4; i++)
        if (column + i < columns)
            at[i] = value[i];
}
