/*
 * gpus.c: lockstep gpus: the known GPUs, the facts of one with their source, and occupancy.
 */
#include "cli/cli.h"
#include "cli/target.h"
#include "gpu/gpu.h"
#include "report/report.h"

#include <limits.h>
#include <string.h>

static const char help[] =
    "usage: lockstep gpus [--json]\n"
    "       lockstep gpus NAME [--json] [--block THREADS [--registers N] [--shared BYTES]]\n"
    "\n"
    "Lists the GPUs that 'run --gpu sim:NAME' knows, or prints what is known about one and where\n"
    "it comes from. Rates are peaks without sparsity at boost clock.\n"
    "\n"
    "  --block THREADS   how many blocks of this size an SM holds, what limits it, and what\n"
    "                    other sizes would give\n"
    "  --registers N     registers per thread (default 32)\n"
    "  --shared BYTES    shared memory per block, static and dynamic (default 0)\n"
    "  --json            print JSON\n"
    "\n"
    "examples:\n"
    "  lockstep gpus\n"
    "  lockstep gpus h200\n"
    "  lockstep gpus a100 --block 256 --registers 64 --shared 16384\n";

struct occupancy_request {
    unsigned long long threads, registers, shared;
    bool asked;
};

static void print_json(const struct gpu_info *gpu, const struct occupancy_request *request)
{
    json_t *report = gpu ? report_gpu_json(gpu) : json_array();
    for (unsigned i = 0; !gpu && i < gpu_info_count; i++)
        json_array_append_new(report, report_gpu_json(&gpu_infos[i]));
    if (gpu && request->asked)
        json_object_set_new(report, "occupancy",
                            report_occupancy_json(gpu, (unsigned)request->threads,
                                                  (unsigned)request->registers,
                                                  (size_t)request->shared));
    cli_print_json(report);
}

/* One of the occupancy's options; *bad if it is one but wrong. */
static bool occupancy_option(int count, char **words, int *at, struct occupancy_request *request,
                             bool *bad)
{
    const struct {
        const char *name;
        unsigned long long *value, least;
    } options[] = {{"--block", &request->threads, 1},
                   {"--registers", &request->registers, 0},
                   {"--shared", &request->shared, 0}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const char *text;
        if (!cli_option(count, words, at, options[i].name, &text))
            continue;
        *bad = !text ||
               !cli_number(options[i].name, text, options[i].least, INT_MAX, options[i].value);
        request->asked = true;
        return true;
    }
    return false;
}

static int run(int count, char **words)
{
    struct occupancy_request request = {.registers = 32};
    const char *name = NULL;
    bool json = false, bad = false;
    for (int at = 0; at < count;) {
        if (cli_flag(words, &at, "--json")) {
            json = true;
        } else if (!occupancy_option(count, words, &at, &request, &bad)) {
            if (words[at][0] == '-' || name) {
                host_error("'%s' is not understood; see 'lockstep gpus --help'", words[at]);
                return CLI_USAGE;
            }
            name = words[at++];
        }
        if (bad)
            return CLI_USAGE;
    }
    if (request.asked && (!name || request.threads == 0)) {
        host_error("occupancy needs a GPU and --block THREADS, as in "
                   "'lockstep gpus h200 --block 256'");
        return CLI_USAGE;
    }
    const struct gpu_info *gpu = name ? target_find_gpu(name) : NULL;
    if (name && !gpu)
        return CLI_USAGE;
    struct report_paint paint = cli_paint(stdout);
    if (json)
        print_json(gpu, &request);
    else if (request.asked)
        report_occupancy_text(stdout, &paint, gpu, (unsigned)request.threads,
                              (unsigned)request.registers, (size_t)request.shared);
    else if (gpu)
        report_gpu_text(stdout, &paint, gpu);
    else
        report_gpus_text(stdout, &paint);
    return CLI_OK;
}

const struct cli_command cli_gpus = {"gpus", "list the known GPUs; compute occupancy", help, run};
