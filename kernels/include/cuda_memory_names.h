/*
 * cuda_memory_names.h: part of cuda_names.h, which includes it: loads and stores with a cache hint,
 * and atomics.
 *
 * Atomics are the compiler's own rather than inline PTX: it then sees whether they go to shared or
 * to global memory, and no generic address is needed.
 */

/* Cache hints. Only __ldg is free to move: what it reads does not change while the kernel runs. */

#define LK_LOAD_1(name, hint, type, part, ptx, letter, kind)                                       \
    LK_NAME type name(const type *at)                                                              \
    {                                                                                              \
        part x;                                                                                    \
        kind("ld.global." hint "." ptx " %0, [%1];" : "=" letter(x) : "l"(at));                    \
        return (type)x;                                                                            \
    }
#define LK_LOAD_2(name, hint, type, part, ptx, letter, kind)                                       \
    LK_NAME type name(const type *at)                                                              \
    {                                                                                              \
        part x, y;                                                                                 \
        type v;                                                                                    \
        kind("ld.global." hint ".v2." ptx " {%0, %1}, [%2];"                                       \
             : "=" letter(x), "=" letter(y)                                                        \
             : "l"(at));                                                                           \
        v.x = x, v.y = y;                                                                          \
        return v;                                                                                  \
    }
#define LK_LOAD_4(name, hint, type, part, ptx, letter, kind)                                       \
    LK_NAME type name(const type *at)                                                              \
    {                                                                                              \
        part x, y, z, w;                                                                           \
        type v;                                                                                    \
        kind("ld.global." hint ".v4." ptx " {%0, %1, %2, %3}, [%4];"                               \
             : "=" letter(x), "=" letter(y), "=" letter(z), "=" letter(w)                          \
             : "l"(at));                                                                           \
        v.x = x, v.y = y, v.z = z, v.w = w;                                                        \
        return v;                                                                                  \
    }
#define LK_STORE_1(name, hint, type, part, ptx, letter)                                            \
    LK_NAME void name(type *at, type v)                                                            \
    {                                                                                              \
        asm volatile("st.global." hint "." ptx " [%0], %1;" ::"l"(at), letter((part)v)             \
                     : "memory");                                                                  \
    }
#define LK_STORE_2(name, hint, type, part, ptx, letter)                                            \
    LK_NAME void name(type *at, type v)                                                            \
    {                                                                                              \
        asm volatile("st.global." hint ".v2." ptx " [%0], {%1, %2};" ::"l"(at), letter((part)v.x), \
                     letter((part)v.y)                                                             \
                     : "memory");                                                                  \
    }
#define LK_STORE_4(name, hint, type, part, ptx, letter)                                            \
    LK_NAME void name(type *at, type v)                                                            \
    {                                                                                              \
        asm volatile("st.global." hint ".v4." ptx " [%0], {%1, %2, %3, %4};" ::"l"(at),            \
                     letter((part)v.x), letter((part)v.y), letter((part)v.z), letter((part)v.w)    \
                     : "memory");                                                                  \
    }
#define LK_HINTS(n, type, part, ptx, letter)                                                       \
    LK_LOAD_##n(__ldg, "nc", type, part, ptx, letter, asm)                                         \
        LK_LOAD_##n(__ldca, "ca", type, part, ptx, letter, asm volatile)                           \
            LK_LOAD_##n(__ldcg, "cg", type, part, ptx, letter, asm volatile)                       \
                LK_LOAD_##n(__ldcs, "cs", type, part, ptx, letter, asm volatile)                   \
                    LK_LOAD_##n(__ldlu, "lu", type, part, ptx, letter, asm volatile)               \
                        LK_LOAD_##n(__ldcv, "cv", type, part, ptx, letter, asm volatile)           \
                            LK_STORE_##n(__stwb, "wb", type, part, ptx, letter)                    \
                                LK_STORE_##n(__stcg, "cg", type, part, ptx, letter)                \
                                    LK_STORE_##n(__stcs, "cs", type, part, ptx, letter)            \
                                        LK_STORE_##n(__stwt, "wt", type, part, ptx, letter)
LK_HINTS(1, char, int, "s8", "r")
LK_HINTS(1, signed char, int, "s8", "r")
LK_HINTS(2, char2, int, "s8", "r")
LK_HINTS(4, char4, int, "s8", "r")
LK_HINTS(1, unsigned char, unsigned, "u8", "r")
LK_HINTS(2, uchar2, unsigned, "u8", "r")
LK_HINTS(4, uchar4, unsigned, "u8", "r")
LK_HINTS(1, short, short, "s16", "h")
LK_HINTS(2, short2, short, "s16", "h")
LK_HINTS(4, short4, short, "s16", "h")
LK_HINTS(1, unsigned short, unsigned short, "u16", "h")
LK_HINTS(2, ushort2, unsigned short, "u16", "h")
LK_HINTS(4, ushort4, unsigned short, "u16", "h")
LK_HINTS(1, int, int, "s32", "r")
LK_HINTS(2, int2, int, "s32", "r")
LK_HINTS(4, int4, int, "s32", "r")
LK_HINTS(1, unsigned, unsigned, "u32", "r")
LK_HINTS(2, uint2, unsigned, "u32", "r")
LK_HINTS(4, uint4, unsigned, "u32", "r")
LK_HINTS(1, long, long, "s64", "l")
LK_HINTS(1, unsigned long, unsigned long, "u64", "l")
LK_HINTS(1, long long, long long, "s64", "l")
LK_HINTS(2, longlong2, long long, "s64", "l")
LK_HINTS(1, unsigned long long, unsigned long long, "u64", "l")
LK_HINTS(2, ulonglong2, unsigned long long, "u64", "l")
LK_HINTS(1, float, float, "f32", "f")
LK_HINTS(2, float2, float, "f32", "f")
LK_HINTS(4, float4, float, "f32", "f")
LK_HINTS(1, double, double, "f64", "d")
LK_HINTS(2, double2, double, "f64", "d")
#undef LK_HINTS
#undef LK_LOAD_1
#undef LK_LOAD_2
#undef LK_LOAD_4
#undef LK_STORE_1
#undef LK_STORE_2
#undef LK_STORE_4

/* Which memory an address is in ----------------------------------------------------------------*/

LK_NAME size_t __cvta_generic_to_shared(const void *at)
{
    return (size_t)(const __attribute__((address_space(3))) void *)at;
}
LK_NAME size_t __cvta_generic_to_global(const void *at)
{
    return (size_t)(const __attribute__((address_space(1))) void *)at;
}
LK_NAME unsigned __isShared(const void *at) { return __nvvm_isspacep_shared(at); }
LK_NAME unsigned __isGlobal(const void *at) { return __nvvm_isspacep_global(at); }
LK_NAME unsigned __isLocal(const void *at) { return __nvvm_isspacep_local(at); }

/* Atomics: the old value comes back; no order is implied ---------------------------------------*/

#define LK_ATOMIC(name, builtin, type)                                                             \
    LK_NAME type name(type *at, type value)                                                        \
    {                                                                                              \
        return builtin(at, value, __ATOMIC_RELAXED);                                               \
    }
#define LK_ATOMICS(type)                                                                           \
    LK_ATOMIC(atomicMin, __atomic_fetch_min, type)                                                 \
    LK_ATOMIC(atomicMax, __atomic_fetch_max, type)                                                 \
    LK_ATOMIC(atomicAnd, __atomic_fetch_and, type)                                                 \
    LK_ATOMIC(atomicOr, __atomic_fetch_or, type)                                                   \
    LK_ATOMIC(atomicXor, __atomic_fetch_xor, type)
LK_ATOMICS(int)
LK_ATOMICS(unsigned)
LK_ATOMICS(long long)
LK_ATOMICS(unsigned long long)
LK_ATOMIC(atomicAdd, __atomic_fetch_add, int)
LK_ATOMIC(atomicAdd, __atomic_fetch_add, unsigned)
LK_ATOMIC(atomicAdd, __atomic_fetch_add, unsigned long long)
LK_ATOMIC(atomicAdd, __atomic_fetch_add, float)
LK_ATOMIC(atomicAdd, __atomic_fetch_add, double)
LK_ATOMIC(atomicSub, __atomic_fetch_sub, int)
LK_ATOMIC(atomicSub, __atomic_fetch_sub, unsigned)
LK_ATOMIC(atomicExch, __atomic_exchange_n, int)
LK_ATOMIC(atomicExch, __atomic_exchange_n, unsigned)
LK_ATOMIC(atomicExch, __atomic_exchange_n, unsigned long long)
#undef LK_ATOMICS
#undef LK_ATOMIC

LK_NAME float atomicExch(float *at, float value)
{
    return __uint_as_float(atomicExch((unsigned *)at, __float_as_uint(value)));
}
LK_NAME unsigned atomicInc(unsigned *at, unsigned last) { return __nvvm_atom_inc_gen_ui(at, last); }
LK_NAME unsigned atomicDec(unsigned *at, unsigned last) { return __nvvm_atom_dec_gen_ui(at, last); }

#define LK_COMPARE_AND_SWAP(type)                                                                  \
    LK_NAME type atomicCAS(type *at, type expected, type value)                                    \
    {                                                                                              \
        __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED,                 \
                                    __ATOMIC_RELAXED);                                             \
        return expected;                                                                           \
    }
LK_COMPARE_AND_SWAP(int)
LK_COMPARE_AND_SWAP(unsigned)
LK_COMPARE_AND_SWAP(unsigned long long)
#undef LK_COMPARE_AND_SWAP
LK_NAME unsigned short atomicCAS(unsigned short *at, unsigned short expected, unsigned short value)
{
    unsigned short old;
    asm volatile("atom.cas.b16 %0, [%1], %2, %3;"
                 : "=h"(old)
                 : "l"(at), "h"(expected), "h"(value)
                 : "memory");
    return old;
}

/* Of a narrower or a wider scope than the GPU's. */
#define LK_SCOPED(name, operation, type, bits, letter)                                             \
    LK_SCOPED_ONE(name##_block, "cta." operation, type, bits, letter)                              \
    LK_SCOPED_ONE(name##_system, "sys." operation, type, bits, letter)
#define LK_SCOPED_ONE(name, operation, type, bits, letter)                                         \
    LK_NAME type name(type *at, type value)                                                        \
    {                                                                                              \
        bits old;                                                                                  \
        asm volatile("atom." operation " %0, [%1], %2;"                                            \
                     : "=" letter(old)                                                             \
                     : "l"(at), letter(__builtin_bit_cast(bits, value))                            \
                     : "memory");                                                                  \
        return __builtin_bit_cast(type, old);                                                      \
    }
#define LK_SCOPED_BITS(name, operation)                                                            \
    LK_SCOPED(name, operation ".b32", int, int, "r")                                               \
    LK_SCOPED(name, operation ".b32", unsigned, unsigned, "r")                                     \
    LK_SCOPED(name, operation ".b64", unsigned long long, unsigned long long, "l")
LK_SCOPED(atomicAdd, "add.s32", int, int, "r")
LK_SCOPED(atomicAdd, "add.u32", unsigned, unsigned, "r")
LK_SCOPED(atomicAdd, "add.u64", unsigned long long, unsigned long long, "l")
LK_SCOPED(atomicAdd, "add.f32", float, float, "f")
LK_SCOPED(atomicAdd, "add.f64", double, double, "d")
LK_SCOPED(atomicMin, "min.s32", int, int, "r")
LK_SCOPED(atomicMin, "min.u32", unsigned, unsigned, "r")
LK_SCOPED(atomicMax, "max.s32", int, int, "r")
LK_SCOPED(atomicMax, "max.u32", unsigned, unsigned, "r")
LK_SCOPED(atomicExch, "exch.b32", float, unsigned, "r")
LK_SCOPED_BITS(atomicExch, "exch")
LK_SCOPED_BITS(atomicAnd, "and")
LK_SCOPED_BITS(atomicOr, "or")
LK_SCOPED_BITS(atomicXor, "xor")
#undef LK_SCOPED_BITS
#undef LK_SCOPED
#undef LK_SCOPED_ONE
