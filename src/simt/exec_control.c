/*
 * exec_control.c: branches, calls, returns, exits.
 * What they do to paths is in path.c; here is only what the instructions say.
 */
#include "simt/clock.h"
#include "simt/warpgroup.h"

SIMT_BODY(run_bra)
{
    return simt_split(w, in->target, w->mask, in + 1, in->reconverge);
}

SIMT_BODY(run_brx)
{
    const struct simt_inst *code = w->block->launch->code->insts;
    const uint32_t *index = SIMT_SLOT(const uint32_t, in->a);
    uint32_t count = in->list[0], first = index[__builtin_ctz(w->mask)], taken = 0;
    if (first >= count)
        return simt_raise(w, in, SIMT_FAULT_INVALID_PC, __builtin_ctz(w->mask),
                          "branch index %u, but the table has %u targets", first, count);
    for (int i = 0; i < SIMT_LANES; i++)
        taken |= (uint32_t)(index[i] == first) << i;
    taken &= w->mask;
    const struct simt_inst *at = in->list[1] == UINT32_MAX ? NULL : code + in->list[1];
    /* Lanes with another index run this instruction again, without those that have left. */
    return simt_split(w, code + in->list[2 + first], taken, in, at);
}

SIMT_BODY(run_call)
{
    const struct simt_call *call = (const struct simt_call *)(const void *)in->list;
    return simt_enter_call(w, in, call, call->callee, w->mask);
}

static const struct simt_function *function_at(const struct simt_code *code, uint64_t address)
{
    for (uint32_t i = 0; i < code->function_count; i++)
        if (simt_function_address(code->functions[i].ptx) == address)
            return &code->functions[i];
    return NULL;
}

/* Lanes that call the same function go together; the others call when those are back. */
SIMT_BODY(run_call_indirect)
{
    const struct simt_call *call = (const struct simt_call *)(const void *)in->list;
    uint64_t addresses[SIMT_LANES];
    for (int i = 0; i < SIMT_LANES; i++)
        addresses[i] = in->flags & SIMT_FLAG_ADDRESS_32 ? SIMT_SLOT(const uint32_t, in->a)[i]
                                                        : SIMT_SLOT(const uint64_t, in->a)[i];
    int first = __builtin_ctz(w->mask);
    uint32_t lanes = 0;
    for (int i = 0; i < SIMT_LANES; i++)
        lanes |= (uint32_t)(addresses[i] == addresses[first]) << i;
    lanes &= w->mask;
    const struct simt_function *callee = function_at(w->block->launch->code, addresses[first]);
    if (!callee)
        return simt_raise(w, in, SIMT_FAULT_INVALID_PC, first,
                          "call through a pointer (0x%llx) that is not a device function",
                          (unsigned long long)addresses[first]);
    if (lanes != w->path_mask) {
        const struct simt_inst *next = simt_split(w, in, lanes, in, in + 1);
        if (!next)
            return NULL;
    }
    return simt_enter_call(w, in, call, callee, lanes);
}

SIMT_BODY(run_ret)
{
    return simt_return(w, in);
}

SIMT_BODY(run_exit)
{
    return simt_exit(w, in);
}

SIMT_BODY(run_trap)
{
    return simt_raise(w, in, SIMT_FAULT_TRAP, __builtin_ctz(w->mask), "trap");
}

SIMT_BODY(run_brkpt)
{
    return simt_raise(w, in, SIMT_FAULT_TRAP, __builtin_ctz(w->mask),
                      "breakpoint, and no debugger is attached");
}

/* Gives up the rest of the slice, so that other paths can run meanwhile. A GPU sleeps for a
 * millisecond at most. */
SIMT_BODY(run_nanosleep)
{
    const uint32_t *wanted = SIMT_SLOT(const uint32_t, in->a);
    uint32_t ns = 0;
    for (int i = 0; i < SIMT_LANES; i++)
        ns = w->mask >> i & 1 && wanted[i] > ns ? wanted[i] : ns;
    simt_charge_turns(w, 4096);
    simt_keep_time(w, in);
    if (!simt_pauses(w, 1))
        simt_state(w)->clock +=
            simt_cycles_of_ns(w->block->launch->machine, ns < 1000000 ? ns : 1000000);
    return in + 1;
}

SIMT_BODY(run_nothing)
{
    return in + 1;
}

simt_body *SIMT_NAME(control_select)(const struct simt_operands *operands)
{
    switch (operands->ptx->op) {
    case PTX_OP_BRA:
        return run_bra;
    case PTX_OP_BRX:
        return run_brx;
    case PTX_OP_CALL:
        return operands->ptx->operands[1].kind == PTX_OPERAND_FUNCTION ? run_call
                                                                       : run_call_indirect;
    case PTX_OP_RET:
        return run_ret;
    case PTX_OP_EXIT:
        return run_exit;
    case PTX_OP_TRAP:
        return run_trap;
    case PTX_OP_BRKPT:
        return run_brkpt;
    case PTX_OP_NANOSLEEP:
        return run_nanosleep;
    case PTX_OP_PMEVENT:
    case PTX_OP_GRIDDEPCONTROL: /* grids run one after the other: nothing to wait for */
        return run_nothing;
    case PTX_OP_SETMAXNREG:
        return simt_setmaxnreg;
    default:
        return NULL;
    }
}
