/*
 * fuzz_run.c: whatever a module says, running it must not touch a byte of the host outside device
 * memory. A text that loads is launched, every kernel of it, with a few threads, a few KiB of
 * memory and a small limit of instructions: on a plain machine, with the checker, or with the
 * counters. Faults are fine; what the sanitizers see is not. Texts are mutated as PTX (mutate.h).
 */
#include "check/checker.h"
#include "mutate.h"
#include "simt/watch.h"
#include "watch/counters.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Of the leak detector, where there is one. */
__attribute__((weak)) void __lsan_disable(void);
__attribute__((weak)) void __lsan_enable(void);

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t most, unsigned seed);

enum { BUFFER = 4096, LIMIT = 20000, KERNELS = 4, THREADS = 48, BLOCKS = 2, DYNAMIC = 512 };
enum { RUNS = 4096 }; /* of one machine: what kernels leave on its heap is gone with it */

enum mode { PLAIN, CHECKED, COUNTED, MODES };
static struct {
    struct simt_machine *machine;
    uint64_t buffer;
    unsigned runs;
} machines[MODES];

/* Machine and checker sleep so that the host can set what a kernel waits for: it never will. */
int usleep(useconds_t microseconds)
{
    return 0;
}

static void open_machine(enum mode mode)
{
    const struct simt_options options = {.threads = 1, .instruction_limit = LIMIT};
    struct simt_machine *machine = simt_create(gpu_find("b200"), &options);
    if (!machine)
        exit(1);
    if (mode == CHECKED)
        simt_watch_add(machine, checker_open(machine, "/dev/null"));
    if (mode == COUNTED)
        simt_watch_add(machine, counters_open(machine, "/dev/null"));
    simt_set_heap_size(machine, 64 << 10);
    machines[mode].machine = machine;
    machines[mode].buffer = simt_alloc(machine, BUFFER, SIMT_MEMORY_DEVICE);
    machines[mode].runs = 0;
}

/* What kernels print is of no interest; libFuzzer and the sanitizers use stderr. */
int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    for (enum mode mode = PLAIN; mode < MODES; mode++)
        open_machine(mode);
    return 0;
}

/* Pointers point into the buffer; all else is a small number. */
static void fill_params(struct simt_kernel *kernel, uint64_t buffer, uint8_t *params)
{
    const struct simt_kernel_info *info = simt_kernel_info(kernel);
    for (unsigned i = 0; i < info->param_count; i++) {
        size_t offset, size;
        uint64_t pointer = buffer + i * 256 % BUFFER;
        uint32_t number = 5 + i;
        if (!simt_kernel_param(kernel, i, &offset, &size))
            continue;
        if (size == 8)
            memcpy(params + offset, &pointer, 8);
        else if (size == 4)
            memcpy(params + offset, &number, 4);
    }
}

static void run_kernel(struct simt_machine *machine, struct simt_kernel *kernel, uint64_t buffer)
{
    const struct simt_kernel_info *info = simt_kernel_info(kernel);
    struct simt_launch launch = {.kernel = kernel,
                                 .grid = {BLOCKS, 1, 1},
                                 .block = {THREADS, 1, 1},
                                 .dynamic_shared = DYNAMIC};
    struct simt_fault fault;
    uint8_t *bytes = simt_host(machine, buffer, BUFFER);
    if (info->static_shared > 48 << 10) /* the driver refuses it */
        return;
    for (unsigned i = 0; i < BUFFER; i++)
        bytes[i] = (uint8_t)(i % 61);
    uint8_t *params = lk_alloc_zeroed(info->param_bytes + 1);
    fill_params(kernel, buffer, params);
    launch.params = params;
    simt_run(machine, &launch, NULL, &fault);
    simt_flush_printf(machine);
    free(params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum mode mode = size % 4 == 0 ? CHECKED : size % 16 == 1 ? COUNTED : PLAIN;
    struct simt_machine *machine = machines[mode].machine;
    char *message = NULL;
    if (mode == CHECKED &&
        __lsan_disable) /* its shadow is in pages that the leak detector does not look into */
        __lsan_disable();
    struct simt_module *module =
        simt_module_load(machine, "fuzz", (const char *)data, size, &message);
    for (unsigned i = 0; module && i < simt_module_kernel_count(module) && i < KERNELS; i++)
        run_kernel(machine, simt_module_kernel_at(module, i), machines[mode].buffer);
    simt_module_unload(module);
    free(message);
    if (mode == CHECKED && __lsan_enable)
        __lsan_enable();
    if (++machines[mode].runs == RUNS) {
        simt_destroy(machine);
        open_machine(mode);
    }
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    struct dice dice = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    struct text text = {(char *)data, size, most};
    if (roll(&dice, 50) == 0)
        return LLVMFuzzerMutate(data, size, most);
    for (unsigned i = 1 + roll(&dice, 4); i; i--)
        mutate_text(&text, &dice, NULL);
    return text.size;
}

/* Lines of b in a. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t most, unsigned seed)
{
    struct dice dice = {seed * UINT64_C(0x9e3779b97f4a7c15) + 3};
    struct text text = {(char *)out, a_size < most ? a_size : most, most};
    struct text other = {(char *)(uintptr_t)b, b_size, b_size};
    memcpy(out, a, text.size);
    for (unsigned i = 1 + roll(&dice, 6); i; i--)
        mutate_text(&text, &dice, &other);
    return text.size;
}
