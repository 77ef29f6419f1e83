/*
 * exec_approx.c: the .approx and .full instructions.
 * PTX gives them an error bound, not a value; num_approx.h says how near ours are. Zeros,
 * infinities, NaNs and subnormal numbers are as PTX's tables have them.
 */
#include "simt/exec.h"
#include "simt/num.h"
#include "simt/num_approx.h"

#define F(x) num_f32_flush(x)

#define APPROX_ROW1(name, function)                                                                \
    SIMT_MAP1(name, float, float, function(x))                                                     \
    SIMT_MAP1(name##_ftz, float, float, F(function(F(x))))

static inline float rcp_of(float x)
{
    return num_f32(1.0f / x);
}
static inline float sqrt_of(float x)
{
    return num_f32(__builtin_sqrtf(x));
}
APPROX_ROW1(rcp, rcp_of)
APPROX_ROW1(sqrt_, sqrt_of)
APPROX_ROW1(rsqrt, num_rsqrt_f32)
APPROX_ROW1(sin_, num_sin_f32)
APPROX_ROW1(cos_, num_cos_f32)
APPROX_ROW1(lg2, num_lg2_f32)
APPROX_ROW1(ex2, num_ex2_f32)
SIMT_MAP1(tanh_, float, float, num_tanh_f32(x))

SIMT_MAP2(div_approx, float, float, float, num_div_approx(x, y))
SIMT_MAP2(div_approx_ftz, float, float, float, F(num_div_approx(F(x), F(y))))
SIMT_MAP2(div_full, float, float, float, num_f32(x / y))
SIMT_MAP2(div_full_ftz, float, float, float, num_f32(F(F(x) / F(y))))

SIMT_MAP1(rcp_f64_ftz, double, double, num_f64_gross(1.0 / num_f64_flush(num_f64_upper(x))))
SIMT_MAP1(rsqrt_f64_ftz, double, double,
          num_f64_gross(1.0 / __builtin_sqrt(num_f64_flush(num_f64_upper(x)))))
SIMT_MAP1(rsqrt_f64, double, double, num_f64_1(1.0 / __builtin_sqrt(x), x))

simt_body *SIMT_NAME(approx_select)(const struct simt_operands *operands)
{
    const struct ptx_inst *ptx = operands->ptx;
    bool ftz = ptx_has(ptx, PTX_MOD_FTZ), is_f64 = ptx->types[0] == PTX_F64;
    switch (ptx->op) {
    case PTX_OP_FDIV_APPROX:
        if (ptx_has(ptx, PTX_MOD_FULL))
            return ftz ? div_full_ftz : div_full;
        return ftz ? div_approx_ftz : div_approx;
    case PTX_OP_RCP_APPROX:
        if (is_f64)
            return ftz ? rcp_f64_ftz : NULL;
        return ftz ? rcp_ftz : rcp;
    case PTX_OP_RSQRT_APPROX:
        if (is_f64)
            return ftz ? rsqrt_f64_ftz : rsqrt_f64;
        return ftz ? rsqrt_ftz : rsqrt;
    case PTX_OP_SQRT_APPROX:
        return ftz ? sqrt__ftz : sqrt_;
    case PTX_OP_SIN:
        return ftz ? sin__ftz : sin_;
    case PTX_OP_COS:
        return ftz ? cos__ftz : cos_;
    case PTX_OP_LG2:
        return ftz ? lg2_ftz : lg2;
    case PTX_OP_EX2:
        return ftz ? ex2_ftz : ex2;
    case PTX_OP_TANH:
        return ftz ? NULL : tanh_;
    default:
        return NULL;
    }
}
