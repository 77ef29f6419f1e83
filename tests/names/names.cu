/*
 * names.cu: every name of kernels/include/cuda_names.h at least once. run.sh compiles it with nvcc
 * and with clang, runs both on the simulated machine with the same input, and compares what each
 * thread stored. Arch sm_90; no include, so that the names come from the compiler or from the header.
 */
struct values { // what a thread works on; run_ptx.c makes it
    int i, j, k, n;
    unsigned u, v, w, lane;
    long long l, m;
    unsigned long long ul, um;
    float f, g, h, positive;
    double d, e, c, root;
};

// A thread's results, one after another, as bits.
struct results {
    unsigned long long *at;
    __device__ void put(unsigned long long bits) { *at++ = bits; }
    __device__ void put(long long v) { put((unsigned long long)v); }
    __device__ void put(long v) { put((unsigned long long)v); }
    __device__ void put(unsigned long v) { put((unsigned long long)v); }
    __device__ void put(int v) { put((unsigned long long)(unsigned)v); }
    __device__ void put(unsigned v) { put((unsigned long long)v); }
    __device__ void put(float v) { put((unsigned long long)__float_as_uint(v)); }
    __device__ void put(double v) { put((unsigned long long)__double_as_longlong(v)); }
    template <class V> __device__ void put2(V v) { put((double)v.x), put((double)v.y); }
    template <class V> __device__ void put4(V v) { put2(v), put((double)v.z), put((double)v.w); }
};

enum { RESULTS = 512 }; // of a thread; run_ptx.c has the same number

#define KERNEL(name)                                                                               \
    static __device__ void name##_of(values a, results out, unsigned all, int thread);             \
    extern "C" __global__ void name(const values *in, unsigned long long *results_of_all)          \
    {                                                                                              \
        int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                 \
        name##_of(in[thread], results{results_of_all + (size_t)thread * RESULTS}, 0xffffffffu,     \
                  thread);                                                                         \
    }                                                                                              \
    static __device__ void name##_of(values a, results out, unsigned all, int thread)

/* Where, barriers, fences ----------------------------------------------------------------------*/

KERNEL(where)
{
    uint3 t = threadIdx, b = blockIdx;
    dim3 threads = blockDim, blocks = gridDim;
    out.put(t.x), out.put(t.y), out.put(t.z), out.put(b.x), out.put(b.y), out.put(b.z);
    out.put(threads.x), out.put(threads.y), out.put(threads.z);
    out.put(blocks.x), out.put(blocks.y), out.put(blocks.z), out.put(warpSize);
    out.put(dim3(3).y), out.put(dim3(3, 4).y), out.put(dim3(t).x);
    uint3 back = dim3(7, 8, 9);
    out.put(back.z), out.put((unsigned long long)sizeof(size_t)), out.put(INT_MAX);
}

KERNEL(barriers)
{
    __shared__ int value[128];
    value[threadIdx.x] = a.i;
    __syncthreads();
    out.put(value[threadIdx.x ^ 33]);
    out.put(__syncthreads_count(a.i & 1));
    out.put(__syncthreads_and(a.i & 1));
    out.put(__syncthreads_and(a.lane < 32));
    out.put(__syncthreads_or(a.i == 12345678));
    out.put(__syncthreads_or(a.i & 1));
    value[threadIdx.x] = a.j;
    __syncwarp();
    out.put(value[threadIdx.x ^ 5]);
    __syncwarp(all);
    value[threadIdx.x] = a.k;
    if (a.lane < 8)
        __syncwarp(0xff);
    out.put(value[threadIdx.x ^ (a.lane < 8 ? 3 : 0)]);
}

KERNEL(fences)
{
    out.put(a.i);
    __threadfence_block();
    out.put(a.j);
    __threadfence();
    out.put(a.k);
    __threadfence_system();
    out.put(a.n);
    __nanosleep(20);
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    long long then = clock64();
    int before = clock();
    out.put((int)(clock() - before >= 0)), out.put((int)(clock64() >= then));
    if (a.i == 12345678)
        __trap();
}

/* Warps ----------------------------------------------------------------------------------------*/

template <class T> static __device__ void shuffle(T value, const values &a, results &out)
{
    unsigned all = 0xffffffffu;
    int from = a.i & 63; // also beyond the warp
    out.put(__shfl_sync(all, value, from)), out.put(__shfl_sync(all, value, from, 8));
    out.put(__shfl_up_sync(all, value, 3)), out.put(__shfl_up_sync(all, value, a.u & 31, 4));
    out.put(__shfl_down_sync(all, value, 5)), out.put(__shfl_down_sync(all, value, a.u & 31, 16));
    out.put(__shfl_xor_sync(all, value, 9)), out.put(__shfl_xor_sync(all, value, a.i & 31, 2));
    if (a.lane >= 16)
        out.put(__shfl_down_sync(0xffff0000u, value, 1));
}

KERNEL(shuffles)
{
    shuffle(a.i, a, out), shuffle(a.u, a, out), shuffle(a.l, a, out), shuffle(a.ul, a, out);
    shuffle((long)a.m, a, out), shuffle((unsigned long)a.um, a, out);
    shuffle(a.f, a, out), shuffle(a.d, a, out);
}

KERNEL(votes)
{
    out.put(__ballot_sync(all, a.i & 1)), out.put(__ballot_sync(all, a.i & 6));
    out.put(__any_sync(all, a.i & 1)), out.put(__any_sync(all, a.i == 12345678));
    out.put(__all_sync(all, a.i & 1)), out.put(__all_sync(all, 7));
    out.put(__activemask());
    if (a.lane & 1) {
        out.put(__ballot_sync(0xaaaaaaaau, a.j & 1)), out.put(__any_sync(0xaaaaaaaau, a.j & 1));
        out.put(__all_sync(0xaaaaaaaau, a.j & 1)), out.put(__activemask());
    }
}

template <class T> static __device__ void match(T value, results &out)
{
    int every = 5;
    out.put(__match_any_sync(0xffffffffu, value));
    out.put(__match_all_sync(0xffffffffu, value, &every)), out.put(every);
    out.put(__match_all_sync(0xffffffffu, (T)3, &every)), out.put(every);
}

KERNEL(matches)
{
    match(a.i & 3, out), match(a.u & 7, out), match(a.l & 3, out), match(a.ul & 1, out);
    match((long)(a.l & 2), out), match((unsigned long)(a.ul & 5), out);
    match((float)(a.i & 3), out), match((double)(a.j & 3), out);
}

KERNEL(warp_reductions)
{
    out.put(__reduce_add_sync(all, a.i)), out.put(__reduce_add_sync(all, a.u));
    out.put(__reduce_min_sync(all, a.i)), out.put(__reduce_min_sync(all, a.u));
    out.put(__reduce_max_sync(all, a.i)), out.put(__reduce_max_sync(all, a.u));
    out.put(__reduce_and_sync(all, a.u | 0x10)), out.put(__reduce_or_sync(all, a.u & 0x11));
    out.put(__reduce_xor_sync(all, a.u));
}

/* Memory ---------------------------------------------------------------------------------------*/

__device__ char scratch[128][16][32]; // of each thread

template <class T> static __device__ T hint(T *at)
{
    T v = __ldg(at);
    __stwb(at + 1, v);
    v = __ldca(at + 1);
    __stcg(at + 1, v);
    v = __ldcg(at + 1);
    __stcs(at + 1, v);
    v = __ldcs(at + 1);
    __stwt(at + 1, v);
    __ldlu(at + 1);
    return __ldcv(at + 1);
}

KERNEL(hints_of_scalars)
{
    for (int n = 0; n < 8; n++)
        *(unsigned *)&scratch[thread][0][n * 4] = a.u * (unsigned)(2 * n + 1);
    void *at = scratch[thread][0];
    out.put((int)hint((char *)at)), out.put((int)hint((signed char *)at));
    out.put((unsigned)hint((unsigned char *)at)), out.put((int)hint((short *)at));
    out.put((unsigned)hint((unsigned short *)at)), out.put(hint((int *)at));
    out.put(hint((unsigned *)at)), out.put(hint((long *)at)), out.put(hint((unsigned long *)at));
    out.put(hint((long long *)at)), out.put(hint((unsigned long long *)at));
    *(float *)at = a.f;
    out.put(hint((float *)at));
    *(double *)at = a.d;
    out.put(hint((double *)at));
}

KERNEL(hints_of_vectors)
{
    for (int n = 0; n < 8; n++)
        *(unsigned *)&scratch[thread][0][n * 4] = a.u * (unsigned)(2 * n + 1);
    void *at = scratch[thread][0];
    out.put2(hint((char2 *)at)), out.put4(hint((char4 *)at));
    out.put2(hint((uchar2 *)at)), out.put4(hint((uchar4 *)at));
    out.put2(hint((short2 *)at)), out.put4(hint((short4 *)at));
    out.put2(hint((ushort2 *)at)), out.put4(hint((ushort4 *)at));
    out.put2(hint((int2 *)at)), out.put4(hint((int4 *)at));
    out.put2(hint((uint2 *)at)), out.put4(hint((uint4 *)at));
    out.put2(hint((longlong2 *)at)), out.put2(hint((ulonglong2 *)at));
    *(float4 *)at = make_float4(a.f, a.g, a.h, 1);
    out.put2(hint((float2 *)at)), out.put4(hint((float4 *)at));
    *(double2 *)at = make_double2(a.d, a.e);
    out.put2(hint((double2 *)at));
}

KERNEL(spaces)
{
    __shared__ int there[4];
    int here[4] = {a.i, a.j, a.k, a.n};
    out.put(__isShared(there)), out.put(__isGlobal(there)), out.put(__isLocal(there));
    out.put(__isShared(scratch)), out.put(__isGlobal(scratch)), out.put(__isLocal(scratch));
    out.put(__isLocal(&here[a.u & 3])), out.put(here[a.i & 3]);
    out.put((unsigned long long)(__cvta_generic_to_shared(there + 3) -
                                 __cvta_generic_to_shared(there)));
    out.put((int)(__cvta_generic_to_global(scratch) == (size_t)(char *)scratch));
}

template <class T> static __device__ void atomic_bits(T *at, T x, T y, results &out)
{
    out.put(atomicMin(at, x)), out.put(*at), out.put(atomicMax(at, y)), out.put(*at);
    out.put(atomicAnd(at, x)), out.put(*at), out.put(atomicOr(at, y)), out.put(*at);
    out.put(atomicXor(at, x)), out.put(*at);
}
template <class T> static __device__ void atomic_sum(T *at, T x, T y, results &out)
{
    out.put(atomicExch(at, x)), out.put(*at), out.put(atomicAdd(at, y)), out.put(*at);
}
template <class T> static __device__ void atomic_swap(T *at, T x, T y, results &out)
{
    out.put(atomicCAS(at, *at, x)), out.put(*at);
    out.put(atomicCAS(at, (T)(x + 1), y)), out.put(*at);
}
static __device__ void atomics(void *at, const values &a, results &out)
{
    *(unsigned long long *)at = a.um;
    atomic_bits((int *)at, a.i, a.j, out), atomic_bits((unsigned *)at, a.u, a.v, out);
    atomic_bits((long long *)at, a.l, a.m, out);
    atomic_bits((unsigned long long *)at, a.ul, a.um, out);
    atomic_sum((int *)at, a.i, a.j, out), atomic_sum((unsigned *)at, a.u, a.v, out);
    atomic_sum((unsigned long long *)at, a.ul, a.um, out), atomic_sum((float *)at, a.f, a.g, out);
    *(double *)at = a.d;
    out.put(atomicAdd((double *)at, a.e)), out.put(*(double *)at);
    out.put(atomicSub((int *)at, a.i)), out.put(*(int *)at);
    out.put(atomicSub((unsigned *)at, a.u)), out.put(*(unsigned *)at);
    atomic_swap((int *)at, a.i, a.j, out), atomic_swap((unsigned *)at, a.u, a.v, out);
    atomic_swap((unsigned long long *)at, a.ul, a.um, out);
    unsigned short *half = (unsigned short *)at, old = *half;
    out.put((unsigned)atomicCAS(half, old, (unsigned short)7)), out.put((unsigned)*half);
    out.put((unsigned)atomicCAS(half, (unsigned short)8, old)), out.put((unsigned)*half);
    unsigned *count = (unsigned *)at;
    *count = 6;
    for (int n = 0; n < 3; n++)
        out.put(atomicInc(count, 7)), out.put(*count);
    for (int n = 0; n < 3; n++)
        out.put(atomicDec(count, 7)), out.put(*count);
}

KERNEL(atomics_in_global)
{
    atomics(scratch[thread], a, out);
}

KERNEL(atomics_in_shared)
{
    __shared__ unsigned long long there[128];
    atomics(&there[threadIdx.x], a, out);
}

KERNEL(atomics_of_all)
{
    __shared__ unsigned count, most;
    __shared__ float sum;
    if (threadIdx.x == 0)
        count = most = 0, sum = 0;
    __syncthreads();
    atomicAdd(&count, 1u), atomicMax(&most, a.u), atomicAdd(&sum, 0.5f);
    __syncthreads();
    out.put(count), out.put(most), out.put(sum);
}

template <class T> static __device__ void scoped_sum(T *at, T x, T y, results &out)
{
    out.put(atomicExch_block(at, x)), out.put(*at), out.put(atomicExch_system(at, y)), out.put(*at);
    out.put(atomicAdd_block(at, x)), out.put(*at), out.put(atomicAdd_system(at, x)), out.put(*at);
}
template <class T> static __device__ void scoped_bits(T *at, T x, T y, results &out)
{
    out.put(atomicAnd_block(at, x)), out.put(*at), out.put(atomicAnd_system(at, y)), out.put(*at);
    out.put(atomicOr_block(at, x)), out.put(*at), out.put(atomicOr_system(at, y)), out.put(*at);
    out.put(atomicXor_block(at, x)), out.put(*at), out.put(atomicXor_system(at, y)), out.put(*at);
}
template <class T> static __device__ void scoped_ends(T *at, T x, T y, results &out)
{
    out.put(atomicMin_block(at, x)), out.put(*at), out.put(atomicMax_block(at, y)), out.put(*at);
    out.put(atomicMin_system(at, y)), out.put(*at), out.put(atomicMax_system(at, x)), out.put(*at);
}

KERNEL(atomics_of_a_scope)
{
    void *at = scratch[thread];
    *(unsigned long long *)at = a.um;
    scoped_ends((int *)at, a.i, a.j, out), scoped_ends((unsigned *)at, a.u, a.v, out);
    scoped_sum((int *)at, a.i, a.j, out), scoped_sum((unsigned *)at, a.u, a.v, out);
    scoped_sum((unsigned long long *)at, a.ul, a.um, out), scoped_sum((float *)at, a.f, a.g, out);
    scoped_bits((int *)at, a.i, a.j, out), scoped_bits((unsigned *)at, a.u, a.v, out);
    scoped_bits((unsigned long long *)at, a.ul, a.um, out);
    *(double *)at = a.d;
    out.put(atomicAdd_block((double *)at, a.e)), out.put(*(double *)at);
    out.put(atomicAdd_system((double *)at, a.e)), out.put(*(double *)at);
}

/* Vectors --------------------------------------------------------------------------------------*/

template <class T> static __device__ void shape(results &out)
{
    out.put((int)sizeof(T)), out.put((int)alignof(T));
}

#define VECTORS(name, one, two, three, four)                                                       \
    shape<name##1>(out), shape<name##2>(out), shape<name##3>(out), shape<name##4>(out);            \
    out.put((double)make_##name##1(one).x), out.put2(make_##name##2(one, two));                    \
    out.put2(make_##name##3(one, two, three)), out.put((double)make_##name##3(one, two, three).z); \
    out.put4(make_##name##4(one, two, three, four));

KERNEL(vectors)
{
    VECTORS(char, (signed char)a.i, (signed char)a.j, (signed char)a.k, (signed char)a.n)
    VECTORS(uchar, (unsigned char)a.i, (unsigned char)a.j, (unsigned char)a.k, (unsigned char)a.n)
    VECTORS(short, (short)a.i, (short)a.j, (short)a.k, (short)a.n)
    VECTORS(ushort, (unsigned short)a.i, (unsigned short)a.j, (unsigned short)a.k,
            (unsigned short)a.n)
    VECTORS(int, a.i, a.j, a.k, a.n)
    VECTORS(uint, a.u, a.v, a.w, a.lane)
    VECTORS(longlong, a.l, a.m, a.l, a.m)
    VECTORS(ulonglong, a.ul, a.um, a.ul, a.um)
    VECTORS(float, a.f, a.g, a.h, a.positive)
    VECTORS(double, a.d, a.e, a.c, a.root)
    VECTORS(long, a.l, a.m, 1, 2)
    VECTORS(ulong, a.ul, a.um, 1, 2)
}

/* Numbers --------------------------------------------------------------------------------------*/

KERNEL(bits)
{
    for (int n = 0; n < 2; n++, a.u = 0, a.i = 0, a.ul = 0, a.l = 0) { // zero is special
        out.put(__popc(a.u)), out.put(__popcll(a.ul)), out.put(__clz(a.i)), out.put(__clzll(a.l));
        out.put(__ffs(a.i)), out.put(__ffs(a.i & -256)), out.put(__ffsll(a.l));
        out.put(__ffsll(a.l & -65536)), out.put(__brev(a.u)), out.put(__brevll(a.ul));
    }
    out.put(__byte_perm(a.v, a.w, a.u)), out.put(__byte_perm(a.v, a.w, 0x6240));
    out.put(__byte_perm(a.v, a.w, a.w)), out.put(__funnelshift_l(a.v, a.w, a.v));
    out.put(__funnelshift_lc(a.v, a.w, a.v & 63)), out.put(__funnelshift_r(a.v, a.w, a.v));
    out.put(__funnelshift_rc(a.v, a.w, a.v & 63)), out.put(__sad(a.j, a.k, a.v));
    out.put(__usad(a.v, a.w, 5u)), out.put(__dp4a(a.j, a.k, a.n)), out.put(__dp4a(a.v, a.w, 9u));
    out.put(__mulhi(a.j, a.k)), out.put(__umulhi(a.v, a.w)), out.put(__mul64hi(a.m, a.m - 5));
    out.put(__umul64hi(a.um, a.um - 5)), out.put(__mul24(a.j, a.k)), out.put(__umul24(a.v, a.w));
    out.put(__float_as_uint(a.f)), out.put(__float_as_int(a.f)), out.put(__uint_as_float(a.v));
    out.put(__int_as_float(a.j)), out.put(__double_as_longlong(a.d));
    out.put(__longlong_as_double(a.m)), out.put(__double2hiint(a.d)), out.put(__double2loint(a.d));
    out.put(__hiloint2double(a.j, a.k));
    short2 s = make_short2((short)a.j, (short)a.k);
    char4 c = make_char4((signed char)a.j, (signed char)a.k, 5, -7);
    ushort2 us = make_ushort2((unsigned short)a.v, (unsigned short)a.w);
    uchar4 uc = make_uchar4((unsigned char)a.v, (unsigned char)a.w, 5, 200);
    out.put(__dp4a(c, c, a.n)), out.put(__dp4a(uc, uc, 9u));
    out.put(__dp2a_lo(s, c, a.n)), out.put(__dp2a_hi(s, c, a.n));
    out.put(__dp2a_lo(us, uc, 9u)), out.put(__dp2a_hi(us, uc, 9u));
    out.put(__dp2a_lo(a.j, a.k, a.n)), out.put(__dp2a_hi(a.j, a.k, a.n));
    out.put(__dp2a_lo(a.v, a.w, 9u)), out.put(__dp2a_hi(a.v, a.w, 9u));
}

#define ROUNDED(name, ...)                                                                         \
    out.put(name##_rn(__VA_ARGS__)), out.put(name##_rz(__VA_ARGS__));                              \
    out.put(name##_ru(__VA_ARGS__)), out.put(name##_rd(__VA_ARGS__));

KERNEL(conversions)
{
    float large = a.f * 1e8f;
    double huge = a.d * 1e17;
    ROUNDED(__float2int, a.f) ROUNDED(__float2int, large) ROUNDED(__float2uint, a.f)
    ROUNDED(__float2uint, large) ROUNDED(__float2ll, large) ROUNDED(__float2ull, large)
    ROUNDED(__double2int, a.d) ROUNDED(__double2int, huge) ROUNDED(__double2uint, a.d)
    ROUNDED(__double2ll, huge) ROUNDED(__double2ull, huge) ROUNDED(__double2float, a.d)
    ROUNDED(__int2float, a.i) ROUNDED(__uint2float, a.u) ROUNDED(__ll2float, a.l)
    ROUNDED(__ull2float, a.ul) ROUNDED(__ll2double, a.l) ROUNDED(__ull2double, a.ul)
    out.put(__int2double_rn(a.i)), out.put(__uint2double_rn(a.u));
    out.put((int)a.f), out.put((long long)a.d), out.put((float)a.ul), out.put((double)a.l);
}

template <class T> static __device__ void ends(T x, T y, results &out)
{
    out.put(min(x, y)), out.put(max(x, y));
}

KERNEL(ends_and_sizes)
{
    ends(a.i, a.j, out), ends(a.u, a.v, out), ends(a.l, a.m, out), ends(a.ul, a.um, out);
    ends((long)a.l, (long)a.m, out), ends((unsigned long)a.ul, (unsigned long)a.um, out);
    ends(a.f, a.g, out), ends(a.d, a.e, out);
    out.put(min(a.i, a.u)), out.put(max(a.u, a.i)), out.put(min(a.l, a.ul));
    out.put(max(a.ul, a.l)), out.put(min(a.f, a.d)), out.put(max(a.d, a.f));
    out.put(min((long)a.l, (unsigned long)a.ul)), out.put(max((unsigned long)a.ul, (long)a.l));
    out.put(min(a.f, NAN)), out.put(max(-INFINITY, a.f));
    out.put(abs(a.i)), out.put(abs((long)a.l)), out.put(abs(a.l)), out.put(llabs(a.m));
    out.put(abs(a.f)), out.put(abs(a.d));
}

#define BOTH(name) out.put(name##f(a.f)), out.put(name(a.f)), out.put(name(a.d));
#define BOTH2(name)                                                                                \
    out.put(name##f(a.f, a.g)), out.put(name(a.f, a.g)), out.put(name(a.d, a.e));

KERNEL(functions)
{
    BOTH(fabs) BOTH(floor) BOTH(ceil) BOTH(trunc) BOTH(rint) BOTH(nearbyint) BOTH(round)
    BOTH2(fmin) BOTH2(fmax) BOTH2(copysign)
    out.put(fminf(a.f, NAN)), out.put(fmaxf(NAN, a.g));
    float zero = a.lane < 32 ? 0 : a.f; // not a constant: nvcc folds those otherwise than a GPU
    out.put(fmaxf(-zero, zero)), out.put(fminf(zero, -zero));
    out.put(sqrtf(a.positive)), out.put(sqrt(a.positive)), out.put(sqrt(a.root));
    out.put(fmaf(a.f, a.g, a.h)), out.put(fma(a.f, a.g, a.h)), out.put(fma(a.d, a.e, a.c));
    out.put(a.f / a.g), out.put(a.d / a.e), out.put(a.f * a.g + a.h), out.put(a.d * a.e + a.c);
    float odd = a.lane == 0 ? NAN : a.lane == 1 ? INFINITY : a.lane == 2 ? -0.0f : a.f;
    out.put((int)isnan(odd)), out.put((int)isinf(odd)), out.put((int)isfinite(odd));
    out.put((int)(signbit(odd) != 0)), out.put((int)isnan((double)odd));
    out.put((int)isinf((double)odd)), out.put((int)isfinite((double)odd));
    out.put((int)(signbit((double)odd) != 0));
}

template <class T> static __device__ void pieces(T x, results &out)
{
    int exponent = 7;
    T whole = 7;
    out.put(frexp(x, &exponent)), out.put(exponent), out.put(modf(x, &whole)), out.put(whole);
    for (int n = -1200; n <= 1200; n += 75)
        out.put(ldexp(x, n));
}

KERNEL(parts)
{
    int exponent = 7;
    float whole = 7;
    pieces(a.lane == 3 ? -0.0f : a.f, out);
    pieces(a.lane == 4 ? NAN : a.lane == 5 ? -INFINITY : a.lane == 6 ? 5e-324 : a.d, out);
    out.put(frexpf(a.f, &exponent)), out.put(exponent), out.put(modff(a.f, &whole)), out.put(whole);
    out.put(ldexpf(a.f, -140)), out.put(scalbnf(a.f, a.lane)), out.put(scalbn(a.d, -a.lane));
    for (int half = -5; half <= 5; half++) {
        float x = (float)half / 2;
        out.put(lround(x)), out.put(llround(x)), out.put(lrint(x)), out.put(llrint(x));
    }
    out.put(lroundf(a.f)), out.put(llroundf(a.f)), out.put(lrintf(a.f)), out.put(llrintf(a.f));
    out.put(lround(a.d)), out.put(llround(a.d)), out.put(lrint(a.d)), out.put(llrint(a.d));
}

KERNEL(rounded)
{
    ROUNDED(__fadd, a.f, a.g) ROUNDED(__fsub, a.f, a.g) ROUNDED(__fmul, a.f, a.g)
    ROUNDED(__fdiv, a.f, a.g) ROUNDED(__fmaf, a.f, a.g, a.h) ROUNDED(__frcp, a.g)
    ROUNDED(__fsqrt, a.positive)
    ROUNDED(__dadd, a.d, a.e) ROUNDED(__dsub, a.d, a.e) ROUNDED(__dmul, a.d, a.e)
    ROUNDED(__ddiv, a.d, a.e) ROUNDED(__fma, a.d, a.e, a.c) ROUNDED(__drcp, a.e)
    ROUNDED(__dsqrt, a.root)
}

KERNEL(approximate)
{
    out.put(rsqrtf(a.positive)), out.put(__frsqrt_rn(a.positive)), out.put(__saturatef(a.f));
    out.put(__sinf(a.f)), out.put(__cosf(a.f)), out.put(__tanf(a.f)), out.put(__log2f(a.positive));
    out.put(__logf(a.positive)), out.put(__log10f(a.positive)), out.put(__expf(a.f));
    out.put(__exp10f(a.f)), out.put(__powf(a.positive, a.g)), out.put(__fdividef(a.f, a.g));
}

// Not bit for bit: the relative difference from double is what is compared.
static __device__ int is_near(float x, double y)
{
    return fabs((double)x - y) <= 3e-7 * fabs(y) || (fabs(y) < 1e-37 && fabsf(x) < 1e-36f);
}
static __device__ double series(double x) // exp(x) = series(x / 1024) ^ 1024
{
    x /= 1024;
    double y = 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6)))));
    for (int n = 0; n < 10; n++)
        y *= y;
    return y;
}

/* log x, from a value near it, by a step of Newton's method */
__device__ double refined(float near, float x)
{
    return (double)near + (double)x / series((double)near) - 1;
}

KERNEL(logarithms)
{
    const double ln2 = 0.69314718055994531, ln10 = 2.3025850929940457;
    for (int n = 0; n < 32; n++) {
        float x = a.positive * exp2f((float)(n - 16)), log_x = logf(x);
        double y = refined(log_x, x);
        out.put(is_near(log_x, y));
        out.put(is_near(log2f(x), y / ln2)), out.put(is_near(log10f(x), y / ln10));
    }
    out.put(logf(1)), out.put(logf(0)), out.put(logf(-0.0f)), out.put(logf(INFINITY));
    out.put((int)isnan(logf(-1))), out.put((int)isnan(logf(NAN)));
    out.put((int)isnan(logf(-INFINITY))), out.put(log2f(0)), out.put(log10f(INFINITY));
    out.put(log2f(1e-42f) < -139), out.put(log10f(1000)), out.put(log10f(1e-3f) == -3);
    for (int n = -149; n < 128; n++)
        out.put(log2f(exp2f((float)n)));
}

KERNEL(exponentials)
{
    for (int n = 0; n < 32; n++) {
        float x = a.f * (float)(n + 1) / 8;
        out.put(is_near(expf(x), series((double)x)));
        out.put(is_near(exp2f(x), series((double)x * 0.69314718055994531)));
    }
    out.put(expf(0)), out.put(expf(1000)), out.put(expf(-1000)), out.put(expf(INFINITY));
    out.put(expf(-INFINITY)), out.put((int)isnan(expf(NAN))), out.put(exp2f(-200));
    printf("%d %s\n", thread == 5 ? 12 : 13, "printed");
}
