/*
 * request.c: tells our options, nvcc's and the program's apart, and makes nvcc's command line.
 * nvcc's options pass through as they are. Only those matter here that take a value in the next
 * word (so that it is not taken for a file), choose an architecture or a runtime library, or make
 * something else than a program.
 */
#include "cli/request.h"
#include "toolchain/build.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

enum form { PLAIN, VALUE, ARCH, GENCODE, CODE, CUDART, LTO, DEBUG, REFUSED };

static const struct {
    const char *name;
    enum form form;
} forms[] = {
    {"-arch", ARCH},
    {"--gpu-architecture", ARCH},
    {"-gencode", GENCODE},
    {"--generate-code", GENCODE},
    {"-code", CODE},
    {"--gpu-code", CODE},
    {"-cudart", CUDART},
    {"--cudart", CUDART},
    {"-dlto", LTO},
    {"--dlink-time-opt", LTO},
    {"-G", DEBUG},
    {"--device-debug", DEBUG},

    {"-o", REFUSED},
    {"--output-file", REFUSED},
    {"-c", REFUSED},
    {"--compile", REFUSED},
    {"-dc", REFUSED},
    {"--device-c", REFUSED},
    {"-dw", REFUSED},
    {"-dlink", REFUSED},
    {"--device-link", REFUSED},
    {"-lib", REFUSED},
    {"--lib", REFUSED},
    {"-shared", REFUSED},
    {"--shared", REFUSED},
    {"-ptx", REFUSED},
    {"--ptx", REFUSED},
    {"-cubin", REFUSED},
    {"--cubin", REFUSED},
    {"-fatbin", REFUSED},
    {"--fatbin", REFUSED},
    {"-E", REFUSED},
    {"--preprocess", REFUSED},
    {"-M", REFUSED},
    {"-MM", REFUSED},
    {"-MD", REFUSED},
    {"-MMD", REFUSED},
    {"-run", REFUSED},
    {"--run", REFUSED},
    {"-dryrun", REFUSED},
    {"--dryrun", REFUSED},

    {"-x", VALUE},
    {"--x", VALUE},
    {"-std", VALUE},
    {"--std", VALUE},
    {"-m", VALUE},
    {"--machine", VALUE},
    {"-l", VALUE},
    {"--library", VALUE},
    {"-L", VALUE},
    {"--library-path", VALUE},
    {"-I", VALUE},
    {"--include-path", VALUE},
    {"-isystem", VALUE},
    {"--system-include", VALUE},
    {"-include", VALUE},
    {"--pre-include", VALUE},
    {"-D", VALUE},
    {"--define-macro", VALUE},
    {"-U", VALUE},
    {"--undefine-macro", VALUE},
    {"-O", VALUE},
    {"--optimize", VALUE},
    {"-Xcompiler", VALUE},
    {"--compiler-options", VALUE},
    {"-Xlinker", VALUE},
    {"--linker-options", VALUE},
    {"-Xarchive", VALUE},
    {"--archive-options", VALUE},
    {"-Xptxas", VALUE},
    {"--ptxas-options", VALUE},
    {"-Xnvlink", VALUE},
    {"--nvlink-options", VALUE},
    {"-Xcudafe", VALUE},
    {"-ccbin", VALUE},
    {"--compiler-bindir", VALUE},
    {"-maxrregcount", VALUE},
    {"--maxrregcount", VALUE},
    {"-rdc", VALUE},
    {"--relocatable-device-code", VALUE},
    {"-cudadevrt", VALUE},
    {"--cudadevrt", VALUE},
    {"-ftz", VALUE},
    {"--ftz", VALUE},
    {"-prec-div", VALUE},
    {"--prec-div", VALUE},
    {"-prec-sqrt", VALUE},
    {"--prec-sqrt", VALUE},
    {"-fmad", VALUE},
    {"--fmad", VALUE},
    {"-default-stream", VALUE},
    {"--default-stream", VALUE},
    {"-diag-suppress", VALUE},
    {"--diag-suppress", VALUE},
    {"-diag-warn", VALUE},
    {"--diag-warn", VALUE},
    {"-diag-error", VALUE},
    {"--diag-error", VALUE},
    {"-Werror", VALUE},
    {"--Werror", VALUE},
    {"-t", VALUE},
    {"-split-compile", VALUE},
    {"--split-compile", VALUE},
    {"-target-dir", VALUE},
    {"--target-directory", VALUE},
};

static enum form form_of(const char *word)
{
    size_t length = strcspn(word, "=");
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strncmp(forms[i].name, word, length) == 0 && forms[i].name[length] == 0)
            return forms[i].form;
    return PLAIN;
}

static bool takes_value(enum form form)
{
    return form == VALUE || form == ARCH || form == GENCODE || form == CODE || form == CUDART;
}

static bool ends_in(const char *path, const char *const *endings)
{
    const char *name = strrchr(path, '/');
    const char *dot = strrchr(name ? name : path, '.');
    for (; dot && *endings; endings++)
        if (strcmp(dot, *endings) == 0)
            return true;
    return false;
}

static bool is_linked(const char *path)
{
    static const char *const endings[] = {".o", ".a", ".so", ".obj", NULL};
    return ends_in(path, endings) || strstr(path, ".so.");
}

/* The architectures that text names, as in sm_80 or arch=compute_90a,code=[sm_90a,compute_90a];
 * "native", "all" and the like name none, and leave the choice to us. */
static void add_archs(struct lk_arena *arena, const char *text, struct lk_list *archs)
{
    static const char *const kinds[] = {"compute_", "sm_", "lto_"};
    const char *end = strstr(text, "code=");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const char *at = strstr(text, kinds[i]);
        if (!at || (end && at > end))
            continue;
        at += strlen(kinds[i]);
        size_t length = strspn(at, "0123456789");
        length += at[length] == 'a' || at[length] == 'f';
        const char *arch = lk_arena_strndup(arena, at, length);
        for (size_t j = 0; j < archs->count; j++)
            if (strcmp(archs->items[j], arch) == 0)
                return;
        lk_list_add(archs, arch);
        return;
    }
}

static bool is_schedule(const char *text)
{
    unsigned long long seed;
    if (strncmp(text, "random:", 7) == 0)
        return cli_number("--schedule random:SEED", text + 7, UINT64_MAX, &seed);
    host_error("--schedule takes random:SEED, as in random:1, not '%s'", text);
    return false;
}

/* One of our own options; *bad if it is one but wrong. */
static bool our_option(int count, char **words, int *at, struct request *request, bool *bad)
{
    const char *value;
    unsigned long long number;
    if (cli_flag(words, at, "--keep"))
        return request->keep = true;
    if (cli_flag(words, at, "--verbose"))
        return request->verbose = true;
    if (cli_option(count, words, at, "--gpu", &value)) {
        request->gpu = value;
        *bad = !value;
        return true;
    }
    if (cli_option(count, words, at, "--threads", &value)) {
        request->threads = value;
        *bad = !value || !cli_number("--threads", value, 4096, &number);
        return true;
    }
    if (cli_option(count, words, at, "--limit", &value)) {
        request->limit = value;
        *bad = !value || !cli_number("--limit", value, UINT64_MAX, &number);
        return true;
    }
    if (cli_option(count, words, at, "--schedule", &value)) {
        request->schedule = value;
        *bad = !value || !is_schedule(value);
        return true;
    }
    return false;
}

/* One of nvcc's options with its value, if it has one. */
static bool nvcc_option(struct lk_arena *arena, int count, char **words, int *at,
                        struct request *request)
{
    const char *word = words[(*at)++], *value = strchr(word, '=');
    enum form form = form_of(word);
    if (form == REFUSED) {
        host_error("run: %s: run makes a whole program and keeps it in its cache; "
                   "--keep says where",
                   word);
        return false;
    }
    struct lk_list *list = form == ARCH || form == GENCODE || form == CODE ? &request->arch_words
                           : form == CUDART || form == LTO                 ? &request->cudart_words
                                                                           : &request->words;
    lk_list_add(list, word);
    if (value) {
        value++;
    } else if (takes_value(form)) {
        if (*at >= count) {
            host_error("run: %s needs a value", word);
            return false;
        }
        value = words[(*at)++];
        lk_list_add(list, value);
    }
    if (form == ARCH || form == GENCODE)
        add_archs(arena, value, &request->archs);
    if (form == DEBUG)
        request->device_debug = true;
    return true;
}

static bool check_inputs(struct request *request)
{
    if (request->inputs.count == 0) {
        host_error("run: which program? as in 'lockstep run prog.cu'");
        return false;
    }
    bool sources = false;
    for (size_t i = 0; i < request->inputs.count; i++) {
        const char *path = request->inputs.items[i];
        bool known = build_is_source(path) || is_linked(path);
        struct stat status;
        sources = sources || build_is_source(path);
        if (!known && request->words.count > 1) {
            host_error("run: '%s' is no source file; the program's own arguments go after --",
                       path);
            return false;
        }
        if (stat(path, &status) != 0) {
            host_error("%s: no such file", path);
            return false;
        }
        if (S_ISDIR(status.st_mode)) {
            host_error("%s: is a folder, not a program", path);
            return false;
        }
        if (!known)
            request->program = path;
    }
    if (!sources && !request->program) {
        host_error("run: there is no source file among the inputs; "
                   "'lockstep run prog.cu' or 'lockstep run ./program'");
        return false;
    }
    return true;
}

bool request_parse(struct lk_arena *arena, int count, char **words, struct request *request)
{
    static char *no_arguments[] = {NULL};
    *request = (struct request){.arguments = no_arguments};
    bool bad = false;
    for (int at = 0; at < count;) {
        if (strcmp(words[at], "--") == 0) {
            request->arguments = words + at + 1; /* argv ends with NULL */
            break;
        }
        if (our_option(count, words, &at, request, &bad)) {
            if (bad)
                return false;
        } else if (words[at][0] == '-' && words[at][1]) {
            if (!nvcc_option(arena, count, words, &at, request))
                return false;
        } else {
            lk_list_add(&request->words, words[at]);
            lk_list_add(&request->inputs, words[at++]);
        }
    }
    return check_inputs(request);
}

void request_free(struct request *request)
{
    lk_list_free(&request->words);
    lk_list_free(&request->arch_words);
    lk_list_free(&request->cudart_words);
    lk_list_free(&request->archs);
    lk_list_free(&request->inputs);
}

static void add_all(struct lk_list *list, const struct lk_list *more)
{
    for (size_t i = 0; i < more->count; i++)
        lk_list_add(list, more->items[i]);
}

/* PTX only, so that ptxas has nothing to do; the runtime must be the shared one to be ours. */
static void add_simulated(struct lk_arena *arena, const struct request *request,
                          const struct target *target, struct lk_list *command)
{
    lk_list_add(command, "-cudart");
    lk_list_add(command, "shared");
    if (!request->device_debug)
        lk_list_add(command, "-lineinfo");
    struct lk_list archs = {0};
    add_all(&archs, &request->archs);
    if (archs.count == 0)
        lk_list_add(&archs, lk_arena_printf(arena, "%u%u", target->cc_major, target->cc_minor));
    for (size_t i = 0; i < archs.count; i++) {
        lk_list_add(command, "-gencode");
        lk_list_add(command, lk_arena_printf(arena, "arch=compute_%s,code=compute_%s",
                                             archs.items[i], archs.items[i]));
    }
    lk_list_free(&archs);
}

static void add_real(struct lk_arena *arena, const struct request *request,
                     const struct target *target, struct lk_list *command)
{
    if (request->arch_words.count == 0)
        lk_list_add(command,
                    lk_arena_printf(arena, "-arch=sm_%u%u", target->cc_major, target->cc_minor));
    add_all(command, &request->arch_words);
    add_all(command, &request->cudart_words);
}

void request_command(struct lk_arena *arena, const struct request *request, const char *nvcc,
                     const struct target *target, struct lk_list *command)
{
    lk_list_add(command, nvcc);
    if (target->simulated)
        add_simulated(arena, request, target, command);
    else
        add_real(arena, request, target, command);
    add_all(command, &request->words);
}
