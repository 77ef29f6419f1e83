/*
 * registers.c: asks NVIDIA's assembler, where there is one, how many registers a kernel gets.
 * Occupancy, and so modelled time, depends on it; without it the machine estimates. It is asked
 * once a kernel, and only for launches that are profiled, timed by events or read %clock, and not
 * under a checker.
 *   LOCKSTEP_REGISTERS=N          at most N a thread, as nvcc's -maxrregcount
 *   LOCKSTEP_REGISTERS=estimated  not asked
 */
#include "driver/state.h"

#include "toolchain/ptxas.h"

#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void ask(const struct gpu_info *gpu, CUfunction function)
{
    const char *wish = getenv("LOCKSTEP_REGISTERS");
    unsigned long most = wish ? strtoul(wish, NULL, 10) : 0;
    if (wish && strcmp(wish, "estimated") == 0)
        return;
    struct lk_arena *arena = lk_arena_create();
    unsigned target, own = gpu->cc_major * 10 + gpu->cc_minor;
    char suffix;
    const char *text = simt_module_source(function->module->module, &target, &suffix);
    char letter[2] = {own == target ? suffix : 0, 0};
    const char *arch = lk_arena_printf(arena, "%u%s", own > target ? own : target, letter);
    struct ptxas_answer answer;
    if (ptxas_ask(arena, text, function->info->name, arch,
                  most >= 16 && most < 255 ? (unsigned)most : 0, &answer) &&
        answer.registers)
        simt_kernel_set_registers(function->kernel, answer.registers, answer.spill_bytes);
    lk_arena_destroy(arena);
}

void drv_ask_registers(CUfunction function)
{
    pthread_mutex_lock(&lock);
    if (!function->knows_registers)
        ask(function->module->context->device->gpu, function);
    function->knows_registers = true;
    pthread_mutex_unlock(&lock);
}
