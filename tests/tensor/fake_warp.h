/*
 * fake_warp.h: just enough of a machine to run one tensor instruction body.
 * A test fills registers, describes an instruction in a few words and runs it, with the bodies of
 * every instruction set that this host has: they must agree. Included once per program, which is
 * linked with exec_tensor*.o and ptx/table.o alone: what else of src/simt the bodies call is here.
 */
#ifndef TESTS_TENSOR_FAKE_WARP_H
#define TESTS_TENSOR_FAKE_WARP_H

#ifndef SIMT_ISA
#ifdef __x86_64__
#define SIMT_ISA v3
#else
#define SIMT_ISA v1
#endif
#endif

#include "simt/core.h"
#include "simt/isa.h"
#include "simt/tensor.h"
#include "simt/warpgroup.h"

#include <setjmp.h> /* for cmocka.h */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FAKE_REGISTERS
#define FAKE_REGISTERS 64
#endif
#ifndef FAKE_MEMORY
#define FAKE_MEMORY 16384
#endif
#define FAKE_BASE 0x1000 /* device address of fake_memory[0] */

static _Alignas(64) uint8_t fake_regs[FAKE_REGISTERS][256];
static _Alignas(64) uint8_t fake_space[FAKE_BASE + FAKE_MEMORY];
static uint8_t *const fake_memory = fake_space + FAKE_BASE;
static struct gpu_info fake_gpu = {.id = "fake", .cc_major = 9, .cc_minor = 0};
static enum simt_fault_kind fake_fault;
static int fake_fault_lane;

/* With shared_bytes set, the same memory is found without simt_translate. */
static struct simt_block fake_block = {.shared = fake_space};
static struct simt_warp fake_warp = {.regs = (uint8_t *)fake_regs,
                                     .mask = SIMT_ALL,
                                     .path_mask = SIMT_ALL,
                                     .live = SIMT_ALL,
                                     .block = &fake_block};

const struct gpu_info *simt_warp_gpu(const struct simt_warp *w)
{
    return &fake_gpu;
}

bool simt_wait_lanes(struct simt_warp *w, const struct simt_inst *in, uint32_t members)
{
    w->mask = members & w->live;
    return true;
}

const struct simt_inst *simt_raise(struct simt_warp *w, const struct simt_inst *in,
                                   enum simt_fault_kind kind, int lane, const char *format, ...)
{
    fake_fault = kind;
    fake_fault_lane = lane;
    return NULL;
}

uint8_t *simt_translate(struct simt_warp *w, const struct simt_inst *in, enum ptx_space space,
                        uint64_t address, uint32_t size, int lane, bool is_write)
{
    if (address % size) {
        simt_raise(w, in, SIMT_FAULT_MISALIGNED, lane, "misaligned");
        return NULL;
    }
    if (address < FAKE_BASE || address + size > FAKE_BASE + FAKE_MEMORY) {
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_ADDRESS, lane, "illegal address");
        return NULL;
    }
    return fake_memory + (address - FAKE_BASE);
}

bool simt_warpgroup_enter(struct simt_warp *w, const struct simt_inst *in)
{
    return true;
}

const struct simt_inst *simt_wgmma_fence(struct simt_warp *w, const struct simt_inst *in)
{
    return in + 1;
}

const struct simt_inst *simt_wgmma_commit(struct simt_warp *w, const struct simt_inst *in)
{
    return in + 1;
}

const struct simt_inst *simt_wgmma_wait(struct simt_warp *w, const struct simt_inst *in)
{
    return in + 1;
}

/* An instruction: fake_op(PTX_OP_MMA_F16), then what it has. Registers are given by number. */
struct fake_inst {
    struct ptx_inst ptx;
    struct simt_inst in;
    struct simt_operands operands;
    struct ptx_operand ptx_operands[10];
    uint32_t list[160];
    unsigned listed;
};

static inline uint32_t fake_slot(unsigned reg)
{
    return reg * 256;
}

static inline void fake_op(struct fake_inst *f, enum ptx_op op)
{
    memset(f, 0, sizeof(*f));
    f->ptx.op = op;
    f->ptx.operands = f->ptx_operands;
    f->in.ptx = &f->ptx;
    f->in.list = f->list;
    f->in.guard = SIMT_NO_GUARD;
    f->operands.ptx = &f->ptx;
}

static inline void fake_mod(struct fake_inst *f, enum ptx_mod mod)
{
    f->ptx.mods[mod / 64] |= UINT64_C(1) << (mod % 64);
}

static inline void fake_type(struct fake_inst *f, enum ptx_type type)
{
    f->ptx.types[f->ptx.type_count++] = (uint8_t)type;
}

/* Operand: count registers from first on. */
static inline void fake_vector(struct fake_inst *f, unsigned first, unsigned count)
{
    struct ptx_operand *operand = &f->ptx_operands[f->ptx.operand_count++];
    operand->kind = PTX_OPERAND_VECTOR;
    operand->item_count = count;
    for (unsigned i = 0; i < count; i++)
        f->list[f->listed++] = fake_slot(first + i);
}

/* Operand: an address in a register of that many bits. */
static inline void fake_address(struct fake_inst *f, unsigned reg, unsigned bits)
{
    f->ptx_operands[f->ptx.operand_count++].kind = PTX_OPERAND_ADDRESS;
    f->in.a = fake_slot(reg);
    f->in.flags = bits == 32 ? SIMT_FLAG_ADDRESS_32 : 0;
    f->operands.a_bits = bits;
}

/* Operand after the address and the vector: a 32-bit register. */
static inline void fake_stride(struct fake_inst *f, unsigned reg)
{
    f->ptx_operands[f->ptx.operand_count++].kind = PTX_OPERAND_REG;
    f->in.b = fake_slot(reg);
    f->operands.b_bits = 32;
}

#define FAKE_DECLARE(isa) simt_body *tensor_select_##isa(const struct simt_operands *operands);
#define FAKE_NAME(isa) tensor_select_##isa,
SIMT_ISAS(FAKE_DECLARE)

/* The select functions that this host can run bodies of; returns how many. */
static inline unsigned fake_selects(simt_body *(*selects[3])(const struct simt_operands *))
{
    simt_body *(*const all[])(const struct simt_operands *) = {SIMT_ISAS(FAKE_NAME)};
    unsigned count = sizeof all / sizeof *all;
#ifdef __x86_64__
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
         v4 = v3 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    if (count > 1)
        count = v4 ? 3 : v3 ? 2 : 1;
#endif
    memcpy(selects, all, count * sizeof *all);
    return count;
}

struct fake_state {
    uint8_t regs[sizeof(fake_regs)], memory[FAKE_MEMORY];
    bool went_on;
    enum simt_fault_kind fault;
};

/* Runs it; false if there is no body or it did not go on. */
static inline bool fake_run(struct fake_inst *f)
{
    static struct fake_state before, first;
    simt_body *(*selects[3])(const struct simt_operands *);
    unsigned count = fake_selects(selects);
    memcpy(before.regs, fake_regs, sizeof(fake_regs));
    memcpy(before.memory, fake_memory, FAKE_MEMORY);
    for (unsigned i = 0; i < count; i++) {
        memcpy(fake_regs, before.regs, sizeof(fake_regs));
        memcpy(fake_memory, before.memory, FAKE_MEMORY);
        fake_fault = SIMT_OK;
        simt_body *body = selects[i](&f->operands);
        bool went_on = body && body(&fake_warp, &f->in) == &f->in + 1;
        if (i == 0) {
            memcpy(first.regs, fake_regs, sizeof(fake_regs));
            memcpy(first.memory, fake_memory, FAKE_MEMORY);
            first.went_on = went_on;
            first.fault = fake_fault;
        } else if (memcmp(first.regs, fake_regs, sizeof(fake_regs)) != 0 ||
                   memcmp(first.memory, fake_memory, FAKE_MEMORY) != 0 ||
                   first.went_on != went_on || first.fault != fake_fault) {
            fprintf(stderr, "the bodies of instruction sets 0 and %u differ\n", i);
            return false;
        }
    }
    return first.went_on;
}

static inline uint32_t *fake_u32(unsigned reg)
{
    return (uint32_t *)(void *)fake_regs[reg];
}

static inline uint64_t *fake_u64(unsigned reg)
{
    return (uint64_t *)(void *)fake_regs[reg];
}

/* Deterministic numbers, the same everywhere. */
static uint64_t fake_seed = 1;

static inline uint32_t fake_random(void)
{
    fake_seed = fake_seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(fake_seed >> 32);
}

static inline unsigned fake_below(unsigned n)
{
    return (unsigned)((uint64_t)fake_random() * n >> 32);
}

#endif
