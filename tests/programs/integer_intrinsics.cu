// Integer intrinsics and arithmetic: popc, clz, ffs, brev, byte_perm, funnel shifts, mulhi, mul24,
// sad, hadd, rotates; 64-bit multiply-high; 128-bit arithmetic; division and shifts at the edges;
// the SIMD-in-a-word family (__vadd4 and its kin); bit tricks; inline PTX: bfe, bfi, lop3, fns,
// carries, mad.hi, prmt modes, vector video instructions.

#include <cstdint>
#include <cstdio>

const int N = 8;
__constant__ unsigned as[N] = {0,           1,           0x80000000u, 0xffffffffu,
                               0x12345678u, 0xdeadbeefu, 0x00ff00ffu, 0x7f80017fu};
__constant__ unsigned bs[N] = {5,           0xffffffffu, 31,          0x80000001u,
                               0x9abcdef0u, 3,           0x01010101u, 0x80ff7f01u};

__device__ unsigned out[N][96];
__device__ unsigned long long wide[N][24];

__global__ void bits()
{
    int i = threadIdx.x, k = 0;
    unsigned a = as[i], b = bs[i];
    unsigned *r = out[i];
    r[k++] = __popc(a);
    r[k++] = __clz((int)a);
    r[k++] = __ffs((int)a);
    r[k++] = __brev(a);
    r[k++] = __byte_perm(a, b, 0x5410);
    r[k++] = __byte_perm(a, b, 0x9db3);
    r[k++] = __funnelshift_l(a, b, b);
    r[k++] = __funnelshift_r(a, b, b);
    r[k++] = __funnelshift_lc(a, b, 40);
    r[k++] = __funnelshift_rc(a, b, 40);
    r[k++] = __umulhi(a, b);
    r[k++] = (unsigned)__mulhi((int)a, (int)b);
    r[k++] = __umul24(a, b);
    r[k++] = (unsigned)__mul24((int)a, (int)b);
    r[k++] = __usad(a, b, 9);
    r[k++] = __sad((int)a, (int)b, 9);
    r[k++] = __uhadd(a, b);
    r[k++] = (unsigned)__hadd((int)a, (int)b);
    r[k++] = __urhadd(a, b);
    r[k++] = (unsigned)__rhadd((int)a, (int)b);
    r[k++] = a << (b & 31) | a >> (-b & 31);
    r[k++] = (unsigned)((int)a >> (b & 31));
    r[k++] = a / (b | 1);
    r[k++] = a % (b | 1);
    r[k++] = (unsigned)((int)a / (int)(b | 1));
    r[k++] = (unsigned)((int)a % (int)(b | 1));
    r[k++] = (unsigned)abs((int)a);
    r[k++] = min(a, b);
    r[k++] = (unsigned)max((int)a, (int)b);
    r[k++] = (unsigned)(int)(char)a + (unsigned)(unsigned char)b + (unsigned)(short)(a ^ b);
    r[k++] = a / 7 + a % 10 + (unsigned)((int)b / 3);
    r[k++] = a * b + (a ^ (b >> 3)) - (a & ~b);
}

__global__ void simd()
{
    int i = threadIdx.x, k = 32;
    unsigned a = as[i], b = bs[i];
    unsigned *r = out[i];
    r[k++] = __vadd4(a, b);
    r[k++] = __vaddss4(a, b);
    r[k++] = __vaddus4(a, b);
    r[k++] = __vsub2(a, b);
    r[k++] = __vsubss2(a, b);
    r[k++] = __vavgu4(a, b);
    r[k++] = __vavgs2(a, b);
    r[k++] = __vcmpgtu4(a, b);
    r[k++] = __vcmples2(a, b);
    r[k++] = __vmaxs4(a, b);
    r[k++] = __vminu2(a, b);
    r[k++] = __vabs4(a);
    r[k++] = __vabsdiffu4(a, b);
    r[k++] = __vsads2(a, b);
    r[k++] = __vsadu4(a, b);
    r[k++] = __vneg2(a);
    r[k++] = __vseteq4(a, b);
    r[k++] = __vhaddu4(a, b);
    r[k++] = __viaddmax_s32((int)a, (int)b, -5);
    r[k++] = __vimin3_s32((int)a, (int)b, 100);
    r[k++] = __vimax_s16x2_relu(a, b);
}

__global__ void inline_ptx()
{
    int i = threadIdx.x, k = 53;
    unsigned a = as[i], b = bs[i], d, e;
    unsigned *r = out[i];
    asm("bfe.u32 %0, %1, 7, 13;" : "=r"(d) : "r"(a));
    r[k++] = d;
    asm("bfe.s32 %0, %1, 20, 20;" : "=r"(d) : "r"(a));
    r[k++] = d;
    asm("bfi.b32 %0, %1, %2, 12, 9;" : "=r"(d) : "r"(a), "r"(b));
    r[k++] = d;
    asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(d) : "r"(a), "r"(b), "r"(0x0f0f3c3cu));
    r[k++] = d;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(d) : "r"(a), "r"(b), "r"(0x0f0f3c3cu));
    r[k++] = d;
    asm("fns.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(4), "r"(2));
    r[k++] = d;
    asm("bfind.u32 %0, %1;" : "=r"(d) : "r"(a));
    r[k++] = d;
    asm("bfind.shiftamt.s32 %0, %1;" : "=r"(d) : "r"(a));
    r[k++] = d;
    asm("{ add.cc.u32 %0, %2, %3;\n addc.u32 %1, %3, 0; }" : "=r"(d), "=r"(e) : "r"(a), "r"(b));
    r[k++] = d;
    r[k++] = e;
    asm("{ sub.cc.u32 %0, %2, %3;\n subc.u32 %1, %2, 1; }" : "=r"(d), "=r"(e) : "r"(a), "r"(b));
    r[k++] = d;
    r[k++] = e;
    asm("{ mad.lo.cc.u32 %0, %2, %3, %2;\n madc.hi.u32 %1, %2, %3, 0; }"
        : "=r"(d), "=r"(e)
        : "r"(a), "r"(b));
    r[k++] = d;
    r[k++] = e;
    // A borrow is the carry's opposite, which shows when the two kinds mix.
    asm("{ sub.cc.u32 %0, %2, %3;\n addc.u32 %1, 0, 0; }" : "=r"(d), "=r"(e) : "r"(a), "r"(b));
    r[k++] = e;
    asm("{ add.cc.u32 %0, %2, %3;\n subc.u32 %1, 9, 4; }" : "=r"(d), "=r"(e) : "r"(a), "r"(b));
    r[k++] = e;
    asm("mad.hi.s32 %0, %1, %2, 11;" : "=r"(d) : "r"(a), "r"(b));
    r[k++] = d;
    asm("prmt.b32.f4e %0, %1, %2, 2;" : "=r"(d) : "r"(a), "r"(b));
    r[k++] = d;
    asm("prmt.b32.rc16 %0, %1, %2, 1;" : "=r"(d) : "r"(a), "r"(b));
    r[k++] = d;
    asm("shf.l.wrap.b32 %0, %1, %2, 9;" : "=r"(d) : "r"(a), "r"(b));
    r[k++] = d;
    asm("vadd.s32.s32.s32.sat %0, %1.b1, %2.h1;" : "=r"(d) : "r"(a), "r"(b));
    r[k++] = d;
    asm("vabsdiff.u32.u32.u32 %0, %1.b0, %2.b3;" : "=r"(d) : "r"(a), "r"(b));
    r[k++] = d;
    asm("vmad.s32.s32.s32 %0, %1.h0, %2.h1, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(a));
    r[k++] = d;
    asm("vset.u32.u32.lt %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    r[k++] = d;
    asm("vshl.u32.u32.u32.wrap %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    r[k++] = d;
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(d) : "r"(a & 31), "r"(b & 15));
    r[k++] = d;
    asm("szext.wrap.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b & 31));
    r[k++] = d;
    asm("{ .reg .pred p, q; setp.lt.and.s32 p|q, %1, %2, 1; selp.u32 %0, 3, 4, p; @q add.u32 %0, "
        "%0, 10; }"
        : "=r"(d)
        : "r"(a), "r"(b));
    r[k++] = d;
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"((int)(a - b)));
    r[k++] = d;
    asm("cnot.b32 %0, %1;" : "=r"(d) : "r"(a));
    r[k++] = d;
    asm("add.sat.s32 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    r[k++] = d;
}

__global__ void sixty_four()
{
    int i = threadIdx.x, k = 0;
    unsigned long long a = (unsigned long long)as[i] << 32 | bs[i],
                       b = (unsigned long long)bs[7 - i] << 17 | 3;
    unsigned long long *r = wide[i];
    r[k++] = __umul64hi(a, b);
    r[k++] = (unsigned long long)__mul64hi((long long)a, (long long)b);
    r[k++] = __brevll(a);
    r[k++] = __popcll(a) * 10000 + __clzll((long long)a) * 100 + __ffsll((long long)a);
    r[k++] = a / b;
    r[k++] = a % b;
    r[k++] = (unsigned long long)((long long)a / (long long)b);
    r[k++] = (unsigned long long)((long long)a % 1000003ll);
    r[k++] = a << (i * 9) | a >> (64 - i * 9 - 1);
    r[k++] = (unsigned long long)((long long)a >> (i * 7));
    r[k++] = (unsigned long long)llabs((long long)a) + max(a, b) -
             (unsigned long long)min((long long)a, (long long)b);
    unsigned __int128 p = (unsigned __int128)a * b + a;
    r[k++] = (unsigned long long)(p >> 64);
    r[k++] = (unsigned long long)p;
    p = p / (b >> 3 | 1);
    r[k++] = (unsigned long long)(p >> 64);
    r[k++] = (unsigned long long)p;
    __int128 s = -(__int128)p >> 17;
    r[k++] = (unsigned long long)(s >> 64) ^ (unsigned long long)s;
    r[k++] = (unsigned long long)(a < b) | (unsigned long long)((long long)a < (long long)b) << 1;
    asm("bfe.s64 %0, %1, 30, 20;" : "=l"(r[k]) : "l"(a));
    k++;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(r[k]) : "r"(as[i]), "r"(bs[i]));
    k++;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(r[k]) : "r"(as[i]), "r"(bs[i]), "l"(a));
    k++;
}

int main()
{
    bits<<<1, N>>>();
    simd<<<1, N>>>();
    inline_ptx<<<1, N>>>();
    sixty_four<<<1, N>>>();
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    static unsigned host[N][96];
    static unsigned long long host_wide[N][24];
    cudaMemcpyFromSymbol(host, out, sizeof host);
    cudaMemcpyFromSymbol(host_wide, wide, sizeof host_wide);
    for (int k = 0; k < 86; k++) {
        printf("%2d:", k);
        for (int i = 0; i < N; i++)
            printf(" %08x", host[i][k]);
        printf("\n");
    }
    for (int k = 0; k < 20; k++) {
        printf("wide %2d:", k);
        for (int i = 0; i < N; i += 2)
            printf(" %016llx", host_wide[i][k]);
        printf("\n");
    }
    return 0;
}
