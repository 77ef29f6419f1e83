/*
 * fault.c: words the errors of kernels.
 * The message names the kernel, block and thread, the PTX line and the source line.
 */
#include "simt/cluster.h"

#include <stdarg.h>
#include <stdio.h>

static void add_place(struct lk_buf *text, const struct simt_warp *w, const struct simt_inst *in,
                      int lane)
{
    const struct simt_block *block = w->block;
    const struct simt_launch *launch = block->launch->launch;
    const struct ptx_function *entry = block->launch->kernel->ptx;
    const struct ptx_module *module = entry->module;
    const struct ptx_inst *ptx = in->ptx;
    if (ptx->loc && ptx->loc < module->loc_count) {
        const struct ptx_loc *loc = &module->locs[ptx->loc];
        const char *file = loc->file < module->file_count ? module->files[loc->file] : "?";
        lk_buf_printf(text, "\n  at %s:%u", file, loc->line);
        while (loc->inlined_at && loc->inlined_at < module->loc_count) {
            loc = &module->locs[loc->inlined_at];
            file = loc->file < module->file_count ? module->files[loc->file] : "?";
            lk_buf_printf(text, ", inlined at %s:%u", file, loc->line);
        }
    } else {
        lk_buf_printf(text, "\n  at a place without source line (compile with -lineinfo)");
    }
    lk_buf_printf(text, "\n  PTX line %u: %s", ptx->line, ptx->text);
    lk_buf_printf(text, "\n  in kernel %s, block (%u,%u,%u)", entry->name, block->index[0],
                  block->index[1], block->index[2]);
    if (lane >= 0) {
        uint32_t thread = w->index * SIMT_LANES + (uint32_t)lane;
        lk_buf_printf(text, ", thread (%u,%u,%u)", thread % launch->block[0],
                      thread / launch->block[0] % launch->block[1],
                      thread / launch->block[0] / launch->block[1]);
    }
}

const struct simt_inst *simt_raise(struct simt_warp *w, const struct simt_inst *in,
                                   enum simt_fault_kind kind, int lane, const char *format, ...)
{
    struct simt_launch_state *launch = w->block->launch;
    struct lk_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    size_t what_length = text.size;
    add_place(&text, w, in, lane);
    pthread_mutex_lock(&launch->fault_lock);
    if (launch->fault->kind == SIMT_OK) {
        launch->fault->kind = kind;
        launch->fault->what_length = what_length;
        snprintf(launch->fault->text, sizeof(launch->fault->text), "%s", text.data);
        launch->fault_at.in = in;
        launch->fault_at.block = w->block->linear;
        launch->fault_at.thread = lane >= 0 ? w->index * SIMT_LANES + (uint32_t)lane : UINT32_MAX;
    }
    launch->stop = 1;
    pthread_mutex_unlock(&launch->fault_lock);
    lk_buf_free(&text);
    return NULL;
}

/* Addresses ---------------------------------------------------------------------------------------
 */

static uint8_t *bad_address(struct simt_warp *w, const struct simt_inst *in,
                            enum simt_fault_kind kind, int lane, uint64_t address, uint32_t size,
                            bool is_write, const char *why)
{
    simt_raise(w, in, kind, lane, "%s of %u bytes at 0x%llx: %s", is_write ? "write" : "read", size,
               (unsigned long long)address, why);
    return NULL;
}

static uint8_t *global_host(struct simt_warp *w, const struct simt_inst *in, uint64_t address,
                            uint32_t size, int lane, bool is_write)
{
    struct simt_memory *memory = &w->block->launch->machine->memory;
    uint8_t *host = simt_memory_host(memory, address, size);
    if (!host)
        host = simt_memory_listed(memory, address, size, is_write);
    if (!host)
        return bad_address(w, in, SIMT_FAULT_ILLEGAL_ADDRESS, lane, address, size, is_write,
                           is_write && simt_memory_listed(memory, address, size, false)
                               ? "it may only be read (cuMemSetAccess)"
                               : "no memory is allocated there");
    return host;
}

/* Instructions for the block's own shared memory take plain offsets too. */
static uint8_t *shared_of_cluster(struct simt_warp *w, const struct simt_inst *in, uint64_t address,
                                  uint32_t size, int lane, bool is_write, bool anywhere)
{
    uint32_t rank, offset, own = simt_block_rank(w->block);
    simt_shared_split(address, &rank, &offset);
    if (!anywhere && rank != own) {
        if (rank)
            return bad_address(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane, address, size, is_write,
                               "shared memory of another block of the cluster; it takes "
                               ".shared::cluster or a generic address");
        rank = own;
    }
    return simt_cluster_shared(w, in, rank, offset, size, lane, is_write);
}

uint8_t *simt_translate(struct simt_warp *w, const struct simt_inst *in, enum ptx_space space,
                        uint64_t address, uint32_t size, int lane, bool is_write)
{
    const struct simt_block *block = w->block;
    if (address & (size - 1))
        return bad_address(w, in, SIMT_FAULT_MISALIGNED, lane, address, size, is_write,
                           "the address is not a multiple of the access size");
    bool anywhere = ptx_has(in->ptx, PTX_MOD_SHARED_CLUSTER);
    if (space == PTX_SPACE_GENERIC && address >= SIMT_SHARED_WINDOW) {
        if (address - SIMT_SHARED_WINDOW < SIMT_SHARED_WINDOWS) {
            space = PTX_SPACE_SHARED;
            anywhere = true;
            address -= SIMT_SHARED_WINDOW;
        } else if (address - SIMT_LOCAL_WINDOW < SIMT_LOCAL_WINDOW_SIZE) {
            space = PTX_SPACE_LOCAL;
            address -= SIMT_LOCAL_WINDOW;
        }
    }
    switch (space) {
    case PTX_SPACE_SHARED:
        if (block->cluster)
            return shared_of_cluster(w, in, address, size, lane, is_write, anywhere);
        if ((address + size > block->shared_bytes || address + size < size) &&
            !simt_reserved(block, address, size) &&
            (is_write || !simt_reads_on(block, address, size)))
            return bad_address(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, lane, address, size, is_write,
                               "outside of the block's shared memory");
        return block->shared + address;
    case PTX_SPACE_LOCAL:
        if (address + size > block->launch->local_stride || address + size < size)
            return bad_address(w, in, SIMT_FAULT_ILLEGAL_ADDRESS, lane, address, size, is_write,
                               "outside of the thread's local memory");
        if (is_write && address + size > simt_state(w)->local_used)
            simt_state(w)->local_used = (uint32_t)(address + size);
        return simt_state(w)->local + (size_t)lane * block->launch->local_stride + address;
    default:
        return global_host(w, in, address, size, lane, is_write);
    }
}
