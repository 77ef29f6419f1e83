/*
 * registers.c: asks NVIDIA's assembler, where there is one, how many registers a module's kernels
 * get. Occupancy, and so modelled time, depends on it; without it the machine estimates. It is
 * asked once a module, and only for launches that are timed or profiled. LOCKSTEP_REGISTERS=N at
 * most N a thread, as nvcc's -maxrregcount LOCKSTEP_REGISTERS=estimated  not asked
 */
#include "driver/state.h"

#include "toolchain/ptxas.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void set_registers(struct simt_module *module, const struct ptxas_kernel *answer)
{
    struct simt_kernel *kernel = simt_module_kernel(module, answer->name);
    if (kernel && answer->registers)
        simt_kernel_set_registers(kernel, answer->registers, answer->spill_bytes);
}

static void ask(const struct gpu_info *gpu, struct simt_module *module)
{
    const char *wish = getenv("LOCKSTEP_REGISTERS");
    unsigned long most = wish ? strtoul(wish, NULL, 10) : 0;
    if (wish && strcmp(wish, "estimated") == 0)
        return;
    struct lk_arena *arena = lk_arena_create();
    unsigned target, own = gpu->cc_major * 10 + gpu->cc_minor;
    char suffix;
    const char *text = simt_module_source(module, &target, &suffix);
    char letter[2] = {own == target ? suffix : 0, 0};
    const char *arch = lk_arena_printf(arena, "%u%s", own > target ? own : target, letter);
    size_t count;
    const struct ptxas_kernel *answers =
        ptxas_ask(arena, text, arch, most >= 16 && most < 255 ? (unsigned)most : 255, &count);
    for (size_t i = 0; i < count; i++)
        set_registers(module, &answers[i]);
    lk_arena_destroy(arena);
}

void drv_ask_registers(CUmodule module)
{
    pthread_mutex_lock(&lock);
    if (!module->knows_registers)
        ask(module->context->device->gpu, module->module);
    module->knows_registers = true;
    pthread_mutex_unlock(&lock);
}
