/*
 * linker.c: collects PTX and merges it; see linker.h. Object files (nvcc -dc) have fat binaries in
 * sections of their own; libraries are archives of such files.
 */
#include "driver/linker.h"
#include "driver/fatbin.h"
#include "driver/image.h"
#include "driver/ptxlink.h"
#include "driver/state.h"

#include "base/buf.h"
#include "ptx/ptx.h"

#include <ar.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct lk_linker {
    struct gpu_info gpu;
    char gpu_name[16];
    struct drv_list texts;
    size_t *sizes;
    struct lk_buf image;
};

EXPORT struct lk_linker *lk_linker_create(unsigned cc_major, unsigned cc_minor)
{
    struct lk_linker *linker = lk_alloc(sizeof *linker);
    *linker = (struct lk_linker){.gpu = {.cc_major = cc_major, .cc_minor = cc_minor}};
    snprintf(linker->gpu_name, sizeof linker->gpu_name, "sm_%u%u", cc_major, cc_minor);
    linker->gpu.name = linker->gpu_name;
    return linker;
}

EXPORT void lk_linker_free(struct lk_linker *linker)
{
    for (size_t i = 0; i < linker->texts.count; i++)
        free(linker->texts.items[i]);
    drv_list_free(&linker->texts);
    free(linker->sizes);
    lk_buf_free(&linker->image);
    free(linker);
}

/* Takes the text over. */
static void add_text(struct lk_linker *linker, char *text, size_t size)
{
    drv_list_add(&linker->texts, text);
    linker->sizes = lk_realloc(linker->sizes, linker->texts.count * sizeof *linker->sizes);
    linker->sizes[linker->texts.count - 1] = size;
}

static enum lk_linker_result add_image(struct lk_linker *linker, const void *data, size_t size,
                                       char **message)
{
    char *text;
    size_t text_size;
    CUresult status = drv_image_to_ptx(&linker->gpu, data, size, &text, &text_size, message);
    if (status == CUDA_SUCCESS)
        add_text(linker, text, text_size);
    else if (!*message)
        *message = lk_format("is damaged, or of a kind that is not known");
    return status == CUDA_SUCCESS                   ? LK_LINKER_OK
           : status == CUDA_ERROR_NO_BINARY_FOR_GPU ? LK_LINKER_NOT_PTX
                                                    : LK_LINKER_BROKEN;
}

/* Objects ---------------------------------------------------------------------------------------*/

/* The containers of one section; `found` counts those with PTX. What comes without is skipped: the
 * PTX parser complains if it is needed. */
static void add_section(struct lk_linker *linker, const uint8_t *data, size_t size, unsigned *found)
{
    for (size_t at = 0; size - at >= 16;) {
        size_t whole = fatbin_size(data + at);
        char *message = NULL;
        if (!whole || whole > size - at)
            return;
        *found += add_image(linker, data + at, whole, &message) == LK_LINKER_OK;
        free(message);
        at += whole + (-whole & 7);
        if (at > size)
            return;
    }
}

static bool is_object(const uint8_t *data, size_t size)
{
    Elf64_Ehdr header;
    if (size < sizeof header || memcmp(data, ELFMAG, SELFMAG) != 0)
        return false;
    memcpy(&header, data, sizeof header);
    return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine != EM_CUDA;
}

/* False if its tables lead out of the file. */
static bool add_object(struct lk_linker *linker, const uint8_t *data, size_t size, unsigned *found)
{
    static const char *const wanted[] = {".nv_fatbin", "__nv_relfatbin"};
    Elf64_Ehdr header;
    Elf64_Shdr names, section;
    memcpy(&header, data, sizeof header);
    if (header.e_shentsize != sizeof section || header.e_shoff > size ||
        (size - header.e_shoff) / sizeof section < header.e_shnum ||
        header.e_shstrndx >= header.e_shnum)
        return false;
    const uint8_t *table = data + header.e_shoff;
    memcpy(&names, table + header.e_shstrndx * sizeof section, sizeof names);
    if (names.sh_offset > size || names.sh_size > size - names.sh_offset)
        return false;
    for (size_t i = 0; i < header.e_shnum; i++) {
        memcpy(&section, table + i * sizeof section, sizeof section);
        const char *name = (const char *)data + names.sh_offset + section.sh_name;
        if (section.sh_type == SHT_NOBITS || section.sh_name >= names.sh_size ||
            strnlen(name, names.sh_size - section.sh_name) == names.sh_size - section.sh_name)
            continue;
        if (strcmp(name, wanted[0]) != 0 && strcmp(name, wanted[1]) != 0)
            continue;
        if (section.sh_offset > size || section.sh_size > size - section.sh_offset)
            return false;
        add_section(linker, data + section.sh_offset, section.sh_size, found);
    }
    return true;
}

static bool add_library(struct lk_linker *linker, const uint8_t *data, size_t size, unsigned *found)
{
    for (size_t at = SARMAG; size - at >= sizeof(struct ar_hdr);) {
        struct ar_hdr member;
        char digits[sizeof member.ar_size + 1] = {0};
        memcpy(&member, data + at, sizeof member);
        memcpy(digits, member.ar_size, sizeof member.ar_size);
        size_t length = strtoul(digits, NULL, 10);
        at += sizeof member;
        if (memcmp(member.ar_fmag, ARFMAG, 2) != 0 || length > size - at)
            return false;
        if (is_object(data + at, length) && !add_object(linker, data + at, length, found))
            return false;
        at += length + (length & 1);
        if (at > size)
            break;
    }
    return true;
}

/* Machine code, for which ptxlink.c has PTX. */
static bool is_device_runtime(const char *name)
{
    return name && strstr(name, "cudadevrt");
}

EXPORT enum lk_linker_result lk_linker_add(struct lk_linker *linker, const void *data, size_t size,
                                           const char *name, char **message)
{
    unsigned found = 0;
    bool library = size >= SARMAG && memcmp(data, ARMAG, SARMAG) == 0;
    *message = NULL;
    if (library && is_device_runtime(name))
        return LK_LINKER_OK;
    if (!library && !is_object(data, size))
        return add_image(linker, data, size, message);
    if (!(library ? add_library : add_object)(linker, data, size, &found)) {
        *message = lk_format("is damaged: its tables lead out of the file");
        return LK_LINKER_BROKEN;
    }
    if (found)
        return LK_LINKER_OK;
    *message = lk_format("has no PTX for %s; compile it with -gencode arch=compute_%u%u,"
                         "code=compute_%u%u",
                         linker->gpu.name, linker->gpu.cc_major, linker->gpu.cc_minor,
                         linker->gpu.cc_major, linker->gpu.cc_minor);
    return LK_LINKER_NOT_PTX;
}

/* Parsing it once reports errors while the caller still reads the log. */
EXPORT const void *lk_linker_finish(struct lk_linker *linker, unsigned max_registers, size_t *size,
                                    char **message)
{
    size_t text_size;
    *message = NULL;
    if (!linker->texts.count) {
        *message = lk_format("nothing was added to the link");
        return NULL;
    }
    char *text = ptxlink_merge((const char *const *)linker->texts.items, linker->sizes,
                               linker->texts.count, &text_size);
    struct ptx_module *module = ptx_parse("linked ptx", text, text_size, message);
    if (module) {
        ptx_free(module);
        linker->image.size = 0;
        lk_buf_printf(&linker->image, "%s", DRV_LINKED_MAGIC);
        if (max_registers)
            lk_buf_printf(&linker->image, "%s%u\n", DRV_LINKED_REGISTERS, max_registers);
        lk_buf_add(&linker->image, text, text_size);
        lk_buf_add(&linker->image, "", 1);
        *size = linker->image.size;
    }
    free(text);
    return module ? linker->image.data : NULL;
}
