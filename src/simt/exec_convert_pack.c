/*
 * exec_convert_pack.c: cvt to and from formats that are packed or have no arithmetic of their own:
 * f16x2 and bf16x2 from two f32, tf32, the 8-bit floats e4m3 and e5m2, and cvt.pack of integers.
 * Of two sources the first goes to the upper half. .relu and .satfinite clamp before rounding,
 * which gives the same as after it: both bounds are numbers of the format.
 */
#include "simt/exec.h"
#include "simt/num_format.h"
#include "simt/num_half.h"
#include "simt/num_lanes.h"

simt_body *SIMT_NAME(convert_pack_select)(const struct simt_operands *operands);

/* f16, bf16
 * ----------------------------------------------------------------------------------------- */

static void clamp_source(const struct ptx_inst *ptx, float *d, const float *s, float largest)
{
    bool relu = ptx_has(ptx, PTX_MOD_RELU), satfinite = ptx_has(ptx, PTX_MOD_SATFINITE);
    SIMT_EACH_LANE d[i] = s[i];
    if (relu) {
        SIMT_EACH_LANE d[i] = num_f32_relu(d[i]);
    }
    if (satfinite) {
        SIMT_EACH_LANE
        {
            d[i] = d[i] > largest ? largest : d[i];
            d[i] = d[i] < -largest ? -largest : d[i];
        }
    }
}
static bool is_bf16(const struct ptx_inst *ptx)
{
    return ptx->types[0] == PTX_BF16 || ptx->types[0] == PTX_BF16X2;
}
/* 32 values of one source, in the order of the lanes. */
static void narrow_source(const struct ptx_inst *ptx, uint16_t *d, const float *s)
{
    bool rz = ptx_has(ptx, PTX_MOD_RZ);
    float clamped[SIMT_LANES];
    if (is_bf16(ptx)) {
        clamp_source(ptx, clamped, s, 0x1.fep127f);
        (rz ? num_bf16_narrow_rz_all : num_bf16_narrow_all)(d, clamped, SIMT_LANES);
    } else {
        clamp_source(ptx, clamped, s, 65504.0f);
        (rz ? num_f16_narrow_rz_all : num_f16_narrow_all)(d, clamped, SIMT_LANES);
    }
}
SIMT_BODY(narrow_one)
{
    uint16_t results[SIMT_LANES];
    narrow_source(in->ptx, results, SIMT_SLOT(const float, in->a));
    return num_store_16(w, in, results);
}
SIMT_BODY(narrow_two)
{
    uint16_t high[SIMT_LANES], low[SIMT_LANES];
    uint32_t results[SIMT_LANES];
    narrow_source(in->ptx, high, SIMT_SLOT(const float, in->a));
    narrow_source(in->ptx, low, SIMT_SLOT(const float, in->b));
    SIMT_EACH_LANE results[i] = (uint32_t)high[i] << 16 | low[i];
    return num_store_32(w, in, results);
}

/* The usual case, nearest without clamps. */
#define PACK_TWO(format)                                                                           \
    SIMT_BODY(two_##format)                                                                        \
    {                                                                                              \
        uint16_t high[SIMT_LANES], low[SIMT_LANES];                                                \
        uint32_t results[SIMT_LANES];                                                              \
        num_##format##_narrow_all(high, SIMT_SLOT(const float, in->a), SIMT_LANES);                \
        num_##format##_narrow_all(low, SIMT_SLOT(const float, in->b), SIMT_LANES);                 \
        SIMT_EACH_LANE results[i] = (uint32_t)high[i] << 16 | low[i];                              \
        return num_store_32(w, in, results);                                                       \
    }
PACK_TWO(f16)
PACK_TWO(bf16)

/* tf32: an f32 with 13 bits less
 * ----------------------------------------------------------------------- */

#define TF32_LARGEST 0x7f7fe000u
#define TF32_NAN 0x7fffe000u
static inline uint32_t tf32_finish(uint32_t source, uint32_t rounded, uint32_t nan, bool relu,
                                   bool satfinite)
{
    uint32_t sign = source & NUM_F32_SIGN, magnitude = rounded & 0x7fffe000;
    magnitude = satfinite && magnitude > TF32_LARGEST ? TF32_LARGEST : magnitude;
    uint32_t result = relu && sign ? 0 : sign | magnitude;
    return (source & 0x7fffffff) > NUM_F32_INF ? nan : result;
}
#define PACK_TF32(name, expression, nan)                                                           \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        const uint32_t *xs = SIMT_SLOT(const uint32_t, in->a);                                     \
        bool relu = ptx_has(in->ptx, PTX_MOD_RELU);                                                \
        bool satfinite = ptx_has(in->ptx, PTX_MOD_SATFINITE);                                      \
        uint32_t *d = SIMT_SLOT(uint32_t, in->d);                                                  \
        SIMT_STORE_LANES(uint32_t, ({                                                              \
                             uint32_t x = xs[i];                                                   \
                             tf32_finish(x, expression, nan, relu, satfinite);                     \
                         }))                                                                       \
    }
PACK_TF32(tf32_rna, x + 0x1000, x & 0xffffe000) /* of a NaN too the lower bits go */
PACK_TF32(tf32_rn, x + 0xfff + (x >> 13 & 1), TF32_NAN)
PACK_TF32(tf32_rz, x, TF32_NAN)

/* 8-bit floats
 * ------------------------------------------------------------------------------------------ */

static uint32_t to_f8(const struct ptx_inst *ptx, const struct num_format *format, float x)
{
    if (ptx_has(ptx, PTX_MOD_RELU))
        x = num_f32_relu(x);
    return (uint32_t)num_from_f64_satfinite(format, (double)x, NUM_RN);
}
static const struct num_format *f8_format(enum ptx_type type)
{
    return type == PTX_E4M3X2 ? &num_e4m3 : &num_e5m2;
}
SIMT_BODY(f8_from_f32)
{
    const float *xs = SIMT_SLOT(const float, in->a), *ys = SIMT_SLOT(const float, in->b);
    const struct num_format *format = f8_format(in->ptx->types[0]);
    uint16_t results[SIMT_LANES];
    for (int i = 0; i < SIMT_LANES; i++)
        results[i] = (uint16_t)(to_f8(in->ptx, format, xs[i]) << 8 | to_f8(in->ptx, format, ys[i]));
    return num_store_16(w, in, results);
}
SIMT_BODY(f8_from_f16)
{
    const uint32_t *xs = SIMT_SLOT(const uint32_t, in->a);
    const struct num_format *format = f8_format(in->ptx->types[0]);
    uint16_t results[SIMT_LANES];
    for (int i = 0; i < SIMT_LANES; i++) {
        uint32_t high = to_f8(in->ptx, format, num_f16_widen((uint16_t)(xs[i] >> 16)));
        uint32_t low = to_f8(in->ptx, format, num_f16_widen((uint16_t)xs[i]));
        results[i] = (uint16_t)(high << 8 | low);
    }
    return num_store_16(w, in, results);
}

/* As f16 bits; f16 holds every 8-bit float. */
static inline uint32_t f16_from_e5m2(uint32_t byte)
{
    uint32_t half = byte << 8;
    return (byte & 0x7f) > 0x7c ? NUM_F16_NAN : half;
}
static inline uint32_t f16_from_e4m3(uint32_t byte)
{
    uint32_t sign = (byte & 0x80) << 8, magnitude = byte & 0x7f;
    float value = num_f32_from(magnitude << 20) * 0x1p120f;
    uint32_t normal = ((num_f32_bits(value) - 0x38000000) >> 13) & 0x7fff;
    uint32_t half = magnitude == 0 ? sign : sign | normal;
    return magnitude == 0x7f ? NUM_F16_NAN : half;
}
static inline uint32_t relu_f16(uint32_t half, bool relu)
{
    return relu && half & 0x8000 ? 0 : half;
}
#define PACK_F16_FROM(name, expression)                                                            \
    SIMT_BODY(name)                                                                                \
    {                                                                                              \
        const uint16_t *xs = SIMT_SLOT(const uint16_t, in->a);                                     \
        bool relu = ptx_has(in->ptx, PTX_MOD_RELU);                                                \
        uint32_t *d = SIMT_SLOT(uint32_t, in->d);                                                  \
        SIMT_STORE_LANES(uint32_t, relu_f16(expression(xs[i] >> 8), relu) << 16 |                  \
                                       relu_f16(expression(xs[i] & 0xff), relu))                   \
    }
PACK_F16_FROM(f16x2_from_e4m3x2, f16_from_e4m3)
PACK_F16_FROM(f16x2_from_e5m2x2, f16_from_e5m2)

/* cvt.pack.sat: clamped to n bits, a above b, both below what remains of c.
 * ----------------------------- */

static inline uint32_t clamp_bits(int32_t x, int32_t low, int32_t high)
{
    return (uint32_t)(x < low ? low : x > high ? high : x);
}
#define PACK_INT(name, n, low, high)                                                               \
    SIMT_MAP2(name, uint32_t, int32_t, int32_t,                                                    \
              (clamp_bits(x, low, high) & ((1u << n) - 1)) << n |                                  \
                  (clamp_bits(y, low, high) & ((1u << n) - 1)))
#define PACK_INT_C(name, n, low, high)                                                             \
    SIMT_MAP3(name, uint32_t, int32_t, int32_t, uint32_t,                                          \
              z << (2 * n) | (clamp_bits(x, low, high) & ((1u << n) - 1)) << n |                   \
                  (clamp_bits(y, low, high) & ((1u << n) - 1)))
PACK_INT(pack_u16, 16, 0, 65535)
PACK_INT(pack_s16, 16, -32768, 32767)
PACK_INT_C(pack_u8, 8, 0, 255)
PACK_INT_C(pack_s8, 8, -128, 127)
PACK_INT_C(pack_u4, 4, 0, 15)
PACK_INT_C(pack_s4, 4, -8, 7)
PACK_INT_C(pack_u2, 2, 0, 3)
PACK_INT_C(pack_s2, 2, -2, 1)

static simt_body *select_pack(enum ptx_type type)
{
    switch (type) {
    case PTX_U16:
        return pack_u16;
    case PTX_S16:
        return pack_s16;
    case PTX_U8:
        return pack_u8;
    case PTX_S8:
        return pack_s8;
    case PTX_U4:
        return pack_u4;
    case PTX_S4:
        return pack_s4;
    case PTX_U2:
        return pack_u2;
    case PTX_S2:
        return pack_s2;
    default:
        return NULL;
    }
}

simt_body *SIMT_NAME(convert_pack_select)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    bool is_plain = !ptx_has(ptx, PTX_MOD_RZ) && !ptx_has(ptx, PTX_MOD_RELU) &&
                    !ptx_has(ptx, PTX_MOD_SATFINITE);
    switch (ptx->op) {
    case PTX_OP_CVT_NARROW:
        return narrow_one;
    case PTX_OP_CVT_PACK2:
        if (!is_plain)
            return narrow_two;
        return is_bf16(ptx) ? two_bf16 : two_f16;
    case PTX_OP_CVT_TF32:
        if (ptx_has(ptx, PTX_MOD_RNA))
            return ptx_has(ptx, PTX_MOD_RELU) ? NULL : tf32_rna;
        return ptx_has(ptx, PTX_MOD_RZ) ? tf32_rz : tf32_rn;
    case PTX_OP_CVT_F8_F32:
        return f8_from_f32;
    case PTX_OP_CVT_F8_F16:
        return f8_from_f16;
    case PTX_OP_CVT_F16_F8:
        return ptx->types[1] == PTX_E4M3X2 ? f16x2_from_e4m3x2 : f16x2_from_e5m2x2;
    case PTX_OP_CVT_PACK:
    case PTX_OP_CVT_PACK_C:
        return select_pack(ptx->types[0]);
    default:
        return NULL;
    }
}
