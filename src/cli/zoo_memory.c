/*
 * zoo_memory.c: lockstep zoo memory: the bytes that a problem's buffers take, and the workspace
 * that each variant wants besides. Nothing is allocated and nothing runs, so the sizes may be
 * larger than any memory: naive attention over 128 K tokens shows its square.
 */
#include "cli/target.h"
#include "cli/zoo.h"
#include "report/report.h"
#include "zoo/device.h"

#include <stdlib.h>
#include <string.h>

enum { NOT_TAKEN = -1 };

struct memory {
    struct zoo_device device;
    const struct zoo_family *family;
    struct zoo_problem *problems;
    size_t problem_count;
    const struct zoo_variant **variants; /* those of the GPU that take one of the problems */
    size_t variant_count;
    int64_t *workspace; /* [problem][variant], NOT_TAKEN where it does not take the problem */
};

static double buffers_of(const struct zoo_problem *problem)
{
    struct zoo_buffer buffer[ZOO_BUFFERS];
    unsigned count = problem->family->shape(problem, buffer);
    double bytes = 0;
    for (unsigned i = 0; i < count; i++)
        bytes += (double)zoo_buffer_bytes(&buffer[i]);
    return bytes;
}

static bool takes_one(const struct memory *memory, const struct zoo_variant *variant)
{
    const struct zoo_source *source = zoo_source(memory->family, variant);
    bool takes = false;
    for (size_t i = 0; i < memory->problem_count && !takes; i++)
        takes = zoo_takes(variant, &memory->problems[i]);
    return takes && source && zoo_runs_on(source, memory->device.arch);
}

/* A variant's column. It may depend on how many blocks fit, so its kernels are loaded. */
static bool measure(struct memory *memory, size_t column, char **message)
{
    const struct zoo_variant *variant = memory->variants[column];
    struct zoo_kernels *kernels =
        zoo_kernels_load(&memory->device, memory->family, variant, NULL, NULL, message);
    if (!kernels)
        return false;
    for (size_t i = 0; i < memory->problem_count; i++) {
        const struct zoo_problem *problem = &memory->problems[i];
        struct zoo_call call = {.problem = problem, .device = &memory->device, .kernels = kernels};
        bool takes =
            zoo_takes(variant, problem) && zoo_fits(&memory->device, variant, NULL, problem);
        int64_t bytes = takes && variant->workspace ? (int64_t)variant->workspace(&call) : 0;
        memory->workspace[i * memory->variant_count + column] = takes ? bytes : NOT_TAKEN;
    }
    zoo_kernels_free(kernels);
    return true;
}

static const char *cell(char text[REPORT_UNIT], int64_t bytes)
{
    return bytes == NOT_TAKEN ? "-" : bytes ? report_bytes(text, (double)bytes) : "0";
}

static int name_width(const char *name)
{
    int length = (int)strlen(name);
    return length < 9 ? 9 : length;
}

/* The words of a problem, "n=1M op=sum", that all problems share, or those that differ. */
static void words_of(const struct memory *memory, size_t problem, bool shared, struct lk_buf *text)
{
    const struct zoo_parameter *parameter = memory->family->parameters;
    struct lk_buf whole = {0};
    text->size = 0;
    zoo_problem_print(&memory->problems[problem], &whole);
    char *rest = whole.data;
    for (size_t i = 0; parameter[i].name; i++) {
        const char *word = strsep(&rest, " ");
        bool same = true;
        for (size_t k = 0; k < memory->problem_count; k++)
            same = same && memory->problems[k].value[i] == memory->problems[0].value[i];
        if (same == shared)
            lk_buf_printf(text, "%s%s", text->size ? " " : "", word);
    }
    lk_buf_printf(text, "%s", ""); /* text, even if there are no such words */
    lk_buf_free(&whole);
}

static void print(const struct memory *memory)
{
    struct lk_buf text = {0};
    char unit[REPORT_UNIT];
    int widest = 0;
    for (size_t i = 0; i < memory->problem_count; i++) {
        words_of(memory, i, false, &text);
        widest = (int)text.size > widest ? (int)text.size : widest;
    }
    words_of(memory, 0, true, &text);
    printf("%s on %s: the problem's buffers, and the workspace of each variant\n  %s\n%*s  %9s",
           memory->family->name, memory->device.name, text.data, widest, "", "buffers");
    for (size_t i = 0; i < memory->variant_count; i++)
        printf("  %*s", name_width(memory->variants[i]->name), memory->variants[i]->name);
    for (size_t i = 0; i < memory->problem_count; i++) {
        words_of(memory, i, false, &text);
        printf("\n%-*s  %9s", widest, text.data,
               cell(unit, (int64_t)buffers_of(&memory->problems[i])));
        for (size_t k = 0; k < memory->variant_count; k++)
            printf("  %*s", name_width(memory->variants[k]->name),
                   cell(unit, memory->workspace[i * memory->variant_count + k]));
    }
    printf(memory->variant_count ? "\n" : "\nNo variant takes this here.\n");
    lk_buf_free(&text);
}

static json_t *to_json(const struct memory *memory)
{
    struct lk_buf text = {0};
    json_t *rows = json_array();
    for (size_t i = 0; i < memory->problem_count; i++) {
        json_t *workspace = json_object();
        for (size_t k = 0; k < memory->variant_count; k++) {
            int64_t bytes = memory->workspace[i * memory->variant_count + k];
            if (bytes != NOT_TAKEN)
                json_object_set_new(workspace, memory->variants[k]->name, json_integer(bytes));
        }
        text.size = 0;
        zoo_problem_print(&memory->problems[i], &text);
        json_array_append_new(rows, json_pack("{s:s, s:I, s:o}", "problem", text.data, "buffers",
                                              (json_int_t)buffers_of(&memory->problems[i]),
                                              "workspace", workspace));
    }
    lk_buf_free(&text);
    return json_pack("{s:s, s:s, s:o}", "family", memory->family->name, "gpu", memory->device.name,
                     "problems", rows);
}

/* The variants that are asked about, and their workspaces. */
static bool fill(struct memory *memory, const struct zoo_variant *only, char **message)
{
    size_t all = 0;
    while (memory->family->variants[all].name)
        all++;
    memory->variants = calloc(all, sizeof *memory->variants);
    memory->workspace = calloc(all * memory->problem_count, sizeof *memory->workspace);
    if (!memory->variants || !memory->workspace) {
        *message = strdup("out of memory");
        return false;
    }
    for (size_t i = 0; i < all; i++) {
        const struct zoo_variant *variant = &memory->family->variants[i];
        if ((!only || variant == only) && takes_one(memory, variant))
            memory->variants[memory->variant_count++] = variant;
    }
    bool fine = true;
    for (size_t i = 0; i < memory->variant_count && fine; i++)
        fine = measure(memory, i, message);
    return fine;
}

int cli_zoo_memory(const struct cli_zoo *options)
{
    struct memory memory = {0};
    const struct zoo_variant *only;
    char gpu[TARGET_NAME], *message = NULL;
    int status = CLI_USAGE;
    if (options->names.count != 1) {
        host_error("memory: which family? as in 'lockstep zoo memory attention queries=1K,16K'");
        return CLI_USAGE;
    }
    if (!cli_find_family(options->names.items[0], &memory.family, &only) ||
        !target_choose(options->gpu, gpu))
        return CLI_USAGE;
    memory.problems =
        zoo_problems(memory.family, options->problems.size ? options->problems.data : "",
                     &memory.problem_count, &message);
    if (memory.problems && zoo_device_open(gpu, &memory.device, &message) &&
        fill(&memory, only, &message)) {
        if (options->json)
            cli_print_json(to_json(&memory));
        else
            print(&memory);
        status = CLI_OK;
    } else {
        host_error("%s", message);
    }
    free(message);
    free(memory.problems);
    free(memory.variants);
    free(memory.workspace);
    return status;
}
