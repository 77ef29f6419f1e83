/*
 * nvjitlink.c: the drop-in libnvJitLink.so.12 and .13, the linker of Numba and cuda.core. It links
 * PTX, fat binaries, objects and libraries with PTX in them; what comes out loads like a cubin, on
 * a simulated GPU only. LTO-IR goes through NVIDIA's own linker first: see lto.h.
 *
 * Public names and numbers are those of nvJitLink.h.
 */
#include "clients/lto.h"
#include "driver/linker.h"

#include "base/arena.h"
#include "host/files.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum result {
    SUCCESS = 0,
    UNRECOGNIZED_OPTION = 1,
    MISSING_ARCH = 2,
    INVALID_INPUT = 3,
    PTX_COMPILE = 4,
    NVVM_COMPILE = 5,
    UNRECOGNIZED_INPUT = 8,
    UNRECOGNIZED_ARCH = 16
};
enum input { INPUT_PTX = 2, INPUT_LTOIR = 3, INPUT_ANY = 10 };

struct link {
    struct lk_linker *linker;
    unsigned max_registers;
    char **options; /* as given, for NVIDIA's linker */
    unsigned option_count;
    struct lto_input *inputs; /* LTO-IR; it is linked when all are there */
    size_t input_count;
    struct lk_buf ptx; /* what they became, for a link with -ptx */
    const void *image;
    size_t size;
    struct lk_buf errors;
};
typedef struct link *handle;

/* Options ---------------------------------------------------------------------------------------*/

/* Options that change nothing here: they tune code generation, or say what a log has. */
static bool is_idle(const char *option)
{
    static const char *const idle[] = {"-time",
                                       "-verbose",
                                       "-lto",
                                       "-ptx",
                                       "-g",
                                       "-lineinfo",
                                       "-no-cache",
                                       "-optimize-unused-variables",
                                       "-device-stack-protector",
                                       "-minimal",
                                       "-disable-smem-reservation"};
    static const char *const idle_with_value[] = {"-O",
                                                  "-ftz",
                                                  "-prec-div",
                                                  "-prec-sqrt",
                                                  "-fma",
                                                  "-kernels-used",
                                                  "-variables-used",
                                                  "-Xptxas",
                                                  "-Xnvvm",
                                                  "-split-compile",
                                                  "-optimize-unused-variables",
                                                  "-time",
                                                  "-ofast-compile",
                                                  "-device-stack-protector"};
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (strcmp(option, idle[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof idle_with_value / sizeof *idle_with_value; i++)
        if (strncmp(option, idle_with_value[i], strlen(idle_with_value[i])) == 0)
            return true;
    return false;
}

/* "sm_90a", "compute_103": the last digit is the minor version. */
static bool read_arch(const char *text, unsigned *cc)
{
    const char *digits = strchr(text, '_');
    char *end;
    unsigned long number = digits ? strtoul(digits + 1, &end, 10) : 0;
    if (number < 10 || number > 999 || (*end && end[1]))
        return false;
    *cc = (unsigned)number;
    return true;
}

static enum result read_options(struct link *link, unsigned count, const char **options,
                                unsigned *cc)
{
    for (unsigned i = 0; i < count; i++) {
        const char *option = options[i];
        if (option[0] == '-' && option[1] == '-')
            option++;
        if (strncmp(option, "-arch=", 6) == 0) {
            if (!read_arch(option + 6, cc)) {
                lk_buf_printf(&link->errors, "'%s' names no architecture\n", options[i]);
                return UNRECOGNIZED_ARCH;
            }
        } else if (strncmp(option, "-maxrregcount=", 14) == 0) {
            link->max_registers = (unsigned)strtoul(option + 14, NULL, 10);
        } else if (!is_idle(option)) {
            lk_buf_printf(&link->errors, "option '%s' is not known\n", options[i]);
            return UNRECOGNIZED_OPTION;
        }
    }
    return SUCCESS;
}

/* Linking ---------------------------------------------------------------------------------------*/

static enum result create(handle *result, uint32_t count, const char **options)
{
    unsigned cc = 0;
    if (!result || (count && !options))
        return INVALID_INPUT;
    struct link *link = lk_alloc(sizeof *link);
    *link = (struct link){0};
    *result = link;
    link->options = lk_alloc((count + 1) * sizeof *link->options);
    for (; link->option_count < count; link->option_count++)
        link->options[link->option_count] = lk_format("%s", options[link->option_count]);
    enum result status = read_options(link, count, options, &cc);
    if (status == SUCCESS && !cc) {
        lk_buf_printf(&link->errors, "there is no -arch=sm_NN among the options\n");
        status = MISSING_ARCH;
    }
    if (status == SUCCESS)
        link->linker = lk_linker_create(cc / 10, cc % 10);
    return status;
}

static enum result destroy(handle *link)
{
    if (!link || !*link)
        return INVALID_INPUT;
    if ((*link)->linker)
        lk_linker_free((*link)->linker);
    for (unsigned i = 0; i < (*link)->option_count; i++)
        free((*link)->options[i]);
    free((*link)->options);
    for (size_t i = 0; i < (*link)->input_count; i++) {
        free((*link)->inputs[i].data);
        free((*link)->inputs[i].name);
    }
    free((*link)->inputs);
    lk_buf_free(&(*link)->ptx);
    lk_buf_free(&(*link)->errors);
    free(*link);
    *link = NULL;
    return SUCCESS;
}

/* LTO-IR is LLVM's bitcode in a wrapper of NVIDIA's. */
static bool is_lto(unsigned type, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    return type == INPUT_LTOIR ||
           (type == INPUT_ANY && size > 4 &&
            (memcmp(bytes, "BC\xc0\xde", 4) == 0 || memcmp(bytes, "\xed\x43\x4e\x7f", 4) == 0));
}

static void keep_lto(struct link *link, const void *data, size_t size, const char *name)
{
    struct lto_input input = {lk_alloc(size), size, lk_format("%s", name)};
    memcpy(input.data, data, size);
    link->inputs = lk_realloc(link->inputs, (link->input_count + 1) * sizeof input);
    link->inputs[link->input_count++] = input;
}

static enum result add_data(handle link, unsigned type, const void *data, size_t size,
                            const char *name)
{
    char *message = NULL;
    if (!link || !link->linker || !data || !size)
        return INVALID_INPUT;
    if (!name)
        name = "input";
    if (is_lto(type, data, size)) {
        keep_lto(link, data, size, name);
        return SUCCESS;
    }
    enum lk_linker_result result = lk_linker_add(link->linker, data, size, name, &message);
    if (result != LK_LINKER_OK)
        lk_buf_printf(&link->errors, "%s: %s\n", name, message);
    free(message);
    return result == LK_LINKER_OK ? SUCCESS : UNRECOGNIZED_INPUT;
}

static enum result add_file(handle link, unsigned type, const char *path)
{
    struct lk_buf data = {0};
    if (!link || !link->linker || !path)
        return INVALID_INPUT;
    if (!host_read_file(path, &data, NULL)) {
        lk_buf_printf(&link->errors, "%s: cannot be read\n", path);
        return INVALID_INPUT;
    }
    enum result result = add_data(link, type, data.data, data.size, path);
    lk_buf_free(&data);
    return result;
}

static enum result add_lto(handle link)
{
    if (!lto_to_ptx(link->inputs, link->input_count, (const char *const *)link->options,
                    link->option_count, &link->ptx, &link->errors))
        return NVVM_COMPILE;
    return add_data(link, INPUT_PTX, link->ptx.data, link->ptx.size, "optimised LTO-IR");
}

static enum result complete(handle link)
{
    char *message = NULL;
    if (!link || !link->linker)
        return INVALID_INPUT;
    enum result status = link->input_count ? add_lto(link) : SUCCESS;
    if (status != SUCCESS)
        return status;
    link->image = lk_linker_finish(link->linker, link->max_registers, &link->size, &message);
    if (!link->image)
        lk_buf_printf(&link->errors, "%s\n", message);
    free(message);
    return link->image ? SUCCESS : PTX_COMPILE;
}

static enum result cubin_size(handle link, size_t *size)
{
    if (!link || !size || !link->image)
        return INVALID_INPUT;
    *size = link->size;
    return SUCCESS;
}

static enum result cubin(handle link, void *to)
{
    if (!link || !to || !link->image)
        return INVALID_INPUT;
    memcpy(to, link->image, link->size);
    return SUCCESS;
}

/* Only a link of LTO-IR makes PTX. */
static enum result ptx_size(handle link, size_t *size)
{
    if (!link || !size || !link->image || !link->ptx.size)
        return INVALID_INPUT;
    *size = link->ptx.size + 1;
    return SUCCESS;
}

static enum result ptx(handle link, char *to)
{
    if (!link || !to || !link->image || !link->ptx.size)
        return INVALID_INPUT;
    memcpy(to, link->ptx.data, link->ptx.size + 1);
    return SUCCESS;
}

/* LTO-IR comes out of none. */
static enum result no_size(handle link, size_t *size)
{
    (void)link;
    if (size)
        *size = 0;
    return INVALID_INPUT;
}

static enum result no_text(handle link, void *to)
{
    (void)link, (void)to;
    return INVALID_INPUT;
}

static enum result errors_size(handle link, size_t *size)
{
    if (!link || !size)
        return INVALID_INPUT;
    *size = link->errors.size ? link->errors.size + 1 : 0;
    return SUCCESS;
}

static enum result errors(handle link, char *to)
{
    if (!link || !to)
        return INVALID_INPUT;
    if (link->errors.size)
        memcpy(to, link->errors.data, link->errors.size + 1);
    return SUCCESS;
}

static enum result info_size(handle link, size_t *size)
{
    if (!link || !size)
        return INVALID_INPUT;
    *size = 0;
    return SUCCESS;
}

static enum result info(handle link, char *to)
{
    (void)to;
    return link ? SUCCESS : INVALID_INPUT;
}

/* Exports ---------------------------------------------------------------------------------------*/

/* nvJitLink.h's inline functions call a name that has the release; the plain one is for dlsym. */
#define PASTE_(a, b, c) __nvJitLink##a##_##b##_##c
#define PASTE(a, b, c) PASTE_(a, b, c)
#define ONE(name, body, parameters, arguments)                                                     \
    EXPORT enum result name parameters;                                                            \
    enum result name parameters                                                                    \
    {                                                                                              \
        return body arguments;                                                                     \
    }
#define CALL(name, body, parameters, arguments)                                                    \
    ONE(nvJitLink##name, body, parameters, arguments)                                              \
    ONE(PASTE(name, NVJITLINK_MAJOR, 0), body, parameters, arguments)                              \
    ONE(PASTE(name, NVJITLINK_MAJOR, 1), body, parameters, arguments)                              \
    ONE(PASTE(name, NVJITLINK_MAJOR, 2), body, parameters, arguments)                              \
    ONE(PASTE(name, NVJITLINK_MAJOR, 3), body, parameters, arguments)                              \
    ONE(PASTE(name, NVJITLINK_MAJOR, 4), body, parameters, arguments)                              \
    ONE(PASTE(name, NVJITLINK_MAJOR, 5), body, parameters, arguments)                              \
    ONE(PASTE(name, NVJITLINK_MAJOR, 6), body, parameters, arguments)                              \
    ONE(PASTE(name, NVJITLINK_MAJOR, 7), body, parameters, arguments)                              \
    ONE(PASTE(name, NVJITLINK_MAJOR, 8), body, parameters, arguments)                              \
    ONE(PASTE(name, NVJITLINK_MAJOR, 9), body, parameters, arguments)

CALL(Create, create, (handle * link, uint32_t count, const char **options), (link, count, options))
CALL(Destroy, destroy, (handle * link), (link))
CALL(AddData, add_data,
     (handle link, unsigned type, const void *data, size_t size, const char *name),
     (link, type, data, size, name))
CALL(AddFile, add_file, (handle link, unsigned type, const char *path), (link, type, path))
CALL(Complete, complete, (handle link), (link))
CALL(GetLinkedCubinSize, cubin_size, (handle link, size_t *size), (link, size))
CALL(GetLinkedCubin, cubin, (handle link, void *to), (link, to))
CALL(GetLinkedPtxSize, ptx_size, (handle link, size_t *size), (link, size))
CALL(GetLinkedPtx, ptx, (handle link, char *to), (link, to))
CALL(GetLinkedLTOIRSize, no_size, (handle link, size_t *size), (link, size))
CALL(GetLinkedLTOIR, no_text, (handle link, void *to), (link, to))
CALL(GetErrorLogSize, errors_size, (handle link, size_t *size), (link, size))
CALL(GetErrorLog, errors, (handle link, char *to), (link, to))
CALL(GetInfoLogSize, info_size, (handle link, size_t *size), (link, size))
CALL(GetInfoLog, info, (handle link, char *to), (link, to))

EXPORT enum result nvJitLinkVersion(unsigned *major, unsigned *minor);
enum result nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    if (!major || !minor)
        return INVALID_INPUT;
    *major = NVJITLINK_MAJOR;
    *minor = 0;
    return SUCCESS;
}
