/*
 * access_patterns.cu: one warp, one memory instruction, one pattern of addresses per launch.
 * `make gpu-counters` runs it under ncu and under `lockstep profile` and compares the counters
 * launch by launch. It prints what each launch was; it computes nothing.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pattern {
    uint32_t offset[32]; /* bytes, by lane */
    uint32_t mask;       /* lanes that take part */
};

__constant__ struct pattern pattern;

/* Name, bytes per lane, instruction: [%1] is the address, %2 a zero, %0 what keeps a result alive. */
#define PAIR(load) "{.reg .b64 d; .reg .b32 h; " load " mov.b64 {%0, h}, d; xor.b32 %0, %0, h;}"
#define WIDE(store) "{.reg .b64 d; cvt.u64.u32 d, %2; " store "}"
#define TWO(load) "{.reg .b32 r<2>; " load " xor.b32 %0, r0, r1;}"
#define FOUR(load)                                                                                 \
    "{.reg .b32 r<4>; " load " xor.b32 r0, r0, r1; xor.b32 r2, r2, r3; xor.b32 %0, r0, r2;}"
#define GLOBAL_OPS(X)                                                                              \
    X(ld_global_1, 1, "ld.global.u8 %0, [%1];")                                                    \
    X(ld_global_4, 4, "ld.global.u32 %0, [%1];")                                                   \
    X(ld_global_8, 8, PAIR("ld.global.b64 d, [%1];"))                                              \
    X(ld_global_v4, 16, FOUR("ld.global.v4.b32 {r0,r1,r2,r3}, [%1];"))                             \
    X(ld_global_cg_4, 4, "ld.global.cg.u32 %0, [%1];")                                             \
    X(st_global_1, 1, "st.global.u8 [%1], %2;")                                                    \
    X(st_global_4, 4, "st.global.u32 [%1], %2;")                                                   \
    X(st_global_8, 8, WIDE("st.global.b64 [%1], d;"))                                              \
    X(st_global_v4, 16, "st.global.v4.u32 [%1], {%2,%2,%2,%2};")                                   \
    X(red_global_4, 4, "red.global.add.u32 [%1], %2;")                                             \
    X(red_global_8, 8, WIDE("red.global.add.u64 [%1], d;"))                                        \
    X(atom_global_4, 4, "atom.global.add.u32 %0, [%1], %2;")                                       \
    X(atom_global_8, 8, PAIR("cvt.u64.u32 d, %2; atom.global.add.u64 d, [%1], d;"))                \
    X(atom_global_cas, 4, "atom.global.cas.b32 %0, [%1], %2, %2;")
#define SHARED_OPS(X)                                                                              \
    X(ld_shared_1, 1, "ld.shared.u8 %0, [%1];")                                                    \
    X(ld_shared_4, 4, "ld.shared.u32 %0, [%1];")                                                   \
    X(ld_shared_8, 8, PAIR("ld.shared.b64 d, [%1];"))                                              \
    X(ld_shared_v4, 16, FOUR("ld.shared.v4.b32 {r0,r1,r2,r3}, [%1];"))                             \
    X(st_shared_1, 1, "st.shared.u8 [%1], %2;")                                                    \
    X(st_shared_4, 4, "st.shared.u32 [%1], %2;")                                                   \
    X(st_shared_8, 8, WIDE("st.shared.b64 [%1], d;"))                                              \
    X(st_shared_v4, 16, "st.shared.v4.u32 [%1], {%2,%2,%2,%2};")                                   \
    X(red_shared_4, 4, "red.shared.add.u32 [%1], %2;")                                             \
    X(atom_shared_4, 4, "atom.shared.add.u32 %0, [%1], %2;")                                       \
    X(atom_shared_exch_8, 8, PAIR("cvt.u64.u32 d, %2; atom.shared.exch.b64 d, [%1], d;"))          \
    X(atom_shared_cas, 4, "atom.shared.cas.b32 %0, [%1], %2, %2;")
/* Every lane gives an address of 16 bytes; all lanes take part. */
#define MATRIX_OPS(X)                                                                              \
    X(ldmatrix_x1, 16, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];")                     \
    X(ldmatrix_x2, 16, TWO("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {r0,r1}, [%1];"))             \
    X(ldmatrix_x4, 16, FOUR("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r0,r1,r2,r3}, [%1];"))      \
    X(ldmatrix_x4_trans, 16,                                                                       \
      FOUR("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {r0,r1,r2,r3}, [%1];"))                 \
    X(stmatrix_x4, 16, "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%1], {%2,%2,%2,%2};")
/* The pattern is on the global side, or on the shared side (the other has neighbours). */
#define COPY_OPS(X)                                                                                \
    X(cp_async_4, 4, "cp.async.ca.shared.global [%0], [%1], 4;")                                   \
    X(cp_async_16, 16, "cp.async.ca.shared.global [%0], [%1], 16;")                                \
    X(cp_async_cg, 16, "cp.async.cg.shared.global [%0], [%1], 16;")

extern __shared__ __align__(1024) char shared_bytes[];

/* An unused result would let the assembler drop the load, or make a reduction of an
 * atomic. Memory holds zeros only. */
static __device__ void keep(unsigned value)
{
    if (value * 3 == 0x10e)
        asm volatile("trap;");
}

#define GLOBAL_KERNEL(name, bytes, text)                                                           \
    __global__ void name(char *memory)                                                             \
    {                                                                                              \
        unsigned lane = threadIdx.x;                                                               \
        unsigned kept = 0;                                                                         \
        char *a = memory + pattern.offset[lane];                                                   \
        if (pattern.mask >> lane & 1)                                                              \
            asm volatile(text : "+r"(kept) : "l"(a), "r"(0) : "memory");                           \
        keep(kept);                                                                                \
    }
GLOBAL_OPS(GLOBAL_KERNEL)

#define SHARED_KERNEL(name, bytes, text)                                                           \
    __global__ void name(char *memory)                                                             \
    {                                                                                              \
        unsigned lane = threadIdx.x;                                                               \
        unsigned kept = 0;                                                                         \
        unsigned a = (unsigned)__cvta_generic_to_shared(shared_bytes) + pattern.offset[lane];      \
        if (pattern.mask >> lane & 1)                                                              \
            asm volatile(text : "+r"(kept) : "r"(a), "r"(0) : "memory");                           \
        keep(kept);                                                                                \
    }
SHARED_OPS(SHARED_KERNEL)

#define MATRIX_KERNEL(name, bytes, text)                                                           \
    __global__ void name(char *memory)                                                             \
    {                                                                                              \
        unsigned lane = threadIdx.x;                                                               \
        unsigned kept = 0;                                                                         \
        unsigned a = (unsigned)__cvta_generic_to_shared(shared_bytes) + pattern.offset[lane];      \
        asm volatile(text : "+r"(kept) : "r"(a), "r"(0) : "memory");                               \
        keep(kept);                                                                                \
    }
MATRIX_OPS(MATRIX_KERNEL)

#define COPY_KERNEL(name, bytes, text)                                                             \
    __global__ void name(char *memory)                                                             \
    {                                                                                              \
        unsigned lane = threadIdx.x;                                                               \
        unsigned d = (unsigned)__cvta_generic_to_shared(shared_bytes) + lane * bytes;              \
        char *a = memory + pattern.offset[lane];                                                   \
        if (pattern.mask >> lane & 1)                                                              \
            asm volatile(text ::"r"(d), "l"(a) : "memory");                                        \
        asm volatile("cp.async.wait_all;" ::: "memory");                                           \
    }                                                                                              \
    __global__ void name##_to(char *memory)                                                        \
    {                                                                                              \
        unsigned lane = threadIdx.x;                                                               \
        unsigned d = (unsigned)__cvta_generic_to_shared(shared_bytes) + pattern.offset[lane];      \
        char *a = memory + lane * bytes;                                                           \
        if (pattern.mask >> lane & 1)                                                              \
            asm volatile(text ::"r"(d), "l"(a) : "memory");                                        \
        asm volatile("cp.async.wait_all;" ::: "memory");                                           \
    }
COPY_OPS(COPY_KERNEL)

/* Patterns ----------------------------------------------------------------------------------- */

static uint64_t random_state;
static uint32_t next_random(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

static const struct {
    const char *name;
    int first, step, wrap; /* element of a lane: first + lane * step, modulo wrap (0: none) */
    uint32_t mask;
} lines[] = {
    {"same", 0, 0, 0, ~0u},       {"neighbours", 0, 1, 0, ~0u}, {"from 1", 1, 1, 0, ~0u},
    {"stride 2", 0, 2, 0, ~0u},   {"stride 8", 0, 8, 0, ~0u},   {"stride 17", 0, 17, 0, ~0u},
    {"stride 32", 0, 32, 0, ~0u}, {"backwards", 31, -1, 0, ~0u}, {"sixteen", 0, 1, 16, ~0u},
    {"odd lanes", 0, 1, 0, 0xaaaaaaaau}, {"one lane", 0, 1, 0, 0x400}, {"no lane", 0, 1, 0, 0},
};
/* Lanes that share an address: each group of n lanes acts as its first. */
static const int sharers[] = {2, 4};
enum { SHARERS = 4 }; /* of each: neighbours, and at random */
enum { LINES = sizeof(lines) / sizeof(*lines), RANDOMS = 8 };

static struct pattern make(int number, int bytes, char *name, size_t size)
{
    struct pattern p = {};
    if (number < LINES) {
        for (int lane = 0; lane < 32; lane++) {
            int element = lines[number].first + lane * lines[number].step;
            if (lines[number].wrap)
                element %= lines[number].wrap;
            p.offset[lane] = (uint32_t)(element * bytes);
        }
        p.mask = lines[number].mask;
        snprintf(name, size, "%s", lines[number].name);
        return p;
    }
    if (number < LINES + SHARERS) {
        int which = number - LINES, share = sharers[which / 2];
        random_state = (uint64_t)number * 31 + (uint64_t)bytes;
        for (int lane = 0; lane < 32; lane++)
            p.offset[lane] = lane % share     ? p.offset[lane - 1]
                             : which % 2 == 0 ? (uint32_t)(lane / share * bytes)
                                              : next_random(256) * (uint32_t)bytes;
        p.mask = ~0u;
        snprintf(name, size, "%s%d share", which % 2 ? "random, " : "", share);
        return p;
    }
    static const uint32_t spans[] = {16, 64, 128, 1024};
    int which = number - LINES - SHARERS;
    uint32_t span = spans[which % 4];
    random_state = (uint64_t)number * 977 + (uint64_t)bytes;
    for (int lane = 0; lane < 32; lane++)
        p.offset[lane] = next_random(span) * (uint32_t)bytes;
    p.mask = which < 4 ? ~0u : next_random(65536) << 16 | next_random(65536);
    snprintf(name, size, "random in %u%s", span, which < 4 ? "" : ", some lanes");
    return p;
}

static void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

static int launches;

static void run(void (*kernel)(char *), const char *name, int bytes, const char *only, char *memory)
{
    if (only && !strstr(name, only))
        return;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536), name);
    for (int i = 0; i < LINES + SHARERS + RANDOMS; i++) {
        char text[64];
        struct pattern p = make(i, bytes, text, sizeof(text));
        check(cudaMemcpyToSymbol(pattern, &p, sizeof(p)), "pattern");
        kernel<<<1, 32, 65536>>>(memory);
        check(cudaDeviceSynchronize(), name);
        printf("%d\t%s\t%d\t%s\n", launches++, name, bytes, text);
    }
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : NULL;
    char *memory;
    check(cudaMalloc(&memory, 1 << 20), "memory");
    check(cudaMemset(memory, 0, 1 << 20), "memory");
#define RUN(name, bytes, text) run(name, #name, bytes, only, memory);
#define RUN_COPY(name, bytes, text)                                                                \
    run(name, #name, bytes, only, memory);                                                         \
    run(name##_to, #name "_to", bytes, only, memory);
    GLOBAL_OPS(RUN)
    SHARED_OPS(RUN)
    MATRIX_OPS(RUN)
    COPY_OPS(RUN_COPY)
    return 0;
}
