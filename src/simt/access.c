/*
 * access.c: the slow way from addresses to host bytes: every lane by itself, with faults.
 */
#include "simt/access.h"

static uint64_t lane_address(const struct simt_warp *w, const struct simt_inst *in, unsigned bits,
                             int lane)
{
    if (bits == 64)
        return SIMT_SLOT(const uint64_t, in->a)[lane] + (uint64_t)in->imm;
    return (uint32_t)(SIMT_SLOT(const uint32_t, in->a)[lane] + (uint32_t)in->imm);
}

bool simt_access_scattered(struct simt_warp *w, const struct simt_inst *in, enum ptx_space space,
                           unsigned address_bits, uint32_t size, bool is_write,
                           uint8_t *hosts[SIMT_LANES])
{
    const struct simt_memory *memory = &w->block->launch->machine->memory;
    bool arena = space == PTX_SPACE_GLOBAL || space == PTX_SPACE_GENERIC;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t address = lane_address(w, in, address_bits, lane), offset = address - memory->base;
        /* An aligned access of up to 16 bytes lies in one granule. */
        if (arena && offset < SIMT_ARENA && memory->granules[offset >> SIMT_GRANULE_BITS] &&
            !(address & (size - 1))) {
            hosts[lane] = (uint8_t *)(uintptr_t)(address + SIMT_BACKING);
            continue;
        }
        uint64_t own = address - w->block->window;
        if (space == PTX_SPACE_SHARED && !(address & (size - 1)) && own < w->block->shared_bytes &&
            own + size <= w->block->shared_bytes) {
            hosts[lane] = w->block->shared + own;
            continue;
        }
        hosts[lane] = simt_translate(w, in, space, address, size, lane, is_write);
        if (!hosts[lane])
            return false;
    }
    return true;
}

/* Addresses of a kernel's parameters in registers of 32 bits: see cvta_param_64. */
static bool near_params(struct simt_warp *w, const struct simt_inst *in, uint32_t size,
                        bool is_write, uint8_t *hosts[SIMT_LANES])
{
    uint64_t above = w->block->launch->params_address >> 32 << 32;
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        hosts[lane] = simt_translate(w, in, PTX_SPACE_GENERIC,
                                     above | lane_address(w, in, 32, lane), size, lane, is_write);
        if (!hosts[lane])
            return false;
    }
    return true;
}

bool simt_access_hosts(struct simt_warp *w, const struct simt_inst *in, uint32_t size,
                       bool is_write, uint8_t *hosts[SIMT_LANES])
{
    enum ptx_space space = access_space(in->ptx);
    unsigned bits = in->flags & SIMT_FLAG_ADDRESS_32 ? 32 : 64;
    if (in->flags & SIMT_FLAG_FRAME) { /* the frame's own memory */
        uint32_t stride = w->block->launch->local_stride;
        uint64_t at = w->path->frame->local_base + (uint64_t)in->imm;
        for (uint32_t lane = 0; lane < SIMT_LANES; lane++)
            hosts[lane] = simt_state(w)->local + (size_t)lane * stride + at;
        return true;
    }
    if (in->flags & SIMT_FLAG_PARAM) {
        for (int lane = 0; lane < SIMT_LANES; lane++)
            hosts[lane] = w->block->launch->params + in->imm;
        return true;
    }
    if (space == PTX_SPACE_PARAM && bits == 32 && !w->path->frame->parent)
        return near_params(w, in, size, is_write, hosts);
    if (space == PTX_SPACE_PARAM) /* an address that was taken */
        space = w->path->frame->parent ? PTX_SPACE_LOCAL : PTX_SPACE_GENERIC;
    return simt_access_scattered(w, in, space, bits, size, is_write, hosts);
}
