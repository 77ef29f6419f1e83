/*
 * launches.c: writes what an exported program asks of the GPU, and its launches; see host.h.
 */
#include "export/host.h"

#include "export/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The GPU ---------------------------------------------------------------------------------------*/

static bool uses(const struct export_host *host, const char *atom)
{
    const struct export_fit *fit = &host->formulas->samples.fit;
    for (unsigned i = 0; i < fit->atom_count; i++)
        if (host->formulas->used[i] && export_has_word(fit->atom[i].name, atom))
            return true;
    return false;
}

static void ask_attribute(const struct export_host *host, const char *atom, const char *attribute,
                          struct lk_buf *text)
{
    if (!uses(host, atom))
        return;
    export_printf(text, 4, "int %s;", atom);
    export_printf(text, 4, "CHECK(cudaDeviceGetAttribute(&%s, %s, 0));", atom, attribute);
}

static unsigned shared_slot(const struct export_step *step)
{
    return step->first + EXPORT_DYNAMIC;
}

/* More than 48 KiB of dynamic shared memory must be asked for. Other sizes may need that much. */
static bool may_be_large(const struct export_host *host, const struct export_step *step)
{
    const struct export_formulas *formulas = host->formulas;
    const struct export_term *term = &formulas->expression[shared_slot(step)].a;
    bool grows = false;
    for (unsigned i = 0; i < term->over_count; i++)
        grows |= formulas->samples.fit.atom[term->over[i]].kind == EXPORT_SIZE;
    return grows || formulas->samples.base.number[shared_slot(step)] > 48 * 1024;
}

/* Is it known only after the GPU was asked how many blocks fit on an SM? */
static bool needs_resident(const struct export_host *host,
                           const struct export_expression *expression)
{
    const struct export_fit *fit = &host->formulas->samples.fit;
    bool used[EXPORT_ATOMS] = {false}, needs = false;
    export_mark(fit, expression, used);
    for (unsigned i = 0; i < fit->named; i++)
        needs |=
            used[i] && fit->atom[i].kind == EXPORT_DEVICE && strstr(fit->atom[i].name, "resident");
    return needs;
}

/* The named numbers, those that are known before that is asked or those that are known after it. */
static void define_names(const struct export_host *host, bool after, struct lk_buf *text)
{
    const struct export_fit *fit = &host->formulas->samples.fit;
    for (unsigned i = fit->named; i < fit->atom_count; i++)
        if (host->formulas->used[i] && needs_resident(host, &fit->atom[i].meaning) == after) {
            struct lk_buf meaning = {0};
            export_print(fit, &fit->atom[i].meaning, &meaning);
            export_printf(text, 4, "const long long %s = %s;", fit->atom[i].name, meaning.data);
            lk_buf_free(&meaning);
        }
}

/* Once for each kernel. */
static void allow_shared(const struct export_host *host, bool after, struct lk_buf *text)
{
    const struct export_recording *base = &host->formulas->samples.base;
    for (unsigned i = 0; i < base->step_count; i++) {
        const struct export_step *step = &base->step[i];
        bool again = false;
        for (unsigned k = 0; k < i; k++)
            again |= base->step[k].kind == EXPORT_LAUNCH &&
                     strcmp(base->step[k].kernel, step->kernel) == 0;
        if (again || step->kind != EXPORT_LAUNCH || !may_be_large(host, step) ||
            needs_resident(host, &host->formulas->expression[shared_slot(step)]) != after)
            continue;
        char *bytes = export_slot_text(host, shared_slot(step));
        export_printf(text, 4,
                      "CHECK(cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, "
                      "%s));",
                      step->kernel, bytes);
        free(bytes);
    }
}

static void ask_resident(const struct export_host *host, struct lk_buf *text)
{
    const struct export_recording *base = &host->formulas->samples.base;
    unsigned number = 0;
    for (unsigned i = 0; i < base->step_count; i++) {
        const struct export_step *step = &base->step[i];
        char name[24];
        if (step->kind != EXPORT_RESIDENT)
            continue;
        snprintf(name, sizeof name, number ? "resident_%u" : "resident", number + 1);
        number++;
        if (!uses(host, name))
            continue;
        char *threads = export_slot_text(host, step->first),
             *shared = export_slot_text(host, step->first + 1);
        export_printf(text, 4, "int %s; // blocks of %s that fit on an SM", name, step->kernel);
        export_printf(text, 4,
                      "CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&%s, %s, %s, %s));",
                      name, step->kernel, threads, shared);
        free(threads);
        free(shared);
    }
}

/* "128", "dim3(16, 16)" */
static char *extent_text(const struct export_host *host, unsigned first)
{
    struct lk_buf text = {0};
    char *x = export_slot_text(host, first), *y = export_slot_text(host, first + 1),
         *z = export_slot_text(host, first + 2);
    bool deep = strcmp(z, "1") != 0, flat = !deep && strcmp(y, "1") == 0;
    lk_buf_printf(&text, flat ? "%s" : deep ? "dim3(%s, %s, %s)" : "dim3(%s, %s)", x, y, z);
    free(x);
    free(y);
    free(z);
    return text.data;
}

void export_step_name(const struct export_host *host, unsigned index, const char *what,
                      char name[96])
{
    const struct export_step *steps = host->formulas->samples.base.step;
    unsigned before = 0;
    for (unsigned i = 0; i < index; i++)
        before +=
            strcmp(steps[i].kernel, steps[index].kernel) == 0 && steps[i].kind == EXPORT_LAUNCH;
    snprintf(name, 96, before ? "%s_%.12s_%u" : "%s_%.12s", steps[index].kernel, what, before + 1);
}

/* A launch that <<<>>> cannot state. */
static bool needs_config(const struct export_step *step)
{
    return step->cooperative || step->overlaps || step->cluster;
}

/* The attributes by the names that add_attributes gives them. */
static unsigned attribute_names(const struct export_step *step, char names[3][24])
{
    unsigned count = 0;
    if (step->cooperative)
        snprintf(names[count++], 24, "cooperative");
    if (step->overlaps)
        snprintf(names[count++], 24, "overlapping");
    if (step->cluster)
        snprintf(names[count++], 24, "clusters_of_%u", step->cluster);
    return count;
}

static void add_config(const struct export_host *host, unsigned index, struct lk_buf *text)
{
    const struct export_step *step = &host->formulas->samples.base.step[index];
    char attribute[3][24], name[96], *grid = extent_text(host, step->first + EXPORT_GRID),
                                     *block = extent_text(host, step->first + EXPORT_BLOCK),
                                     *shared = export_slot_text(host, shared_slot(step));
    unsigned count = attribute_names(step, attribute);
    export_step_name(host, index, "launch", name);
    if (count > 1)
        export_printf(text, 4, "cudaLaunchAttribute %s_attributes[] = {%s, %s%s%s};", name,
                      attribute[0], attribute[1], count > 2 ? ", " : "",
                      count > 2 ? attribute[2] : "");
    export_printf(text, 4, "cudaLaunchConfig_t %s = {};", name);
    export_printf(text, 4, "%s.gridDim = %s;", name, grid);
    export_printf(text, 4, "%s.blockDim = %s;", name, block);
    if (strcmp(shared, "0") != 0)
        export_printf(text, 4, "%s.dynamicSmemBytes = %s;", name, shared);
    if (count > 1)
        export_printf(text, 4, "%s.attrs = %s_attributes;", name, name);
    else
        export_printf(text, 4, "%s.attrs = &%s;", name, attribute[0]);
    export_printf(text, 4, "%s.numAttrs = %u;", name, count);
    free(grid);
    free(block);
    free(shared);
}

/* Does an earlier step have the same? */
static bool is_new(const struct export_recording *base, unsigned index, const char *attribute)
{
    char names[3][24];
    for (unsigned i = 0; i < index; i++)
        for (unsigned k = attribute_names(&base->step[i], names); k-- > 0;)
            if (strcmp(names[k], attribute) == 0)
                return false;
    return true;
}

static void add_attributes(const struct export_host *host, unsigned index, struct lk_buf *text)
{
    const struct export_recording *base = &host->formulas->samples.base;
    const struct export_step *step = &base->step[index];
    if (step->cooperative && is_new(base, index, "cooperative")) {
        export_printf(text, 4, "cudaLaunchAttribute cooperative; // all blocks on the GPU at once");
        export_printf(text, 4, "cooperative.id = cudaLaunchAttributeCooperative;");
        export_printf(text, 4, "cooperative.val.cooperative = 1;");
    }
    if (step->overlaps && is_new(base, index, "overlapping")) {
        export_printf(text, 4,
                      "cudaLaunchAttribute overlapping; // begins before the launch before it "
                      "ends");
        export_printf(text, 4,
                      "overlapping.id = cudaLaunchAttributeProgrammaticStreamSerialization;");
        export_printf(text, 4, "overlapping.val.programmaticStreamSerializationAllowed = 1;");
    }
    char name[24];
    snprintf(name, sizeof name, "clusters_of_%u", step->cluster);
    if (step->cluster && is_new(base, index, name)) {
        export_printf(text, 4, "cudaLaunchAttribute %s;", name);
        export_printf(text, 4, "%s.id = cudaLaunchAttributeClusterDimension;", name);
        export_printf(text, 4, "%s.val.clusterDim.x = %u;", name, step->cluster);
        export_printf(text, 4, "%s.val.clusterDim.y = %s.val.clusterDim.z = 1;", name, name);
    }
}

static void add_configs(const struct export_host *host, struct lk_buf *text)
{
    const struct export_recording *base = &host->formulas->samples.base;
    for (unsigned i = 0; i < base->step_count; i++)
        if (needs_config(&base->step[i])) {
            add_attributes(host, i, text);
            add_config(host, i, text);
        }
}

void export_settings(const struct export_host *host, struct lk_buf *text)
{
    const struct export_formulas *formulas = host->formulas;
    struct lk_buf lines = {0};
    ask_attribute(host, "sms", "cudaDevAttrMultiProcessorCount", &lines);
    ask_attribute(host, "threads_per_sm", "cudaDevAttrMaxThreadsPerMultiProcessor", &lines);
    define_names(host, false, &lines);
    allow_shared(host, false, &lines);
    ask_resident(host, &lines);
    define_names(host, true, &lines);
    allow_shared(host, true, &lines);
    if (formulas->samples.base.workspace_bytes) {
        char *bytes = export_slot_text(host, formulas->samples.workspace);
        export_printf(&lines, 4, "char *workspace;");
        export_printf(&lines, 4, "CHECK(cudaMalloc(&workspace, %s));", bytes);
        free(bytes);
    }
    export_maps(host, &lines);
    export_structures(host, &lines);
    add_configs(host, &lines);
    if (lines.size)
        lk_buf_printf(text, "\n%s", lines.data);
    lk_buf_free(&lines);
}

/* Launches --------------------------------------------------------------------------------------*/

static bool same_type(const char *declared, const char *of_buffer)
{
    size_t length = strlen(of_buffer);
    if (strncmp(declared, "const ", 6) == 0)
        declared += 6;
    return strncmp(declared, of_buffer, length) == 0 && strcmp(declared + length, " *") == 0;
}

static void add_pointer(const struct export_host *host, const struct export_step *step,
                        unsigned argument, struct lk_buf *text)
{
    int target = step->target[argument];
    bool workspace = target == EXPORT_WORKSPACE;
    char type[64], *offset = export_slot_text(host, step->first + EXPORT_FIRST_ARGUMENT + argument);
    const char *plus = strcmp(offset, "0") == 0 ? "" : offset;
    char *name = workspace ? strdup("workspace") : lk_format("d_%s", host->buffer[target].name);
    bool known =
        export_argument_type(host->source, step->kernel, step->argument_count, argument, type);
    if (known && !workspace && !*plus && same_type(type, export_c_type(host->buffer[target].type)))
        lk_buf_printf(text, "%s", name);
    else if (known)
        lk_buf_printf(text, *plus ? "(%s)(%s%s + %s)" : "(%s)%s%s%s", type,
                      workspace || !*plus ? "" : "(char *)", name, plus);
    else
        lk_buf_printf(text, *plus ? "as_pointer{%s%s + %s}" : "as_pointer{%s%s%s}",
                      workspace || !*plus ? "" : "(char *)", name, plus);
    free(offset);
    free(name);
}

static void add_float(const struct export_host *host, const struct export_step *step,
                      unsigned argument, struct lk_buf *text)
{
    char name[64] = "";
    export_argument_name(host->source, step->kernel, step->argument_count, argument, name);
    export_float(host, step->real[argument], name, text);
}

static void add_map_argument(const struct export_host *host, unsigned slot, struct lk_buf *text)
{
    char name[80];
    export_map_name(host, (unsigned)host->formulas->samples.base.number[slot], name);
    lk_buf_printf(text, "%s", name);
}

static void add_arguments(const struct export_host *host, unsigned index, struct lk_buf *text)
{
    const struct export_step *step = &host->formulas->samples.base.step[index];
    if (step->packed) {
        char name[96];
        export_step_name(host, index, "arguments", name);
        lk_buf_printf(text, "%s", name);
        return;
    }
    for (unsigned i = 0; i < step->argument_count; i++) {
        char type[64];
        unsigned slot = step->first + EXPORT_FIRST_ARGUMENT + i;
        lk_buf_printf(text, i ? ", " : "");
        if (step->target[i] >= 0)
            add_pointer(host, step, i, text);
        else if (step->target[i] == EXPORT_FLOAT)
            add_float(host, step, i, text);
        else if (step->target[i] == EXPORT_MAPPED)
            add_map_argument(host, slot, text);
        else if (export_argument_type(host->source, step->kernel, step->argument_count, i, type) &&
                 strchr(type, '*'))
            lk_buf_printf(text, "(%s)NULL", type);
        else
            export_slot(host, slot, text);
    }
}

static void add_launch(const struct export_host *host, unsigned index, struct lk_buf *text)
{
    const struct export_step *step = &host->formulas->samples.base.step[index];
    struct lk_buf statement = {0};
    if (needs_config(step)) {
        char name[96];
        export_step_name(host, index, "launch", name);
        lk_buf_printf(&statement, "CHECK(cudaLaunchKernelEx(&%s, %s, ", name, step->kernel);
        add_arguments(host, index, &statement);
        lk_buf_printf(&statement, "));");
    } else {
        char *grid = extent_text(host, step->first + EXPORT_GRID),
             *block = extent_text(host, step->first + EXPORT_BLOCK),
             *shared = export_slot_text(host, shared_slot(step));
        bool some = strcmp(shared, "0") != 0;
        lk_buf_printf(&statement, "%s<<<%s, %s%s%s>>>(", step->kernel, grid, block,
                      some ? ", " : "", some ? shared : "");
        add_arguments(host, index, &statement);
        lk_buf_printf(&statement, ");");
        free(grid);
        free(block);
        free(shared);
    }
    export_statement(text, 8, &statement);
    lk_buf_free(&statement);
}

static void add_clear(const struct export_host *host, const struct export_step *step,
                      struct lk_buf *text)
{
    char *offset = export_slot_text(host, step->first),
         *bytes = export_slot_text(host, step->first + 1);
    bool workspace = step->buffer == EXPORT_WORKSPACE, some = strcmp(offset, "0") != 0;
    export_printf(text, 8, "CHECK(cudaMemsetAsync(%s%s%s%s%s, 0, %s));",
                  some && !workspace ? "(char *)" : "", workspace ? "" : "d_",
                  workspace ? "workspace" : host->buffer[step->buffer].name, some ? " + " : "",
                  some ? offset : "", bytes);
    free(offset);
    free(bytes);
}

void export_launches(const struct export_host *host, struct lk_buf *text)
{
    const struct export_recording *base = &host->formulas->samples.base;
    for (unsigned i = 0; i < base->step_count; i++)
        if (base->step[i].kind == EXPORT_LAUNCH)
            add_launch(host, i, text);
        else if (base->step[i].kind == EXPORT_CLEAR)
            add_clear(host, &base->step[i], text);
    export_printf(text, 8, "CHECK(cudaGetLastError());");
}

bool export_hides_types(const struct export_host *host)
{
    const struct export_recording *base = &host->formulas->samples.base;
    char type[64];
    for (unsigned i = 0; i < base->step_count; i++)
        for (unsigned k = 0; k < base->step[i].argument_count; k++)
            if (base->step[i].target[k] >= 0 && !base->step[i].packed &&
                !export_argument_type(host->source, base->step[i].kernel,
                                      base->step[i].argument_count, k, type))
                return true;
    return false;
}
