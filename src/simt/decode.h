/*
 * decode.h: what the two halves of the decoder share: slots.c lays out a function's registers,
 * decode.c turns its instructions into simt_inst.
 */
#ifndef LOCKSTEP_SIMT_DECODE_H
#define LOCKSTEP_SIMT_DECODE_H

#include "simt/core.h"

struct slot_literal_list {
    struct simt_literal *items;
    uint32_t count, capacity;
};

struct decoder {
    struct simt_module *module;
    struct simt_code *code;
    struct lk_arena *arena;

    /* Functions reachable from the entry; index in code->functions by ptx index + 1. */
    uint32_t *function_numbers;
    bool calls_indirectly;

    /* Shared variables of the kernel: offsets by module variable index, UINT32_MAX unplaced. */
    uint32_t *shared_offsets;
    uint32_t shared_top;
    bool uses_dynamic_shared;
    uint32_t dynamic_align;

    /* The function being decoded. */
    struct simt_function *function;
    const struct ptx_function *ptx;
    uint32_t *slots;           /* [reg_count] */
    uint32_t frame_top;        /* first free byte of the frame */
    uint32_t sink;             /* a slot that is never read */
    struct lk_map var_offsets; /* variables of the body and formals -> offset + 1, in local or
                                  shared memory */
    struct slot_literal_list literals;
    struct simt_sreg_slot *sregs;
    uint32_t sreg_count, sreg_capacity;

    struct simt_inst *insts;
    uint32_t inst_count, inst_capacity;
};

unsigned slot_bits(enum ptx_type type); /* width of the slot of a register of that type */
void slots_assign(struct decoder *decoder);
uint32_t slot_new(struct decoder *decoder, unsigned bits);
uint32_t slot_literal(struct decoder *decoder, uint64_t low, uint64_t high, unsigned bits);
/* The address of a variable, or of none. */
uint32_t slot_address(struct decoder *decoder, const struct ptx_var *var, uint64_t address,
                      unsigned bits);
uint32_t slot_sreg(struct decoder *decoder, enum ptx_sreg sreg, uint32_t number);

/* decode_operand.c */
struct simt_inst *decode_emit(struct decoder *decoder, simt_body *run, const struct ptx_inst *ptx);
struct simt_inst *decode_hidden(struct decoder *decoder, simt_body *run,
                                const struct ptx_inst *ptx);
void decode_guard(struct decoder *decoder, struct simt_inst *inst);
bool decode_var_offset(const struct decoder *decoder, const struct ptx_var *var, uint32_t *offset);
void decode_put_var_offset(struct decoder *decoder, const struct ptx_var *const *var,
                           uint32_t offset);
uint32_t decode_place_shared(struct decoder *decoder, const struct ptx_var *var);
void decode_note_shared(struct decoder *decoder, const struct ptx_operand *operand);
bool decode_fixed_address(const struct decoder *decoder, const struct ptx_var *var,
                          uint64_t *address);
unsigned decode_operand_bits(const struct decoder *decoder, const struct ptx_operand *operand);
uint32_t decode_operand_slot(struct decoder *decoder, const struct ptx_inst *ptx,
                             const struct ptx_operand *operand);
uint32_t decode_address_slot(struct decoder *decoder, const struct ptx_inst *ptx,
                             const struct ptx_operand *operand, int64_t *imm, unsigned *bits);

/* decode_inst.c, decode_call.c */
void decode_plain(struct decoder *decoder, const struct ptx_inst *ptx);
void decode_call(struct decoder *decoder, const struct ptx_inst *ptx, simt_body *run);
struct simt_place decode_formal_place(struct decoder *decoder, const struct ptx_formal *formal);
const struct ptx_function *decode_resolve(const struct ptx_function *function);

#endif
