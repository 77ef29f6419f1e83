/*
 * wide.h: four neighbouring elements of a row at a time, for the kernels that come in two
 * forms: WIDE, where every row begins at a multiple of 16 bytes, and the other, which goes element
 * by element. Outside a matrix all elements are zero, and nothing is stored there.
 */
struct matrix {
    const float *at; // [rows][columns]
    long long rows, columns;
};

template <bool WIDE>
static __device__ __forceinline__ float4 load_four(matrix x, long long row, long long column)
{
    float4 v = make_float4(0, 0, 0, 0);
    const float *at = x.at + row * x.columns + column;
    if (row >= x.rows || column >= x.columns)
        return v;
    if (WIDE) { /* the number of columns is a multiple of 4: all four are inside */
        v = *(const float4 *)at;
    } else {
        v.x = at[0];
        v.y = column + 1 < x.columns ? at[1] : 0.0f;
        v.z = column + 2 < x.columns ? at[2] : 0.0f;
        v.w = column + 3 < x.columns ? at[3] : 0.0f;
    }
    return v;
}

template <bool WIDE>
static __device__ __forceinline__ void store_four(float *to, long long rows, long long columns,
                                                  long long row, long long column,
                                                  const float value[4])
{
    float *at = to + row * columns + column;
    if (row >= rows || column >= columns)
        return;
    if (WIDE) {
        __stcs((float4 *)at, make_float4(value[0], value[1], value[2], value[3]));
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (column + i < columns)
                at[i] = value[i];
    }
}
