/*
 * bench_mma.c: how many mma.sync and wgmma a second one core does, body alone.
 * Not a test; prints a line per instruction, by CPU time. Data are normal-looking random numbers,
 * since the speed of the exact way differs. Build: see tests/tensor/README.md.
 */
#define FAKE_REGISTERS 160
#define FAKE_MEMORY (64 * 1024)
#include "fake_warp.h"

#include <time.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t random_bits(enum ptx_type type)
{
    uint32_t x = fake_random();
    switch (type) {
    case PTX_F16: /* exponents -10 .. 0 */
        return (x & 0x83ff83ff) | (5 + fake_below(11)) << 10 | (5 + fake_below(11)) << 26;
    case PTX_BF16:
        return (x & 0x807f807f) | (117 + fake_below(11)) << 7 | (117 + fake_below(11)) << 23;
    case PTX_TF32:
    case PTX_F32:
        return (x & 0x807fffff) | (117 + fake_below(11)) << 23;
    case PTX_E4M3: /* no NaN */
        return x & 0xbfbfbfbf;
    case PTX_E5M2:
        return x & 0xbfbfbfbf;
    default:
        return x;
    }
}

static const char *wanted = ""; /* only those whose name contains it */

static void measure(const char *name, enum ptx_op op, enum ptx_mod shape, enum ptx_type d,
                    enum ptx_type a, unsigned c_count, unsigned a_count, unsigned b_count)
{
    if (!strstr(name, wanted))
        return;
    struct fake_inst f;
    fake_op(&f, op);
    fake_mod(&f, PTX_MOD_SYNC);
    fake_mod(&f, shape);
    fake_type(&f, d);
    fake_type(&f, a);
    fake_type(&f, a);
    fake_type(&f, d);
    fake_vector(&f, 0, c_count);
    fake_vector(&f, 8, a_count);
    fake_vector(&f, 16, b_count);
    fake_vector(&f, 24, c_count);
    for (unsigned r = 0; r < 32; r++) {
        for (unsigned lane = 0; lane < 64; lane++)
            fake_u32(r)[lane] = random_bits(r >= 24 ? d : a);
    }
    simt_body *(*selects[3])(const struct simt_operands *);
    simt_body *body = selects[fake_selects(selects) - 1](&f.operands);
    if (!body) {
        printf("%-28s no body\n", name);
        return;
    }
    double best = 0;
    for (int round = 0; round < 50; round++) {
        enum { COUNT = 10000 };
        double start = seconds();
        for (int i = 0; i < COUNT; i++)
            body(&fake_warp, &f.in);
        double rate = COUNT / (seconds() - start) / 1e6;
        best = rate > best ? rate : best;
    }
    printf("sm_%u%u %-28s %7.2f M/s\n", fake_gpu.cc_major, fake_gpu.cc_minor, name, best);
}

/* m64n256, A and B in shared memory with a swizzle of 128 bytes. A warp does a quarter of it. */
static void measure_wgmma(const char *name, enum ptx_op op, const char *text, enum ptx_type d,
                          enum ptx_type a, unsigned constants)
{
    enum { A_DESCRIPTOR = 128, B_DESCRIPTOR, SCALE_D };
    if (!strstr(name, wanted))
        return;
    struct fake_inst f;
    fake_op(&f, op);
    f.ptx.text = text;
    fake_type(&f, d);
    fake_type(&f, a);
    fake_type(&f, a);
    fake_vector(&f, 0, d == PTX_F16 ? 64 : 128);
    f.list[f.listed++] = fake_slot(A_DESCRIPTOR);
    f.ptx.operand_count = (uint8_t)(4 + constants);
    for (unsigned i = 4; i < 6; i++)
        f.ptx_operands[i].imm = 1;
    f.in.a = fake_slot(B_DESCRIPTOR);
    f.in.b = fake_slot(SCALE_D);
    *fake_u32(SCALE_D) = SIMT_ALL;
    fake_block.shared_bytes = FAKE_BASE + FAKE_MEMORY;
    for (unsigned i = 0; i < FAKE_MEMORY; i += 4) {
        uint32_t bits = random_bits(a);
        memcpy(fake_memory + i, &bits, 4);
    }
    for (unsigned lane = 0; lane < 32; lane++) {
        uint64_t strides = UINT64_C(1) << 62 | UINT64_C(16) << 32 | 1 << 16;
        fake_u64(A_DESCRIPTOR)[lane] = strides | FAKE_BASE >> 4;
        fake_u64(B_DESCRIPTOR)[lane] = strides | FAKE_BASE >> 4;
    }
    simt_body *(*selects[3])(const struct simt_operands *);
    unsigned newest = fake_selects(selects) - 1;
    simt_body *body = selects[newest](&f.operands);
    double best = 0;
    for (int round = 0; round < 40; round++) {
        enum { COUNT = 400 };
        for (unsigned r = 0; r < 128; r++)
            for (unsigned lane = 0; lane < 32; lane++)
                fake_u32(r)[lane] = random_bits(d);
        double start = seconds();
        for (int i = 0; i < COUNT; i++)
            if (body(&fake_warp, &f.in) != &f.in + 1)
                abort();
        double rate = COUNT / (seconds() - start) / 4e3;
        best = rate > best ? rate : best;
    }
    printf("sm_90a %-28s %7.1f k/s\n", name, best);
}

static void measure_warpgroups(void)
{
    measure_wgmma("m64n256k16 f32 f16", PTX_OP_WGMMA_F16, "wgmma.m64n256k16", PTX_F32, PTX_F16, 4);
    measure_wgmma("m64n256k16 f32 bf16", PTX_OP_WGMMA_BF16, "wgmma.m64n256k16", PTX_F32, PTX_BF16,
                  4);
    measure_wgmma("m64n256k16 f16 f16", PTX_OP_WGMMA_F16, "wgmma.m64n256k16", PTX_F16, PTX_F16, 4);
    measure_wgmma("m64n256k8 f32 tf32", PTX_OP_WGMMA_TF32, "wgmma.m64n256k8", PTX_F32, PTX_TF32, 2);
    measure_wgmma("m64n256k32 f32 e4m3", PTX_OP_WGMMA_F8, "wgmma.m64n256k32", PTX_F32, PTX_E4M3, 2);
    measure_wgmma("m64n256k32 s32 s8", PTX_OP_WGMMA_INT, "wgmma.m64n256k32", PTX_S32, PTX_S8, 0);
}

static void measure_all(void)
{
    measure("m16n8k16 f32 f16", PTX_OP_MMA_F16, PTX_MOD_M16N8K16, PTX_F32, PTX_F16, 4, 4, 2);
    measure("m16n8k16 f16 f16", PTX_OP_MMA_F16, PTX_MOD_M16N8K16, PTX_F16, PTX_F16, 2, 4, 2);
    measure("m16n8k8 f32 f16", PTX_OP_MMA_F16, PTX_MOD_M16N8K8, PTX_F32, PTX_F16, 4, 2, 1);
    measure("m16n8k16 f32 bf16", PTX_OP_MMA_BF16, PTX_MOD_M16N8K16, PTX_F32, PTX_BF16, 4, 4, 2);
    measure("m16n8k8 f32 tf32", PTX_OP_MMA_TF32, PTX_MOD_M16N8K8, PTX_F32, PTX_TF32, 4, 4, 2);
    measure("m16n8k32 f32 e4m3", PTX_OP_MMA_F8, PTX_MOD_M16N8K32, PTX_F32, PTX_E4M3, 4, 4, 2);
    measure("m16n8k16 f64", PTX_OP_MMA_F64, PTX_MOD_M16N8K16, PTX_F64, PTX_F64, 4, 8, 4);
    measure("m16n8k32 s32 s8", PTX_OP_MMA_INT, PTX_MOD_M16N8K32, PTX_S32, PTX_S8, 4, 4, 2);
    measure("m16n8k256 s32 b1", PTX_OP_MMA_BIT, PTX_MOD_M16N8K256, PTX_S32, PTX_B1, 4, 4, 2);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        wanted = argv[1];
    measure_warpgroups();
    measure_all();
    fake_gpu.cc_major = 8;
    measure_all();
    return 0;
}
