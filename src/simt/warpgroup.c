/*
 * warpgroup.c: what the four warps of a warpgroup do together: wgmma's fence, groups and waits, and
 * setmaxnreg. See warpgroup.h.
 */
#include "simt/warpgroup.h"

#include "simt/clock.h"

/* All 32 lanes here, and three more whole warps beside this one. */
static bool is_whole(struct simt_warp *w, const struct simt_inst *in)
{
    uint32_t first = w->index & ~(SIMT_WARPGROUP - 1u);
    uint32_t threads = w->block->launch->threads_per_block;
    if (!simt_wait_lanes(w, in, SIMT_ALL))
        return false;
    if (threads < (first + SIMT_WARPGROUP) * SIMT_LANES) {
        simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, 0,
                   "%s needs a whole warpgroup (4 warps from a multiple of 4 on); the block's %u "
                   "threads end inside this one",
                   in->ptx->text, threads);
        return false;
    }
    if (w->mask != SIMT_ALL) {
        simt_raise(
            w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, -1,
            "%s: some of the warp's threads have exited; all 128 threads of a warpgroup must "
            "execute it",
            in->ptx->text);
        return false;
    }
    return true;
}

bool simt_warpgroup_enter(struct simt_warp *w, const struct simt_inst *in)
{
    if (!is_whole(w, in))
        return false;
    simt_state(w)->wgmma.issued++;
    return true;
}

/* Orders registers, which are always in order here: the checker looks for those that need it. */
const struct simt_inst *simt_wgmma_fence(struct simt_warp *w, const struct simt_inst *in)
{
    return is_whole(w, in) ? in + 1 : NULL;
}

const struct simt_inst *simt_wgmma_commit(struct simt_warp *w, const struct simt_inst *in)
{
    struct simt_wgmma *state = &simt_state(w)->wgmma;
    if (!is_whole(w, in))
        return NULL;
    state->issued_at[state->groups++ % SIMT_WGMMA_GROUPS] = state->issued;
    return in + 1;
}

/* The warp waits by coming again: it gives up its turn. Only others of its block can end that. */
static const struct simt_inst *come_again(struct simt_warp *w, const struct simt_inst *in)
{
    struct simt_warp_state *warp = simt_state(w);
    w->path->vain.in = in;
    w->path->vain.address = w->path->vain.phase = 0;
    warp->vain_waits++;
    simt_charge_turns(w, warp->fuel);
    return in;
}

const struct simt_inst *simt_wgmma_wait(struct simt_warp *w, const struct simt_inst *in)
{
    const struct simt_wgmma *state = &simt_state(w)->wgmma;
    uint32_t first = w->index & ~(SIMT_WARPGROUP - 1u);
    uint64_t pending = (uint32_t)in->ptx->operands[0].imm;
    if (!is_whole(w, in))
        return NULL;
    /* More pending groups than a GPU can tell apart are not waited for. */
    if (pending >= state->groups || pending >= SIMT_WGMMA_GROUPS)
        return in + 1;
    uint32_t wanted = state->issued_at[(state->groups - 1 - pending) % SIMT_WGMMA_GROUPS];
    for (uint32_t i = first; i < first + SIMT_WARPGROUP; i++) {
        const struct simt_warp_state *other = &w->block->warps[i];
        if (other->wgmma.issued >= wanted)
            continue;
        if (!other->w.live)
            return simt_raise(
                w, in, SIMT_FAULT_DEADLOCK, 0,
                "warp %u waits for product %u of its warpgroup, but warp %u has ended "
                "after %u: all four must execute each wgmma.mma_async",
                w->index, wanted, i, other->wgmma.issued);
        return come_again(w, in);
    }
    simt_clock_follow(w, first, SIMT_WARPGROUP);
    return in + 1;
}

/* setmaxnreg ------------------------------------------------------------------------------------
 */

/* What the threads of a block have together: setmaxnreg.dec gives back, .inc takes, and waits until
 * there is enough. A block has what it was launched with: it never gets a register of another. */
static uint64_t pool_left(const struct simt_block *block, uint32_t per_thread)
{
    uint64_t total = (uint64_t)per_thread * block->warp_count, used = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        const struct simt_warp_state *warp = &block->warps[i];
        if (warp->w.live)
            used += warp->registers ? warp->registers : per_thread;
    }
    return used < total ? total - used : 0;
}

/* Registers a thread is launched with, as the assembler settles them: .maxnreg, or what fits with
 * .minnctapersm blocks of the bounds, but no more than the largest setmaxnreg.inc. 0: it cannot
 * tell, ignores setmaxnreg, and says so. */
static uint32_t launched_registers(const struct ptx_function *kernel, uint32_t increase)
{
    enum { FILE_REGISTERS = 65536, MOST = 256 };
    const uint32_t *bounds =
        kernel->required_threads[0] ? kernel->required_threads : kernel->max_threads;
    uint64_t threads = bounds[0], registers = kernel->max_regs;
    for (int i = 1; i < 3; i++)
        threads *= bounds[i] ? bounds[i] : 1;
    if (threads && kernel->min_blocks) {
        uint64_t fit = FILE_REGISTERS / (threads * kernel->min_blocks) & ~UINT64_C(7);
        fit = fit < MOST ? fit : MOST;
        registers = registers && registers < fit ? registers : fit;
    }
    return (uint32_t)(increase && increase < registers ? increase : registers);
}

const struct simt_inst *simt_setmaxnreg(struct simt_warp *w, const struct simt_inst *in)
{
    struct simt_warp_state *warp = simt_state(w);
    const struct simt_block *block = w->block;
    const struct simt_launch_state *launch = block->launch;
    uint32_t launched = launched_registers(launch->kernel->ptx, launch->code->increase);
    uint32_t wanted = (uint32_t)in->ptx->operands[0].imm;
    if (!is_whole(w, in))
        return NULL;
    if (!launched)
        return in + 1;
    uint32_t now = warp->registers ? warp->registers : launched;
    bool is_dec = ptx_has(in->ptx, PTX_MOD_DEC);
    if (is_dec ? wanted > now : wanted < now)
        return simt_raise(w, in, SIMT_FAULT_ILLEGAL_INSTRUCTION, -1,
                          "%s to %u registers: the warp has %u, which is %s", in->ptx->text, wanted,
                          now, is_dec ? "fewer" : "more");
    if (!is_dec && wanted - now > pool_left(block, launched)) {
        uint64_t most = pool_left(block, launched) + now;
        for (uint32_t i = 0; i < block->warp_count; i++) {
            const struct simt_warp_state *other = &block->warps[i];
            uint32_t has = other->registers ? other->registers : launched;
            if (other != warp && other->w.live)
                most += has - (has < 24 ? has : 24);
        }
        if (wanted > most)
            return simt_raise(
                w, in, SIMT_FAULT_DEADLOCK, -1,
                "%s to %u registers never comes back: the block was launched with %u a "
                "thread, and even if all other warps gave back what they can, this one "
                "could have %llu",
                in->ptx->text, wanted, launched, (unsigned long long)most);
        return come_again(w, in);
    }
    warp->registers = wanted;
    return in + 1;
}
