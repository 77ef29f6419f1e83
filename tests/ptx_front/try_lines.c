/*
 * try_lines.c: what the machine makes of single lines of PTX, for compare_ptxas.py.
 *   try_lines PROLOGUE EPILOGUE <LINES     one answer a line: "ok", "refused WHY", "unsupported
 * WHY" Each line is put between the two texts, parsed, and launched in one warp with registers of
 * zeros; a fault of memory is "ok": the line was executed.
 */
#include "simt/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 2000, LINE = 1 << 14 };

static const char *outcome(struct simt_machine *machine, struct simt_module *module,
                           struct simt_fault *fault)
{
    uint64_t params[1] = {0};
    struct simt_launch launch = {.kernel = simt_module_kernel_at(module, 0),
                                 .grid = {1, 1, 1},
                                 .block = {32, 1, 1},
                                 .params = (uint8_t *)params};
    simt_run(machine, &launch, NULL, fault);
    simt_flush_printf(machine);
    return fault->kind == SIMT_FAULT_UNSUPPORTED ? "unsupported" : "ok";
}

/* The first line of a message, without the place: "line:9:1: WHY". */
static void print_short(const char *message)
{
    const char *start = strchr(message, ' ');
    start = start ? start + 1 : message;
    printf("refused %.*s\n", (int)strcspn(start, "\n"), start);
}

int main(int argc, char **argv)
{
    static char line[LINE], text[3 * LINE];
    const struct simt_options options = {.threads = 1, .instruction_limit = LIMIT};
    struct simt_machine *machine = simt_create(gpu_find("h200"), &options);
    if (argc != 3 || !machine)
        return 2;
    while (fgets(line, sizeof(line), stdin)) {
        char *message = NULL;
        struct simt_fault fault = {0};
        int size = snprintf(text, sizeof(text), "%s%s%s", argv[1], line, argv[2]);
        struct simt_module *module =
            simt_module_load(machine, "line", text, (size_t)size, &message);
        if (module) {
            const char *what = outcome(machine, module, &fault);
            printf("%s %.*s\n", what, *what == 'u' ? (int)fault.what_length : 0, fault.text);
        } else {
            print_short(message);
        }
        fflush(stdout);
        simt_module_unload(module);
        free(message);
    }
    simt_destroy(machine);
    return 0;
}
