/*
 * nvcc_words.c: nvcc's options pass through as they are. Only those matter here that take a value
 * in the next word (so that it is not taken for a file), choose an architecture or a runtime
 * library, or make something else than a program; see nvcc_words.h.
 */
#include "toolchain/nvcc_words.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

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

/* The architectures that text names, as in sm_80 or arch=compute_90a,code=[sm_90a,compute_90a];
 * "native", "all" and similar words name none, and leave the choice to us. */
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

void nvcc_add_input(struct nvcc_words *nvcc, const char *path)
{
    lk_list_add(&nvcc->words, path);
    lk_list_add(&nvcc->inputs, path);
}

bool nvcc_add_option(struct lk_arena *arena, struct nvcc_words *nvcc, int count, char **words,
                     int *at, char **message)
{
    const char *word = words[(*at)++], *value = strchr(word, '=');
    enum form form = form_of(word);
    if (form == REFUSED) {
        *message = lk_format("%s: run makes a whole program and keeps it in its cache; --keep says "
                             "where",
                             word);
        return false;
    }
    struct lk_list *list = form == ARCH || form == GENCODE || form == CODE ? &nvcc->arch_words
                           : form == CUDART || form == LTO                 ? &nvcc->cudart_words
                                                                           : &nvcc->words;
    lk_list_add(list, word);
    if (value) {
        value++;
    } else if (takes_value(form)) {
        if (*at >= count) {
            *message = lk_format("%s needs a value", word);
            return false;
        }
        value = words[(*at)++];
        lk_list_add(list, value);
    }
    if (form == ARCH || form == GENCODE)
        add_archs(arena, value, &nvcc->archs);
    if (form == DEBUG)
        nvcc->device_debug = true;
    return true;
}

void nvcc_words_free(struct nvcc_words *nvcc)
{
    lk_list_free(&nvcc->words);
    lk_list_free(&nvcc->arch_words);
    lk_list_free(&nvcc->cudart_words);
    lk_list_free(&nvcc->archs);
    lk_list_free(&nvcc->inputs);
}

unsigned nvcc_most_registers(const struct lk_list *words)
{
    unsigned most = 255;
    for (const char **word = words->items; word && *word && strcmp(*word, "--") != 0; word++) {
        const char *name = *word + strspn(*word, "-");
        if (**word != '-' || strncmp(name, "maxrregcount", 12) != 0)
            continue;
        const char *value = name[12] == '=' ? name + 13 : word[1];
        unsigned long number = value ? strtoul(value, NULL, 10) : 0;
        most = number >= 16 && number < 255 ? (unsigned)number : most;
    }
    return most;
}

static void add_all(struct lk_list *list, const struct lk_list *more)
{
    for (size_t i = 0; i < more->count; i++)
        lk_list_add(list, more->items[i]);
}

/* PTX only, so that ptxas has nothing to do; the runtime must be the shared one to be ours. */
static void add_simulated(struct lk_arena *arena, const struct nvcc_words *nvcc, const char *arch,
                          struct lk_list *command)
{
    lk_list_add(command, "-cudart");
    lk_list_add(command, "shared");
    if (!nvcc->device_debug)
        lk_list_add(command, "-lineinfo");
    struct lk_list archs = {0};
    add_all(&archs, &nvcc->archs);
    if (archs.count == 0)
        lk_list_add(&archs, arch);
    for (size_t i = 0; i < archs.count; i++) {
        lk_list_add(command, "-gencode");
        lk_list_add(command, lk_arena_printf(arena, "arch=compute_%s,code=compute_%s",
                                             archs.items[i], archs.items[i]));
    }
    lk_list_free(&archs);
}

static void add_real(struct lk_arena *arena, const struct nvcc_words *nvcc, const char *arch,
                     struct lk_list *command)
{
    if (nvcc->arch_words.count == 0)
        lk_list_add(command, lk_arena_printf(arena, "-arch=sm_%s", arch));
    add_all(command, &nvcc->arch_words);
    add_all(command, &nvcc->cudart_words);
}

void nvcc_command(struct lk_arena *arena, const struct nvcc_words *nvcc, const char *compiler,
                  const char *arch, bool simulated, struct lk_list *command)
{
    lk_list_add(command, compiler);
    if (simulated)
        add_simulated(arena, nvcc, arch, command);
    else
        add_real(arena, nvcc, arch, command);
    add_all(command, &nvcc->words);
}
