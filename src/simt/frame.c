/*
 * frame.c: what a call begins with: constants and special registers in their slots, and zeros (or
 * poison) in every register and every byte of local memory that the program may read unwritten.
 */
#include "simt/cluster.h"

static void fill_lanes(uint8_t *slot, uint32_t bytes, uint64_t low, uint64_t high)
{
    switch (bytes) {
    case 0:
        *(uint32_t *)(void *)slot = low ? SIMT_ALL : 0;
        break;
    case 2:
        for (int i = 0; i < SIMT_LANES; i++)
            ((uint16_t *)(void *)slot)[i] = (uint16_t)low;
        break;
    case 4:
        for (int i = 0; i < SIMT_LANES; i++)
            ((uint32_t *)(void *)slot)[i] = (uint32_t)low;
        break;
    case 8:
        for (int i = 0; i < SIMT_LANES; i++)
            ((uint64_t *)(void *)slot)[i] = low;
        break;
    default:
        for (int i = 0; i < SIMT_LANES; i++) {
            ((uint64_t *)(void *)slot)[2 * i] = low;
            ((uint64_t *)(void *)slot)[2 * i + 1] = high;
        }
    }
}

/* One of a thread's three indices, for all lanes of a warp: counted up, since division is slow. */
static void fill_index(const struct simt_warp_state *warp, enum ptx_sreg sreg,
                       uint32_t values[SIMT_LANES])
{
    const uint32_t *block = warp->w.block->launch->launch->block;
    uint32_t thread = warp->w.index * SIMT_LANES;
    if (block[1] == 1 && block[2] == 1) {
        for (uint32_t lane = 0; lane < SIMT_LANES; lane++)
            values[lane] = sreg == PTX_SREG_TID_X ? thread + lane : 0;
        return;
    }
    uint32_t x = thread % block[0], y = thread / block[0] % block[1],
             z = thread / block[0] / block[1];
    for (uint32_t lane = 0; lane < SIMT_LANES; lane++) {
        values[lane] = sreg == PTX_SREG_TID_X ? x : sreg == PTX_SREG_TID_Y ? y : z;
        if (++x == block[0]) {
            x = 0;
            y++;
        }
        if (y == block[1]) {
            y = 0;
            z++;
        }
    }
}

static uint32_t lane_sreg(enum ptx_sreg sreg, uint32_t lane)
{
    switch (sreg) {
    case PTX_SREG_LANEID:
        return lane;
    case PTX_SREG_LANEMASK_EQ:
        return 1u << lane;
    case PTX_SREG_LANEMASK_LE:
        return (2u << lane) - 1;
    case PTX_SREG_LANEMASK_LT:
        return (1u << lane) - 1;
    case PTX_SREG_LANEMASK_GE:
        return SIMT_ALL << lane;
    default: /* PTX_SREG_LANEMASK_GT */
        return ~((2u << lane) - 1);
    }
}

static bool is_lane_sreg(enum ptx_sreg sreg)
{
    return sreg <= PTX_SREG_TID_Z || sreg == PTX_SREG_LANEID ||
           (sreg >= PTX_SREG_LANEMASK_EQ && sreg <= PTX_SREG_LANEMASK_GT);
}

/* Special registers that all lanes of a warp share. */
static uint64_t warp_sreg(const struct simt_warp_state *warp, enum ptx_sreg sreg, uint32_t number)
{
    const struct simt_block *block = warp->w.block;
    const struct simt_launch_state *state = block->launch;
    const struct simt_launch *launch = state->launch;
    const struct gpu_info *gpu = state->machine->gpu;
    const uint32_t *cluster = state->cluster;
    if (sreg >= PTX_SREG_NTID_X && sreg <= PTX_SREG_NTID_Z)
        return launch->block[sreg - PTX_SREG_NTID_X];
    if (sreg >= PTX_SREG_CTAID_X && sreg <= PTX_SREG_CTAID_Z)
        return block->index[sreg - PTX_SREG_CTAID_X];
    if (sreg >= PTX_SREG_NCTAID_X && sreg <= PTX_SREG_NCTAID_Z)
        return launch->grid[sreg - PTX_SREG_NCTAID_X];
    if (sreg >= PTX_SREG_CLUSTERID_X && sreg <= PTX_SREG_CLUSTERID_Z)
        return block->index[sreg - PTX_SREG_CLUSTERID_X] / cluster[sreg - PTX_SREG_CLUSTERID_X];
    if (sreg >= PTX_SREG_NCLUSTERID_X && sreg <= PTX_SREG_NCLUSTERID_Z)
        return launch->grid[sreg - PTX_SREG_NCLUSTERID_X] / cluster[sreg - PTX_SREG_NCLUSTERID_X];
    if (sreg >= PTX_SREG_CLUSTER_CTAID_X && sreg <= PTX_SREG_CLUSTER_CTAID_Z)
        return block->index[sreg - PTX_SREG_CLUSTER_CTAID_X] %
               cluster[sreg - PTX_SREG_CLUSTER_CTAID_X];
    if (sreg >= PTX_SREG_CLUSTER_NCTAID_X && sreg <= PTX_SREG_CLUSTER_NCTAID_Z)
        return cluster[sreg - PTX_SREG_CLUSTER_NCTAID_X];
    switch (sreg) {
    case PTX_SREG_WARPID:
        return warp->w.index;
    case PTX_SREG_NWARPID:
        return gpu->warps_per_sm;
    case PTX_SREG_SMID:
        return block->linear % gpu->sms;
    case PTX_SREG_NSMID:
        return gpu->sms;
    case PTX_SREG_GRIDID:
        return state->grid_number;
    case PTX_SREG_TOTAL_SMEM_SIZE:
        return state->shared_bytes;
    case PTX_SREG_AGGR_SMEM_SIZE:
        return state->shared_bytes + gpu->shared_reserved_per_block;
    case PTX_SREG_RESERVED_SMEM_OFFSET_BEGIN:
    case PTX_SREG_RESERVED_SMEM_OFFSET_0:
        return block->window + state->reserved_at;
    case PTX_SREG_RESERVED_SMEM_OFFSET_1:
        return block->window + state->reserved_at + (state->shared_end - state->reserved_at) / 2;
    case PTX_SREG_RESERVED_SMEM_OFFSET_END:
        return block->window + state->shared_end;
    case PTX_SREG_RESERVED_SMEM_OFFSET_CAP:
        return gpu->shared_reserved_per_block;
    case PTX_SREG_DYNAMIC_SMEM_SIZE:
        return launch->dynamic_shared;
    case PTX_SREG_CLUSTER_CTARANK:
        return block->window >> SIMT_RANK_SHIFT;
    case PTX_SREG_CLUSTER_NCTARANK:
        return state->cluster_size;
    case PTX_SREG_IS_EXPLICIT_CLUSTER:
        return launch->cluster[0] != 0;
    case PTX_SREG_ENVREG: /* 1 (high) and 2 (low): where cooperative groups find the grid's barrier
                           */
        if (!launch->cooperative)
            return 0;
        return number == 2   ? (uint32_t)state->grid_workspace
               : number == 1 ? state->grid_workspace >> 32
                             : 0;
    default:
        return 0;
    }
}

static void fill_sregs(struct simt_warp_state *warp, struct simt_frame *frame)
{
    for (uint32_t i = 0; i < frame->function->sreg_count; i++) {
        enum ptx_sreg sreg = frame->function->sregs[i].sreg;
        uint8_t *slot = frame->regs + frame->function->sregs[i].slot;
        if (!is_lane_sreg(sreg)) {
            unsigned bits = ptx_sreg_bits(sreg);
            fill_lanes(slot, bits == 1 ? 0 : bits / 8,
                       warp_sreg(warp, sreg, frame->function->sregs[i].number), 0);
            continue;
        }
        uint32_t values[SIMT_LANES];
        if (sreg <= PTX_SREG_TID_Z)
            fill_index(warp, sreg, values);
        for (uint32_t lane = 0; sreg > PTX_SREG_TID_Z && lane < SIMT_LANES; lane++)
            values[lane] = lane_sreg(sreg, lane);
        memcpy(slot, values, sizeof(values));
    }
}

void simt_local_clear(struct simt_warp_state *warp, uint32_t lanes, uint32_t from, uint32_t bytes)
{
    const struct simt_launch_state *launch = warp->w.block->launch;
    if (bytes == 0)
        return;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        memset(warp->local + (size_t)__builtin_ctz(rest) * launch->local_stride + from,
               launch->machine->options.poison, bytes);
    warp->local_used = from + bytes > warp->local_used ? from + bytes : warp->local_used;
}

static void fill_shared_addresses(struct simt_warp_state *warp, struct simt_frame *frame)
{
    const struct simt_function *function = frame->function;
    for (uint32_t i = 0; i < function->literal_count; i++) {
        const struct simt_literal *literal = &function->literals[i];
        if (literal->is_shared)
            fill_lanes(frame->regs + literal->slot, literal->bytes,
                       literal->low + warp->w.block->window, 0);
    }
}

/* Literals stay as they are while a frame is used for the same function. */
void simt_frame_fill(struct simt_warp_state *warp, struct simt_frame *frame,
                     const struct simt_function *function)
{
    if (frame->function != function) {
        frame->function = function;
        for (uint32_t i = 0; i < function->literal_count; i++) {
            const struct simt_literal *literal = &function->literals[i];
            fill_lanes(frame->regs + literal->slot, literal->bytes, literal->low, literal->high);
        }
    }
    if (warp->w.block->launch->cluster_size > 1)
        fill_shared_addresses(warp, frame);
    for (uint32_t i = 0; i < function->unwritten_count; i++)
        memset(frame->regs + function->unwritten[i].slot,
               warp->w.block->launch->machine->options.poison, function->unwritten[i].size);
    fill_sregs(warp, frame);
}
