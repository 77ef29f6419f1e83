/*
 * num_round.h: the four rounding modes of .rn .rz .rm .rp.
 * The host's own rounding mode is switched around a loop over the lanes. The compiler does not know
 * that arithmetic depends on it, so both switches are barriers for memory: operands must be read
 * after num_enter_rounding, and results must be in memory that is passed to num_leave_rounding.
 */
#ifndef LOCKSTEP_SIMT_NUM_ROUND_H
#define LOCKSTEP_SIMT_NUM_ROUND_H

#include "ptx/ptx.h"

#include <fenv.h>
#include <stdint.h>

enum num_round { NUM_RN, NUM_RZ, NUM_RM, NUM_RP, NUM_RNA };

static inline enum num_round num_round_of(const struct ptx_inst *inst)
{
    if (ptx_has(inst, PTX_MOD_RZ) || ptx_has(inst, PTX_MOD_RZI))
        return NUM_RZ;
    if (ptx_has(inst, PTX_MOD_RM) || ptx_has(inst, PTX_MOD_RMI))
        return NUM_RM;
    if (ptx_has(inst, PTX_MOD_RP) || ptx_has(inst, PTX_MOD_RPI))
        return NUM_RP;
    return ptx_has(inst, PTX_MOD_RNA) ? NUM_RNA : NUM_RN;
}

#ifdef __x86_64__
static inline int num_enter_rounding(enum num_round round)
{
    static const uint32_t control[] = {
        [NUM_RN] = 0x0000, [NUM_RM] = 0x2000, [NUM_RP] = 0x4000, [NUM_RZ] = 0x6000};
    uint32_t saved, wanted;
    __asm__ volatile("stmxcsr %0" : "=m"(saved));
    wanted = (saved & ~0x6000u) | control[round];
    __asm__ volatile("ldmxcsr %0" : : "m"(wanted) : "memory");
    return (int)saved;
}
static inline void num_leave_rounding(int saved, void *results)
{
    __asm__ volatile("" : : "r"(results) : "memory");
    __asm__ volatile("ldmxcsr %0" : : "m"(saved) : "memory");
}
#else
static inline int num_enter_rounding(enum num_round round)
{
    static const int modes[] = {[NUM_RN] = FE_TONEAREST,
                                [NUM_RM] = FE_DOWNWARD,
                                [NUM_RP] = FE_UPWARD,
                                [NUM_RZ] = FE_TOWARDZERO};
    int saved = fegetround();
    fesetround(modes[round]);
    __asm__ volatile("" : : : "memory");
    return saved;
}
static inline void num_leave_rounding(int saved, void *results)
{
    __asm__ volatile("" : : "r"(results) : "memory");
    fesetround(saved);
}
#endif

#endif
