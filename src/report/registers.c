/*
 * registers.c: asks ptxas about each PTX file that a profiled program loaded, and puts the
 * registers that it assigns into the profile.
 */
#include "report/profile.h"

#include "toolchain/ptxas.h"

#include <string.h>

static bool is_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static void set_registers(struct profile *profile, const char *ptx,
                          const struct ptxas_kernel *answer)
{
    for (unsigned i = 0; i < profile->kernel_count; i++) {
        struct profile_kernel *kernel = profile->kernels[i];
        if (!answer->registers || !is_same(kernel->ptx, ptx) ||
            !is_same(kernel->mangled, answer->name))
            continue;
        kernel->registers = answer->registers;
        kernel->spill_bytes = answer->spill_bytes;
        kernel->registers_from = "ptxas";
    }
}

void profile_ask_ptxas(struct profile *profile, const char *folder, unsigned most_registers)
{
    struct lk_arena *arena = profile->arena;
    if (profile->launch_count == 0)
        return;
    const struct gpu_info *gpu = profile->launches[0]->gpu;
    for (unsigned i = 0; i < profile->kernel_count; i++) {
        const struct profile_kernel *kernel = profile->kernels[i];
        bool asked = !kernel->ptx;
        for (unsigned k = 0; k < i && !asked; k++)
            asked = is_same(profile->kernels[k]->ptx, kernel->ptx);
        if (asked)
            continue;
        unsigned own = gpu->cc_major * 10 + gpu->cc_minor;
        char suffix[2] = {own == kernel->target ? kernel->target_suffix : 0, 0};
        char *arch =
            lk_arena_printf(arena, "%u%s", own > kernel->target ? own : kernel->target, suffix);
        char *path = lk_arena_printf(arena, "%s/%s", folder, kernel->ptx);
        size_t count;
        const struct ptxas_kernel *answers = ptxas_ask(arena, path, arch, most_registers, &count);
        for (size_t k = 0; k < count; k++)
            set_registers(profile, kernel->ptx, &answers[k]);
    }
}
