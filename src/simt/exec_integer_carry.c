/*
 * exec_integer_carry.c: additions, subtractions and multiply-adds that write or read CC.CF.
 * The flag is a bit per lane in w->carry. It is the adder's carry: a subtraction adds y's
 * complement and the flag, so that the flag says "no borrow" after sub.cc, as on a GPU. PTX leaves
 * open what subc makes of the flag of add.cc; GPUs show this.
 */
#include "simt/exec.h"

simt_body *SIMT_NAME(integer_carry_select)(const struct simt_operands *operands);

static void keep_carry(struct simt_warp *w, uint32_t bits)
{
    w->carry = (w->carry & ~w->mask) | (bits & w->mask);
}

/* A row: name, type, and the two terms p + q made of x, y, z. The flag that goes in is CC.CF when
 * flag_in, otherwise the constant; it goes out when flag_out. Of the two steps at most one carries.
 */
#define WITH_FLAG(name, A, U, operands_are, first, second, constant, flag_in, flag_out)            \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        const A *xs = SIMT_SLOT(const A, in->a);                                                   \
        const A *ys = SIMT_SLOT(const A, in->b);                                                   \
        const U *zs = SIMT_SLOT(const U, operands_are == 3 ? in->c : in->a);                       \
        U *d = SIMT_SLOT(U, in->d);                                                                \
        U result[SIMT_LANES];                                                                      \
        uint32_t out[SIMT_LANES];                                                                  \
        uint32_t carry = flag_in ? w->carry : 0u - (constant), mask = w->mask;                     \
        SIMT_EACH_LANE                                                                             \
        {                                                                                          \
            A x = xs[i], y = ys[i];                                                                \
            U z = zs[i];                                                                           \
            (void)x, (void)y, (void)z;                                                             \
            U p = (U)(first), q = (U)(second), flag = carry >> i & 1;                              \
            U step = p + q;                                                                        \
            result[i] = step + flag;                                                               \
            out[i] = -(uint32_t)((step < p) | (result[i] < step));                                 \
        }                                                                                          \
        SIMT_EACH_LANE d[i] = mask >> i & 1 ? result[i] : d[i];                                    \
        if (flag_out)                                                                              \
            keep_carry(w, simt_movemask(out));                                                     \
        return in + 1;                                                                             \
    }

#define ALL_FLAGS(name, A, U, count, first, second, constant)                                      \
    WITH_FLAG(name##_out, A, U, count, first, second, constant, 0, 1)                              \
    WITH_FLAG(name##_in, A, U, count, first, second, constant, 1, 0)                               \
    WITH_FLAG(name##_in_out, A, U, count, first, second, constant, 1, 1)

ALL_FLAGS(add_32, uint32_t, uint32_t, 2, x, y, 0u)
ALL_FLAGS(add_64, uint64_t, uint64_t, 2, x, y, 0u)
ALL_FLAGS(sub_32, uint32_t, uint32_t, 2, x, ~y, 1u)
ALL_FLAGS(sub_64, uint64_t, uint64_t, 2, x, ~y, 1u)
ALL_FLAGS(mad_lo_32, uint32_t, uint32_t, 3, x *y, z, 0u)
ALL_FLAGS(mad_lo_64, uint64_t, uint64_t, 3, x *y, z, 0u)
ALL_FLAGS(mad_hi_u32, uint32_t, uint32_t, 3, (uint64_t)x *y >> 32, z, 0u)
ALL_FLAGS(mad_hi_s32, int32_t, uint32_t, 3, (int64_t)x *y >> 32, z, 0u)
ALL_FLAGS(mad_hi_u64, uint64_t, uint64_t, 3, (unsigned __int128)x *y >> 64, z, 0u)
ALL_FLAGS(mad_hi_s64, int64_t, uint64_t, 3, (__int128)x *y >> 64, z, 0u)

#define BY_FLAGS(name) (!reads ? name##_out : writes ? name##_in_out : name##_in)

simt_body *SIMT_NAME(integer_carry_select)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    enum ptx_type type = ptx->types[0];
    bool wide = ptx_type_bits(type) == 64;
    bool is_signed = ptx_type_kind(type) == PTX_KIND_SIGNED;
    bool writes = ptx_has(ptx, PTX_MOD_CC);
    bool reads = ptx->op == PTX_OP_ADDC || ptx->op == PTX_OP_SUBC || ptx->op == PTX_OP_MADC;

    switch (ptx->op) {
    case PTX_OP_ADD_CC:
    case PTX_OP_ADDC:
        return wide ? BY_FLAGS(add_64) : BY_FLAGS(add_32);
    case PTX_OP_SUB_CC:
    case PTX_OP_SUBC:
        return wide ? BY_FLAGS(sub_64) : BY_FLAGS(sub_32);
    case PTX_OP_MAD_CC:
    case PTX_OP_MADC:
        if (!ptx_has(ptx, PTX_MOD_HI))
            return wide ? BY_FLAGS(mad_lo_64) : BY_FLAGS(mad_lo_32);
        if (is_signed)
            return wide ? BY_FLAGS(mad_hi_s64) : BY_FLAGS(mad_hi_s32);
        return wide ? BY_FLAGS(mad_hi_u64) : BY_FLAGS(mad_hi_u32);
    default:
        return NULL;
    }
}
