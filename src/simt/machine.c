/*
 * machine.c: a machine and its modules: loading, variables, kernels and their properties.
 */
#include "simt/core.h"
#include "simt/states.h"
#include "simt/texture.h"
#include "simt/watch.h"

#include "host/pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PARAM_BYTES 32768
#define DEFAULT_LIMIT UINT64_C(50000000000)
#define DEFAULT_PATIENCE 20 /* seconds: a host that takes longer to set a flag is asleep */

/* Options
 * ------------------------------------------------------------------------------------------- */

static uint64_t number_from(const char *name, const char *text)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 0);
    if (errno || end == text || *end) {
        fprintf(stderr, "lockstep: %s=%s is not a number; ignored\n", name, text);
        return 0;
    }
    return value;
}

struct simt_options simt_options_from_environment(void)
{
    struct simt_options options = {0};
    const char *threads = getenv("LOCKSTEP_THREADS"), *schedule = getenv("LOCKSTEP_SCHEDULE"),
               *limit = getenv("LOCKSTEP_LIMIT"), *poison = getenv("LOCKSTEP_POISON"),
               *patience = getenv("LOCKSTEP_PATIENCE");
    if (threads && *threads)
        options.threads = (unsigned)number_from("LOCKSTEP_THREADS", threads);
    if (limit && *limit)
        options.instruction_limit = number_from("LOCKSTEP_LIMIT", limit);
    if (patience && *patience)
        options.patience = (unsigned)number_from("LOCKSTEP_PATIENCE", patience);
    if (poison && *poison)
        options.poison = (uint8_t)number_from("LOCKSTEP_POISON", poison);
    const char *sample = getenv("LOCKSTEP_SAMPLE"), *colon = sample ? strchr(sample, ':') : NULL;
    if (colon) {
        options.sample_blocks = strtoull(sample, NULL, 10);
        options.sample_instructions = number_from("LOCKSTEP_SAMPLE", colon + 1);
    }
    if (schedule && strncmp(schedule, "random:", 7) == 0) {
        options.random_schedule = true;
        options.seed = number_from("LOCKSTEP_SCHEDULE", schedule + 7);
    } else if (schedule && *schedule) {
        fprintf(stderr, "lockstep: LOCKSTEP_SCHEDULE=%s: expected random:SEED; ignored\n",
                schedule);
    }
    return options;
}

/* Machine
 * -------------------------------------------------------------------------------------------- */

/* Each machine of a process has its own part of the address space, below where the host's programs
 * and libraries lie. */
enum { MACHINES = GPU_SIMULATED_MAX };
static _Atomic unsigned indices_used; /* a bit each */

static unsigned take_index(void)
{
    for (unsigned i = 0; i < MACHINES; i++)
        if (!(atomic_fetch_or(&indices_used, 1u << i) >> i & 1))
            return i;
    return MACHINES;
}

static void give_index(unsigned index)
{
    atomic_fetch_and(&indices_used, ~(1u << index));
}

struct simt_machine *simt_create(const struct gpu_info *gpu, const struct simt_options *options)
{
    unsigned index = take_index();
    if (index == MACHINES) {
        fprintf(stderr, "lockstep: a process can have %d simulated GPUs at a time\n", MACHINES);
        return NULL;
    }
    struct simt_machine *machine = lk_alloc_zeroed(sizeof(*machine));
    machine->gpu = gpu;
    machine->index = index;
    machine->options = *options;
    if (!machine->options.threads) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        machine->options.threads = cores > 0 ? (unsigned)cores : 1;
    }
    if (!machine->options.instruction_limit)
        machine->options.instruction_limit = DEFAULT_LIMIT;
    if (!machine->options.patience)
        machine->options.patience = DEFAULT_PATIENCE;
    machine->heap_bytes = (size_t)8 << 20;
    machine->stack_bytes = 1024;
    if (!simt_memory_open(&machine->memory, machine->index, gpu->memory_bytes)) {
        give_index(index);
        free(machine);
        return NULL;
    }
    machine->memory.poison = options->poison;
    machine->params_address =
        simt_memory_alloc(&machine->memory, PARAM_BYTES, SIMT_MEMORY_DEVICE, SIMT_OWNER_MACHINE);
    machine->grid_workspace =
        simt_memory_alloc(&machine->memory, SIMT_GRANULE, SIMT_MEMORY_DEVICE, SIMT_OWNER_MACHINE);
    pthread_mutex_init(&machine->launch_lock, NULL);
    pthread_cond_init(&machine->launch_changed, NULL);
    pthread_mutex_init(&machine->print_lock, NULL);
    machine->pool = lk_pool_create(machine->options.threads);
    simt_watch_host_faults();
    simt_states_open(machine);
    return machine;
}

void simt_destroy(struct simt_machine *machine)
{
    if (!machine)
        return;
    simt_flush_printf(machine);
    simt_watch_close(machine);
    simt_states_close(machine);
    lk_pool_destroy(machine->pool);
    simt_heap_close(machine);
    simt_textures_close(machine);
    simt_memory_close(&machine->memory);
    give_index(machine->index);
    pthread_mutex_destroy(&machine->launch_lock);
    pthread_cond_destroy(&machine->launch_changed);
    pthread_mutex_destroy(&machine->print_lock);
    lk_buf_free(&machine->print);
    free(machine);
}

void simt_set_heap_size(struct simt_machine *machine, size_t bytes)
{
    machine->heap_bytes = bytes;
}

size_t simt_heap_size(const struct simt_machine *machine)
{
    return machine->heap_bytes;
}

void simt_set_stack_size(struct simt_machine *machine, size_t bytes)
{
    machine->stack_bytes = bytes;
}

size_t simt_stack_size(const struct simt_machine *machine)
{
    return machine->stack_bytes;
}

/* Modules
 * -----------------------------------------------------------------------------------------------
 */

static void place_variables(struct simt_module *module)
{
    struct simt_memory *memory = &module->machine->memory;
    for (uint32_t i = 0; i < module->ptx->var_count; i++) {
        const struct ptx_var *var = module->ptx->vars[i];
        if (var->space != PTX_SPACE_GLOBAL && var->space != PTX_SPACE_CONST)
            continue;
        enum simt_memory_kind kind = var->is_managed ? SIMT_MEMORY_MANAGED : SIMT_MEMORY_DEVICE;
        uint64_t address =
            simt_memory_alloc(memory, var->size ? var->size : 1, kind, SIMT_OWNER_MACHINE);
        module->var_addresses[i] = address;
        if (!address)
            continue;
        if (var->init) /* else zeros, as new memory of the machine is */
            memcpy((uint8_t *)(uintptr_t)(address + SIMT_BACKING), var->init, var->size);
    }
}

static void apply_reloc(struct simt_module *module, const struct ptx_var *var,
                        const struct ptx_reloc *reloc)
{
    uint64_t value = (uint64_t)reloc->addend;
    if (reloc->function) {
        const struct ptx_function *function = reloc->function;
        while (function->alias_of)
            function = function->alias_of;
        value += simt_function_address(function);
    } else if (reloc->var && reloc->var->space != PTX_SPACE_SHARED) {
        value += module->var_addresses[reloc->var->index];
    }
    value >>= reloc->shift;
    uint8_t *host = (uint8_t *)(uintptr_t)(module->var_addresses[var->index] + SIMT_BACKING);
    memcpy(host + reloc->offset, &value, reloc->bytes); /* little-endian */
}

static bool variables_placed(const struct simt_module *module, char **message)
{
    for (uint32_t i = 0; i < module->ptx->var_count; i++) {
        const struct ptx_var *var = module->ptx->vars[i];
        bool needs = var->space == PTX_SPACE_GLOBAL || var->space == PTX_SPACE_CONST;
        if (needs && !module->var_addresses[i]) {
            struct lk_buf text = {0};
            lk_buf_printf(&text, "%s: no device memory left for variable %s (%llu bytes)",
                          module->ptx->name, var->name, (unsigned long long)var->size);
            *message = text.data;
            return false;
        }
    }
    return true;
}

struct simt_module *simt_module_load(struct simt_machine *machine, const char *name,
                                     const char *text, size_t size, char **message)
{
    struct ptx_module *ptx = ptx_parse(name, text, size, message);
    errno = 0;
    if (!ptx)
        return NULL;
    struct simt_module *module = lk_alloc_zeroed(sizeof(*module));
    module->machine = machine;
    module->ptx = ptx;
    module->var_addresses = lk_alloc_zeroed((ptx->var_count + 1) * sizeof(uint64_t));
    module->kernels = lk_alloc_zeroed((ptx->function_count + 1) * sizeof(struct simt_kernel));
    place_variables(module);
    if (!variables_placed(module, message)) {
        simt_module_unload(module);
        errno = ENOMEM;
        return NULL;
    }
    for (uint32_t i = 0; i < ptx->var_count; i++)
        for (uint32_t k = 0; module->var_addresses[i] && k < ptx->vars[i]->reloc_count; k++)
            apply_reloc(module, ptx->vars[i], &ptx->vars[i]->relocs[k]);
    for (uint32_t i = 0; i < ptx->function_count; i++) {
        if (!ptx->functions[i]->is_entry || !ptx->functions[i]->inst_count)
            continue;
        struct simt_kernel *kernel = &module->kernels[module->kernel_count++];
        kernel->module = module;
        kernel->ptx = ptx->functions[i];
        pthread_mutex_init(&kernel->lock, NULL);
    }
    return module;
}

void simt_module_limit_registers(struct simt_module *module, unsigned most)
{
    module->max_registers = most;
}

void simt_module_unload(struct simt_module *module)
{
    if (!module)
        return;
    for (uint32_t i = 0; i < module->ptx->var_count; i++)
        if (module->var_addresses[i])
            simt_memory_free(&module->machine->memory, module->var_addresses[i],
                             SIMT_OWNER_MACHINE);
    for (unsigned i = 0; i < module->kernel_count; i++) {
        simt_code_free(module->kernels[i].code);
        pthread_mutex_destroy(&module->kernels[i].lock);
    }
    free(module->kernels);
    free(module->var_addresses);
    ptx_free(module->ptx);
    free(module);
}

bool simt_module_global(struct simt_module *module, const char *name, uint64_t *address,
                        size_t *size)
{
    const struct ptx_var *var = ptx_find_var(module->ptx, name);
    if (!var || !module->var_addresses[var->index])
        return false;
    *address = module->var_addresses[var->index];
    *size = var->size;
    return true;
}

bool simt_module_reference(struct simt_module *module, const char *name, bool *is_surface)
{
    const struct ptx_var *var = ptx_find_var(module->ptx, name);
    if (!var || (var->type != PTX_TEXREF && var->type != PTX_SURFREF))
        return false;
    *is_surface = var->type == PTX_SURFREF;
    return true;
}

struct simt_kernel *simt_module_kernel(struct simt_module *module, const char *name)
{
    for (unsigned i = 0; i < module->kernel_count; i++)
        if (strcmp(module->kernels[i].ptx->name, name) == 0)
            return &module->kernels[i];
    return NULL;
}

unsigned simt_module_kernel_count(const struct simt_module *module)
{
    return module->kernel_count;
}

struct simt_kernel *simt_module_kernel_at(struct simt_module *module, unsigned index)
{
    return index < module->kernel_count ? &module->kernels[index] : NULL;
}

/* Kernels
 * --------------------------------------------------------------------------------------------------
 */

static unsigned const_bytes(const struct ptx_module *module)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < module->var_count; i++)
        if (module->vars[i]->space == PTX_SPACE_CONST)
            bytes += module->vars[i]->size;
    return (unsigned)bytes;
}

/* Registers as ptxas might use: what is alive, some for addresses, in the limits it was given. */
static unsigned register_estimate(const struct simt_kernel *kernel, unsigned limit)
{
    unsigned registers = kernel->code->registers + 6;
    registers = registers < 16 ? 16 : (registers + 7) & ~7u;
    if (kernel->ptx->max_regs && registers > kernel->ptx->max_regs)
        registers = kernel->ptx->max_regs;
    if (kernel->module->max_registers && registers > kernel->module->max_registers)
        registers = kernel->module->max_registers;
    /* Each scheduler has a file of registers of its own, and a block's warps are dealt out. */
    const struct gpu_info *gpu = kernel->module->machine->gpu;
    unsigned dealt = SIMT_LANES * gpu->schedulers_per_sm;
    unsigned threads = (kernel->info.max_threads + dealt - 1) / dealt * dealt;
    unsigned fits = gpu->registers_per_sm / (threads ? threads : dealt) & ~7u;
    if (registers > fits)
        registers = fits;
    return registers > limit ? limit : registers;
}

static unsigned max_threads(const struct ptx_function *function, unsigned limit)
{
    const uint32_t *size =
        function->required_threads[0] ? function->required_threads : function->max_threads;
    if (!size[0])
        return limit;
    uint64_t threads = (uint64_t)size[0] * (size[1] ? size[1] : 1) * (size[2] ? size[2] : 1);
    return threads < limit ? (unsigned)threads : limit;
}

static void decode_kernel(struct simt_kernel *kernel)
{
    const struct ptx_module *ptx = kernel->module->ptx;
    const struct gpu_info *gpu = kernel->module->machine->gpu;
    struct simt_code *code = simt_decode(kernel->module, kernel->ptx);
    kernel->code = code;
    struct simt_kernel_info *info = &kernel->info;
    info->name = kernel->ptx->name;
    info->module = kernel->module;
    info->max_threads = max_threads(kernel->ptx, gpu->threads_per_block);
    info->registers = register_estimate(kernel, gpu->registers_per_thread);
    info->static_shared = code->static_shared;
    info->local_bytes = code->local_bytes;
    info->const_bytes = const_bytes(ptx);
    info->ptx_version = ptx->target;
    info->binary_version = gpu->cc_major * 10 + gpu->cc_minor;
    info->param_count = kernel->ptx->param_count;
    info->param_bytes = kernel->ptx->param_bytes;
    info->param_align = 1;
    for (uint32_t i = 0; i < kernel->ptx->param_count; i++) {
        const struct ptx_var *var = kernel->ptx->params[i].var;
        if (var && var->align > info->param_align)
            info->param_align = var->align;
    }
    memcpy(info->required_cluster, kernel->ptx->required_cluster, sizeof(info->required_cluster));
    info->max_cluster = kernel->ptx->max_cluster_rank;
}

const struct simt_code *simt_kernel_code(struct simt_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    if (!kernel->code)
        decode_kernel(kernel);
    pthread_mutex_unlock(&kernel->lock);
    return kernel->code;
}

const struct simt_kernel_info *simt_kernel_info(struct simt_kernel *kernel)
{
    simt_kernel_code(kernel);
    return &kernel->info;
}

bool simt_kernel_reads_clock(struct simt_kernel *kernel)
{
    return simt_kernel_code(kernel)->reads_clock;
}

bool simt_kernel_counts_cycles(struct simt_kernel *kernel)
{
    return simt_kernel_code(kernel)->counts_cycles;
}

bool simt_kernel_runs_beside(struct simt_kernel *kernel)
{
    return !simt_kernel_code(kernel)->fixed_params;
}

void simt_kernel_set_registers(struct simt_kernel *kernel, unsigned registers, unsigned spilled)
{
    kernel->assembled_registers = registers;
    kernel->spill_bytes = spilled;
}

const char *simt_module_source(const struct simt_module *module, unsigned *target, char *suffix)
{
    *target = module->ptx->target;
    *suffix = module->ptx->target_suffix;
    return module->ptx->text;
}

bool simt_kernel_param(struct simt_kernel *kernel, unsigned index, size_t *offset, size_t *size)
{
    if (index >= kernel->ptx->param_count || !kernel->ptx->params[index].var)
        return false;
    *offset = kernel->ptx->params[index].var->offset;
    *size = kernel->ptx->params[index].var->size;
    return true;
}
