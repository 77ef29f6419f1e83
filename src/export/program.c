/*
 * program.c: puts an exported program together: kernels/host/export.inc is its frame, of which the
 * lines that begin with '@' are filled in here. See export.h.
 */
#include "export/export.h"

#include "base/arena.h"
#include "export/host.h"
#include "export/source.h"
#include "zoo/table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 100 };

/* The problem -----------------------------------------------------------------------------------*/

static const double SMALL_BYTES = 32 << 20;

static bool suits(const struct zoo_device *device, const struct zoo_variant *variant,
                  const struct zoo_problem *problem)
{
    return zoo_takes(variant, problem) && zoo_fits(device, variant, NULL, problem) &&
           problem->family->bytes(problem) <= SMALL_BYTES;
}

/* Of what texts stand for, the first that suits, or the largest. */
static bool find_problem(const struct zoo_device *device, const struct zoo_family *family,
                         const struct zoo_variant *variant, const char *const *texts, bool largest,
                         struct zoo_problem *problem)
{
    size_t count;
    char *message;
    struct zoo_problem *all = zoo_problem_list(family, texts, &count, &message);
    bool found = false;
    for (size_t i = 0; all && i < count; i++) {
        all[i].distribution = 0;
        if ((found && (!largest || family->bytes(&all[i]) <= family->bytes(problem))) ||
            !suits(device, variant, &all[i]))
            continue;
        *problem = all[i];
        found = true;
    }
    free(all);
    return found;
}

bool export_small_problem(const struct zoo_device *device, const struct zoo_family *family,
                          const struct zoo_variant *variant, struct zoo_problem *problem,
                          char **message)
{
    const char *const profile[] = {family->profile, NULL};
    if (find_problem(device, family, variant, profile, false, problem) ||
        find_problem(device, family, variant, family->bench, true, problem) ||
        find_problem(device, family, variant, family->edges, true, problem))
        return true;
    *message = lk_format("%s/%s takes no small problem on %s; name one, as in n=1M", family->name,
                         variant->name, device->name);
    return false;
}

/* The tunables that were found for this GPU: those of the nearest row that names the variant. */
static struct zoo_tuning find_tuning(const struct export_request *request)
{
    const struct zoo_source *source = zoo_source(request->problem.family, request->variant);
    struct zoo_tuning tuning = zoo_tuning_normal(source);
    struct zoo_table table = {0};
    double nearest = INFINITY;
    zoo_table_read(&table, request->device);
    for (size_t i = 0; i < table.count; i++) {
        const struct zoo_row *row = &table.rows[i];
        double distance = row->variant == request->variant && !row->broken
                              ? zoo_row_distance(row, &request->problem)
                              : -1;
        if (distance >= 0 && distance < nearest &&
            zoo_fits(request->device, row->variant, &row->tuning, &request->problem)) {
            nearest = distance;
            tuning = row->tuning;
        }
    }
    zoo_table_free(&table);
    for (unsigned i = source->written_count; i < source->tunable_count; i++)
        tuning.value[i] = source->tunables[i].normal; /* the program's own sizes decide */
    return tuning;
}

/* Blocks of the frame ---------------------------------------------------------------------------*/

/* Text in comments of the file's width. */
static void add_comment(struct lk_buf *text, const char *words)
{
    while (*words) {
        size_t length = strlen(words), most = COLUMNS - 3;
        if (length > most)
            for (length = most; length > 0 && words[length] != ' ';)
                length--;
        lk_buf_printf(text, "// %.*s\n", (int)length, words);
        words += length + (words[length] == ' ');
    }
}

static void add_command(const struct export_host *host, struct lk_buf *text)
{
    const struct zoo_family *family = host->request->problem.family;
    lk_buf_printf(text, "lockstep zoo export %s/%s ", family->name, host->request->variant->name);
    zoo_problem_print(&host->request->problem, text);
}

/* sm_90a: for this GPU alone. From CUDA 13 on -arch=sm_90a compiles for sm_90 too, which lacks the
 * instructions that the letter stands for. */
static bool is_exact(const char *arch)
{
    return *arch && arch[strlen(arch) - 1] == 'a';
}

static void add_header(const struct export_host *host, struct lk_buf *text)
{
    const struct zoo_family *family = host->request->problem.family;
    const struct zoo_variant *variant = host->request->variant;
    const char *arch = zoo_source(family, variant)->arch, *file = host->request->file;
    bool common = strcmp(arch, "75") == 0; /* nvcc's own choice from CUDA 13 on */
    struct lk_buf line = {0};
    lk_buf_printf(text, "// %s/%s of the Lockstep kernel library, to compile and run by itself:\n",
                  family->name, variant->name);
    lk_buf_printf(text, "//     nvcc ");
    if (is_exact(arch))
        lk_buf_printf(text, "-gencode arch=compute_%s,code=sm_%s ", arch, arch);
    else if (!common)
        lk_buf_printf(text, "-arch=sm_%s ", arch);
    lk_buf_printf(text, "%s && ./a.out\n", file);
    if (common)
        lk_buf_printf(text, "// (with CUDA 12: nvcc -arch=sm_75 %s)\n", file);
    lk_buf_printf(text, "//\n");
    add_comment(text, family->problem);
    lk_buf_printf(&line, "This variant: %s.", variant->technique);
    add_comment(text, line.data);
    lk_buf_printf(text, "//\n// Written by: ");
    add_command(host, text);
    lk_buf_printf(text, "\n// MIT licence. Tunables are those for %s.\n",
                  host->request->device->name);
    lk_buf_free(&line);
}

/* "n, m and k": the sizes that may be changed in the program, or those that may not. */
static char *size_names(const struct export_host *host, bool fixed)
{
    const struct export_formulas *formulas = host->formulas;
    const struct zoo_parameter *parameter = host->request->problem.family->parameters;
    struct lk_buf names = {0};
    unsigned left = 0;
    for (unsigned i = 0; parameter[i].name; i++)
        left += formulas->samples.is_size[i] && formulas->fixed[i] == fixed;
    for (unsigned i = 0; parameter[i].name; i++)
        if (formulas->samples.is_size[i] && formulas->fixed[i] == fixed) {
            lk_buf_printf(&names, "%s%s", parameter[i].name,
                          left > 2    ? ", "
                          : left == 2 ? " and "
                                      : "");
            left--;
        }
    return names.data;
}

static void add_sizes_note(const struct export_host *host, struct lk_buf *text)
{
    char *fixed = size_names(host, true), *free_ones = size_names(host, false);
    struct lk_buf line = {0};
    lk_buf_printf(&line, "The problem. ");
    if (!fixed)
        lk_buf_printf(&line, "For other sizes change these numbers and compile again.");
    else if (free_ones)
        lk_buf_printf(&line,
                      "%s can be changed here. The launches below hold for this %s; for other "
                      "values export again.",
                      free_ones, fixed);
    else
        lk_buf_printf(&line, "The launches below hold for these sizes; for others export again.");
    add_comment(text, line.data);
    lk_buf_free(&line);
    free(fixed);
    free(free_ones);
}

static void add_helpers(const struct export_host *host, struct lk_buf *text)
{
    struct lk_buf settings = {0}, launches = {0};
    export_settings(host, &settings);
    export_launches(host, &launches);
    const char *texts[] = {settings.data ? settings.data : "", launches.data};
    bool divides = false, limits = false;
    for (unsigned i = 0; i < 2; i++) {
        divides |= strstr(texts[i], "ceil_div(") != NULL;
        limits |= strstr(texts[i], "lesser(") != NULL;
    }
    if (divides)
        lk_buf_printf(text, "static long long ceil_div(long long a, long long b)\n{\n"
                            "    return (a + b - 1) / b;\n}\n\n");
    if (limits)
        lk_buf_printf(text, "static long long lesser(long long a, long long b)\n{\n"
                            "    return a < b ? a : b;\n}\n\n");
    if (export_hides_types(host))
        lk_buf_printf(text,
                      "// A pointer of the type that the kernel asks for.\n"
                      "struct as_pointer {\n    void *at;\n"
                      "    template <class T> operator T *() const { return (T *)at; }\n};\n\n");
    lk_buf_free(&settings);
    lk_buf_free(&launches);
}

static bool add_map_helper(const struct export_host *host, struct lk_buf *text)
{
    char *message = NULL;
    bool fine =
        export_expand(&host->request->problem, "host/export_maps.inc", text, NULL, NULL, &message);
    free(message);
    return fine;
}

static void add_rate(const struct export_host *host, struct lk_buf *text)
{
    bool memory = host->pieces->flops_value < 14 * host->pieces->bytes_value;
    const char *name = memory ? "bytes" : "operations";
    lk_buf_printf(text, memory ? "    // The least to and from memory.\n" : "");
    export_printf(text, 4, "const double %s = %s;", name,
                  memory ? host->pieces->bytes : host->pieces->flops);
    export_printf(text, 4,
                  "printf(\"median of %%d runs: %%.2f us, %%.1f %s\\n\", repeats, 1e3 * median, "
                  "%s / median / 1e6);",
                  memory ? "GB/s" : "GFLOP/s", name);
}

static void add_includes(const struct export_host *host, struct lk_buf *text)
{
    bool half = false;
    for (unsigned i = 0; i < host->buffer_count; i++)
        half |= host->buffer[i].type == ZOO_F16;
    if (half)
        lk_buf_printf(text, "#include <cuda_fp16.h>\n");
    if (export_has_maps(host))
        lk_buf_printf(text, "#include <cudaTypedefs.h>\n"
                            "#include <algorithm>\n"
                            "#include <initializer_list>\n");
}

static bool add_block(void *context, const char *line, struct lk_buf *text)
{
    const struct export_host *host = context;
    const char *arch = zoo_source(host->request->problem.family, host->request->variant)->arch;
    if (strcmp(line, "@header") == 0)
        add_header(host, text);
    else if (strcmp(line, "@includes") == 0)
        add_includes(host, text);
    else if (strcmp(line, "@needs") == 0)
        lk_buf_printf(text,
                      "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < %ld0\n"
                      "#error \"this kernel needs sm_%s%s\"\n#endif\n",
                      strtol(arch, NULL, 10), arch, is_exact(arch) ? "" : " or newer");
    else if (strcmp(line, "@constants") == 0) {
        add_sizes_note(host, text);
        lk_buf_add(text, host->pieces->constants.data, host->pieces->constants.size);
    } else if (strcmp(line, "@source") == 0)
        lk_buf_printf(text, "%s", host->source);
    else if (strcmp(line, "@family") == 0)
        lk_buf_add(text, host->pieces->functions.data, host->pieces->functions.size);
    else if (strcmp(line, "@helpers") == 0) {
        add_helpers(host, text);
        return !export_has_maps(host) || add_map_helper(host, text);
    } else if (strcmp(line, "@buffers") == 0)
        export_buffers(host, text);
    else if (strcmp(line, "@settings") == 0)
        export_settings(host, text);
    else if (strcmp(line, "@launches") == 0)
        export_launches(host, text);
    else if (strcmp(line, "@results") == 0)
        export_results(host, text);
    else if (strcmp(line, "@rate") == 0)
        add_rate(host, text);
    else if (strcmp(line, "@release") == 0)
        export_release(host, text);
    else
        return false;
    return true;
}

/* The first place from `at` on where the name stands by itself; NULL: none. */
static char *find_name(char *at, const char *name)
{
    size_t length = strlen(name);
    for (char *found = strstr(at, name); found; found = strstr(found + 1, name)) {
        char before = found > at ? found[-1] : ' ', after = found[length];
        if (!isalnum((unsigned char)before) && before != '_' && !isalnum((unsigned char)after) &&
            after != '_')
            return found;
    }
    return NULL;
}

static bool is_in_comment(const char *text, const char *place)
{
    const char *line = place, *open = place;
    while (line > text && line[-1] != '\n')
        line--;
    for (const char *at = line; at + 1 < place; at++)
        if (at[0] == '/' && at[1] == '/')
            return true;
    while (open > text && strncmp(open, "/*", 2) != 0 && strncmp(open, "*/", 2) != 0)
        open--;
    return strncmp(open, "/*", 2) == 0;
}

/* Where the host's code names it after the place of its definition. The kernels, whose text this
 * is, know nothing of these constants: what has such a name there is something else. */
static bool is_used(char *text, char *definition, const char *name, const char *kernels)
{
    const char *first = strstr(text, kernels), *last = first ? first + strlen(kernels) : NULL;
    for (char *at = definition; (at = find_name(at + strlen(name), name));)
        if ((at < first || at >= last) && !is_in_comment(text, at))
            return true;
    return false;
}

/* A constant may be there for the floor alone, of which the program prints bytes or operations, or
 * for variants with other arguments: nvcc warns about one that nothing uses. From the last one on,
 * since each may be made of those above. */
static void drop_unused_constants(const struct export_pieces *pieces, const char *kernels,
                                  struct lk_buf *text)
{
    for (unsigned i = pieces->constant_count; i-- > 0;) {
        const char *name = pieces->constant[i].name;
        char *place = find_name(text->data, name), *begin = NULL;
        for (; place; place = find_name(place + strlen(name), name)) {
            for (begin = place; begin > text->data && begin[-1] != '\n';)
                begin--;
            if (strncmp(begin, "const ", 6) == 0)
                break;
        }
        char *end = place ? strchr(place, '\n') : NULL;
        if (!end || is_used(text->data, place, name, kernels))
            continue;
        memmove(begin, end + 1, strlen(end + 1) + 1);
        text->size -= (size_t)(end + 1 - begin);
    }
}

bool export_program(const struct export_request *request, struct lk_buf *text, char **message)
{
    const struct zoo_family *family = request->problem.family;
    const struct zoo_source *source = zoo_source(family, request->variant);
    if (request->variant->borrows) {
        *message = lk_format("%s/%s also runs kernels of %s, and a file has those of one variant; "
                             "export them by themselves ('lockstep zoo show %s')",
                             family->name, request->variant->name, request->variant->borrows->name,
                             request->variant->borrows->name);
        return false;
    }
    struct export_formulas *formulas = lk_alloc_zeroed(sizeof *formulas);
    struct export_pieces pieces = {0};
    struct lk_buf kernels = {0};
    struct zoo_tuning tuning = find_tuning(request);
    size_t size = 0;
    char *written = zoo_ptx(source, &size, message);
    struct ptx_module *ptx =
        written ? ptx_parse(request->variant->name, written, size, message) : NULL;
    bool fine = ptx && export_source(family, request->variant, &tuning, &kernels, message) &&
                export_formulas_open(formulas, request, &tuning, ptx, kernels.data, message) &&
                export_pieces(&request->problem, &pieces, message);
    if (fine) {
        struct export_host host = {
            .request = request, .formulas = formulas, .pieces = &pieces, .source = kernels.data};
        host.buffer_count = family->shape(&request->problem, host.buffer);
        fine = export_expand(&request->problem, "host/export.inc", text, add_block, &host, message);
        if (fine)
            drop_unused_constants(&pieces, kernels.data, text);
    }
    if (ptx)
        ptx_free(ptx);
    free(written);
    export_pieces_free(&pieces);
    lk_buf_free(&kernels);
    export_formulas_close(formulas);
    free(formulas);
    return fine;
}
