/*
 * cuda_number_names.h: part of cuda_names.h, which includes it: bits, conversions, and the
 * functions of numbers that are one instruction or a few. What nvcc links from a library (sinf,
 * powf ..) is not here, except for expf, exp2f, logf, log2f and log10f.
 */

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

/* Bits -----------------------------------------------------------------------------------------*/

LK_NAME int __popc(unsigned bits) { return __builtin_popcount(bits); }
LK_NAME int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }
LK_NAME int __clz(int bits) { return bits ? __builtin_clz((unsigned)bits) : 32; }
LK_NAME int __clzll(long long bits)
{
    return bits ? __builtin_clzll((unsigned long long)bits) : 64;
}
LK_NAME unsigned __brev(unsigned bits) { return __builtin_bitreverse32(bits); }
LK_NAME unsigned long long __brevll(unsigned long long bits)
{
    return __builtin_bitreverse64(bits);
}
/* The number of the lowest bit, from 1; 0 if there is none: bfind then gives -1. */
LK_NAME int __ffs(int bits)
{
    int from_top;
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(from_top) : "r"(__brev((unsigned)bits)));
    return from_top + 1;
}
LK_NAME int __ffsll(long long bits) { return 64 - __clzll(bits & -bits); }
/* Of each digit of the choice, the highest bit does not count. */
LK_NAME unsigned __byte_perm(unsigned a, unsigned b, unsigned choice)
{
    return __nvvm_prmt(a, b, choice & 0x7777);
}

#define LK_THREE(name, operation, type, result)                                                    \
    LK_NAME result name(type a, type b, result c)                                                  \
    {                                                                                              \
        result made;                                                                               \
        asm(operation " %0, %1, %2, %3;" : "=r"(made) : "r"(a), "r"(b), "r"(c));                   \
        return made;                                                                               \
    }
LK_THREE(__funnelshift_l, "shf.l.wrap.b32", unsigned, unsigned)
LK_THREE(__funnelshift_lc, "shf.l.clamp.b32", unsigned, unsigned)
LK_THREE(__funnelshift_r, "shf.r.wrap.b32", unsigned, unsigned)
LK_THREE(__funnelshift_rc, "shf.r.clamp.b32", unsigned, unsigned)
LK_THREE(__sad, "sad.s32", int, unsigned)
LK_THREE(__usad, "sad.u32", unsigned, unsigned)
LK_THREE(__dp4a, "dp4a.s32.s32", int, int)
LK_THREE(__dp4a, "dp4a.u32.u32", unsigned, unsigned)
LK_THREE(__dp2a_lo, "dp2a.lo.s32.s32", int, int)
LK_THREE(__dp2a_lo, "dp2a.lo.u32.u32", unsigned, unsigned)
LK_THREE(__dp2a_hi, "dp2a.hi.s32.s32", int, int)
LK_THREE(__dp2a_hi, "dp2a.hi.u32.u32", unsigned, unsigned)
#undef LK_THREE
#define LK_OF_VECTORS(name, a_type, b_type, scalar)                                                \
    LK_NAME scalar name(a_type a, b_type b, scalar c)                                              \
    {                                                                                              \
        return name(__builtin_bit_cast(scalar, a), __builtin_bit_cast(scalar, b), c);              \
    }
LK_OF_VECTORS(__dp4a, char4, char4, int)
LK_OF_VECTORS(__dp4a, uchar4, uchar4, unsigned)
LK_OF_VECTORS(__dp2a_lo, short2, char4, int)
LK_OF_VECTORS(__dp2a_lo, ushort2, uchar4, unsigned)
LK_OF_VECTORS(__dp2a_hi, short2, char4, int)
LK_OF_VECTORS(__dp2a_hi, ushort2, uchar4, unsigned)
#undef LK_OF_VECTORS

#define LK_HIGH(name, ptx, type, letter)                                                           \
    LK_NAME type name(type a, type b)                                                              \
    {                                                                                              \
        type high;                                                                                 \
        asm("mul.hi." ptx " %0, %1, %2;" : "=" letter(high) : letter(a), letter(b));               \
        return high;                                                                               \
    }
LK_HIGH(__mulhi, "s32", int, "r")
LK_HIGH(__umulhi, "u32", unsigned, "r")
LK_HIGH(__mul64hi, "s64", long long, "l")
LK_HIGH(__umul64hi, "u64", unsigned long long, "l")
#undef LK_HIGH
LK_NAME int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
LK_NAME unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }

#define LK_AS(name, from, to)                                                                      \
    LK_NAME to name(from value)                                                                    \
    {                                                                                              \
        return __builtin_bit_cast(to, value);                                                      \
    }
LK_AS(__float_as_uint, float, unsigned)
LK_AS(__float_as_int, float, int)
LK_AS(__uint_as_float, unsigned, float)
LK_AS(__int_as_float, int, float)
LK_AS(__double_as_longlong, double, long long)
LK_AS(__longlong_as_double, long long, double)
#undef LK_AS
LK_NAME int __double2hiint(double value) { return (int)(__double_as_longlong(value) >> 32); }
LK_NAME int __double2loint(double value) { return (int)__double_as_longlong(value); }
LK_NAME double __hiloint2double(int high, int low)
{
    return __longlong_as_double((long long)lk_join((unsigned)low, (unsigned)high));
}

/* Conversions with a rounding: nearest, to zero, up, down --------------------------------------*/

#define LK_CONVERSION(name, rounding, to, to_ptx, to_letter, from, from_ptx, from_letter)          \
    LK_NAME to name(from value)                                                                    \
    {                                                                                              \
        to made;                                                                                   \
        asm("cvt." rounding "." to_ptx "." from_ptx " %0, %1;"                                     \
            : "=" to_letter(made)                                                                  \
            : from_letter(value));                                                                 \
        return made;                                                                               \
    }
#define LK_ROUNDED(name, i, ...)                                                                   \
    LK_CONVERSION(name##_rn, "rn" i, __VA_ARGS__)                                                  \
    LK_CONVERSION(name##_rz, "rz" i, __VA_ARGS__)                                                  \
    LK_CONVERSION(name##_ru, "rp" i, __VA_ARGS__)                                                  \
    LK_CONVERSION(name##_rd, "rm" i, __VA_ARGS__)
#define LK_INTEGER(name, type, ptx, letter)                                                        \
    LK_ROUNDED(__float2##name, "i", type, ptx, letter, float, "f32", "f")                          \
    LK_ROUNDED(__double2##name, "i", type, ptx, letter, double, "f64", "d")                        \
    LK_ROUNDED(__##name##2float, "", float, "f32", "f", type, ptx, letter)
LK_INTEGER(int, int, "s32", "r")
LK_INTEGER(uint, unsigned, "u32", "r")
LK_INTEGER(ll, long long, "s64", "l")
LK_INTEGER(ull, unsigned long long, "u64", "l")
LK_ROUNDED(__double2float, "", float, "f32", "f", double, "f64", "d")
LK_ROUNDED(__ll2double, "", double, "f64", "d", long long, "s64", "l")
LK_ROUNDED(__ull2double, "", double, "f64", "d", unsigned long long, "u64", "l")
#undef LK_INTEGER
#undef LK_ROUNDED
#undef LK_CONVERSION
LK_NAME double __int2double_rn(int value) { return value; }
LK_NAME double __uint2double_rn(unsigned value) { return value; }

/* The smaller, the larger, the size ------------------------------------------------------------*/

#define LK_LEAST_AND_MOST(type)                                                                    \
    LK_NAME type min(type a, type b)                                                               \
    {                                                                                              \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    LK_NAME type max(type a, type b)                                                               \
    {                                                                                              \
        return a > b ? a : b;                                                                      \
    }
LK_LEAST_AND_MOST(int)
LK_LEAST_AND_MOST(unsigned)
LK_LEAST_AND_MOST(long)
LK_LEAST_AND_MOST(unsigned long)
LK_LEAST_AND_MOST(long long)
LK_LEAST_AND_MOST(unsigned long long)
#undef LK_LEAST_AND_MOST
/* As CUDA has them: of int and unsigned, both become unsigned. */
#define LK_MIXED(sign, other)                                                                      \
    LK_NAME other min(sign a, other b)                                                             \
    {                                                                                              \
        return min((other)a, b);                                                                   \
    }                                                                                              \
    LK_NAME other min(other a, sign b)                                                             \
    {                                                                                              \
        return min(a, (other)b);                                                                   \
    }                                                                                              \
    LK_NAME other max(sign a, other b)                                                             \
    {                                                                                              \
        return max((other)a, b);                                                                   \
    }                                                                                              \
    LK_NAME other max(other a, sign b)                                                             \
    {                                                                                              \
        return max(a, (other)b);                                                                   \
    }
LK_MIXED(int, unsigned)
LK_MIXED(long, unsigned long)
LK_MIXED(long long, unsigned long long)
LK_NAME int abs(int value) { return value < 0 ? -value : value; }
LK_NAME long abs(long value) { return value < 0 ? -value : value; }
LK_NAME long long abs(long long value) { return value < 0 ? -value : value; }
LK_NAME long long llabs(long long value) { return abs(value); }
LK_NAME float abs(float value) { return __builtin_fabsf(value); }
LK_NAME double abs(double value) { return __builtin_fabs(value); }

/* One instruction of PTX each; floats also by the double's name ---------------------------------*/

#define LK_ONE(name)                                                                               \
    LK_NAME float name##f(float a)                                                                 \
    {                                                                                              \
        return __builtin_##name##f(a);                                                             \
    }                                                                                              \
    LK_NAME float name(float a)                                                                    \
    {                                                                                              \
        return __builtin_##name##f(a);                                                             \
    }                                                                                              \
    LK_NAME double name(double a)                                                                  \
    {                                                                                              \
        return __builtin_##name(a);                                                                \
    }
#define LK_TWO(name)                                                                               \
    LK_NAME float name##f(float a, float b)                                                        \
    {                                                                                              \
        return __builtin_##name##f(a, b);                                                          \
    }                                                                                              \
    LK_NAME float name(float a, float b)                                                           \
    {                                                                                              \
        return __builtin_##name##f(a, b);                                                          \
    }                                                                                              \
    LK_NAME double name(double a, double b)                                                        \
    {                                                                                              \
        return __builtin_##name(a, b);                                                             \
    }
LK_ONE(fabs)
LK_ONE(sqrt)
LK_ONE(floor)
LK_ONE(ceil)
LK_ONE(trunc)
LK_ONE(rint)
LK_ONE(nearbyint)
LK_ONE(round)
LK_TWO(fmin)
LK_TWO(fmax)
LK_TWO(copysign)
#undef LK_ONE
#undef LK_TWO
LK_NAME float min(float a, float b) { return fminf(a, b); }
LK_NAME float max(float a, float b) { return fmaxf(a, b); }
LK_NAME double min(double a, double b) { return fmin(a, b); }
LK_NAME double max(double a, double b) { return fmax(a, b); }
LK_MIXED(float, double)
#undef LK_MIXED
LK_NAME float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
LK_NAME float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
LK_NAME double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

#define LK_KIND(type)                                                                              \
    LK_NAME bool isnan(type a)                                                                     \
    {                                                                                              \
        return __builtin_isnan(a);                                                                 \
    }                                                                                              \
    LK_NAME bool isinf(type a)                                                                     \
    {                                                                                              \
        return __builtin_isinf(a);                                                                 \
    }                                                                                              \
    LK_NAME bool isfinite(type a)                                                                  \
    {                                                                                              \
        return __builtin_isfinite(a);                                                              \
    }                                                                                              \
    LK_NAME bool signbit(type a)                                                                   \
    {                                                                                              \
        return __builtin_signbit(a);                                                               \
    }
LK_KIND(float)
LK_KIND(double)
#undef LK_KIND

#define LK_UNARY(name, ptx, type, letter)                                                          \
    LK_NAME type name(type a)                                                                      \
    {                                                                                              \
        type made;                                                                                 \
        asm(ptx " %0, %1;" : "=" letter(made) : letter(a));                                        \
        return made;                                                                               \
    }
#define LK_BINARY(name, ptx, type, letter)                                                         \
    LK_NAME type name(type a, type b)                                                              \
    {                                                                                              \
        type made;                                                                                 \
        asm(ptx " %0, %1, %2;" : "=" letter(made) : letter(a), letter(b));                         \
        return made;                                                                               \
    }
#define LK_TERNARY(name, ptx, type, letter)                                                        \
    LK_NAME type name(type a, type b, type c)                                                      \
    {                                                                                              \
        type made;                                                                                 \
        asm(ptx " %0, %1, %2, %3;" : "=" letter(made) : letter(a), letter(b), letter(c));          \
        return made;                                                                               \
    }
#define LK_ROUNDED(form, f32, f64, ptx)                                                            \
    LK_ROUNDED_AS(form, f32, f64, ptx, rn, "rn")                                                   \
    LK_ROUNDED_AS(form, f32, f64, ptx, rz, "rz")                                                   \
    LK_ROUNDED_AS(form, f32, f64, ptx, ru, "rp")                                                   \
    LK_ROUNDED_AS(form, f32, f64, ptx, rd, "rm")
#define LK_ROUNDED_AS(form, f32, f64, ptx, name, mode)                                             \
    form(f32##_##name, ptx "." mode ".f32", float, "f")                                            \
        form(f64##_##name, ptx "." mode ".f64", double, "d")
LK_ROUNDED(LK_BINARY, __fadd, __dadd, "add")
LK_ROUNDED(LK_BINARY, __fsub, __dsub, "sub")
LK_ROUNDED(LK_BINARY, __fmul, __dmul, "mul")
LK_ROUNDED(LK_BINARY, __fdiv, __ddiv, "div")
LK_ROUNDED(LK_TERNARY, __fmaf, __fma, "fma")
LK_ROUNDED(LK_UNARY, __frcp, __drcp, "rcp")
LK_ROUNDED(LK_UNARY, __fsqrt, __dsqrt, "sqrt")
LK_UNARY(rsqrtf, "rsqrt.approx.f32", float, "f")
LK_UNARY(__frsqrt_rn, "rsqrt.approx.f32", float, "f")
LK_UNARY(__saturatef, "cvt.sat.f32.f32", float, "f")
LK_UNARY(__sinf, "sin.approx.f32", float, "f")
LK_UNARY(__cosf, "cos.approx.f32", float, "f")
LK_UNARY(__log2f, "lg2.approx.f32", float, "f")
LK_UNARY(lk_exp2, "ex2.approx.f32", float, "f")
LK_BINARY(__fdividef, "div.approx.f32", float, "f")
#undef LK_ROUNDED
#undef LK_ROUNDED_AS
#undef LK_UNARY
#undef LK_BINARY
#undef LK_TERNARY
LK_NAME float __expf(float a) { return lk_exp2(__fmul_rn(a, 1.4426950408889634f)); }
LK_NAME float __exp10f(float a) { return lk_exp2(__fmul_rn(a, 3.3219280948873626f)); }
LK_NAME float __logf(float a) { return __fmul_rn(__log2f(a), 0.6931471805599453f); }
LK_NAME float __log10f(float a) { return __fmul_rn(__log2f(a), 0.30102999566398120f); }
LK_NAME float __powf(float a, float b) { return lk_exp2(__fmul_rn(b, __log2f(a))); }
LK_NAME float __tanf(float a) { return __fdividef(__sinf(a), __cosf(a)); }

/* Within two units of the last place, as CUDA promises, but not the same bits. Beyond +-200 it is
 * zero or infinite anyway, and 2^n goes in as two factors that are floats themselves. */
LK_NAME float exp2f(float a) { return lk_exp2(a); }
LK_NAME float expf(float a)
{
    float whole = rintf(fminf(fmaxf(a * 1.442695041f, -200), 200));
    float rest = fmaf(whole, -0.693145752f, a);
    int half = (int)whole / 2, other = (int)whole - half;
    rest = fmaf(whole, -1.42860677e-6f, rest);
    return lk_exp2(rest * 1.442695041f) * __int_as_float((half + 127) << 23) *
           __int_as_float((other + 127) << 23);
}

/* a = m 2^e with m from 2/3 to 4/3, and log m = 2 atanh((m - 1) / (m + 1)) by its series. The result
 * is e (high + low) + log m * scale: high has so few bits that e high is exact. Within two units of
 * the last place, and exact for powers of the base of log2f and log10f. */
LK_NAME float lk_log(float a, float high, float low, float scale)
{
    bool is_small = a < 1.17549435e-38f; /* or zero, or negative */
    unsigned bits = __float_as_uint(is_small ? a * 8388608 : a);
    unsigned above = (bits - 0x3f2aaaabu) & 0xff800000u;
    float e = (float)((int)above >> 23) - (is_small ? 23 : 0);
    float f = __uint_as_float(bits - above) - 1, s = f / (2 + f), z = s * s;
    float series = fmaf(fmaf(fmaf(fmaf(z, 0.0909090936f, 0.111111112f), z, 0.142857149f), z, 0.2f),
                        z, 0.333333343f);
    /* 2 s = f - s f, so that the first term is exact */
    float log_m = f - s * (f - 2 * z * series);
    float whole = fmaf(e, high, fmaf(e, low, log_m * scale));
    if (!(a > 0) || bits >= 0x7f800000u)
        whole = a == 0 ? -__builtin_inff() : a > 0 ? a : __builtin_nanf("");
    return whole;
}
LK_NAME float logf(float a) { return lk_log(a, 0.693145752f, 1.42860677e-6f, 1); }
LK_NAME float log2f(float a) { return lk_log(a, 1, 0, 1.442695041f); }
LK_NAME float log10f(float a) { return lk_log(a, 0.301025391f, 4.60503907e-6f, 0.4342944819f); }

/* Time and the end -----------------------------------------------------------------------------*/

LK_NAME long long clock64(void) { return (long long)__nvvm_read_ptx_sreg_clock64(); }
LK_NAME int clock(void) { return (int)clock64(); }
LK_NAME void __nanosleep(unsigned least) { asm volatile("nanosleep.u32 %0;" ::"r"(least)); }
/* A macro: a fault names the line that has it. */
#define __trap() asm volatile("trap;")
