/*
 * image.c: from whatever cuModuleLoadData takes (PTX text, a fat binary, the wrapper around one,
 * our own linker's output) to the one PTX text that the machine loads.
 */
#include "driver/image.h"
#include "driver/fatbin.h"
#include "driver/ptxlink.h"
#include "driver/state.h"

#include "base/arena.h"
#include "base/buf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fat binary without PTX that fits: say which, and what to do about it. */
static char *say_no_ptx(const struct gpu_info *gpu, const struct fatbin_content *content)
{
    unsigned cc = gpu->cc_major * 10 + gpu->cc_minor;
    if (content->ptx)
        return lk_format(
            "the program's PTX is for sm_%u or newer and the GPU here is %s (sm_%u); "
            "compile with -gencode arch=compute_%u,code=compute_%u or choose a newer --gpu",
            content->lowest_ptx, gpu->name, cc, cc, cc);
    /* Code for sm_90a may need what only compute_90a has. */
    const char held[2] = {content->elf_suffix};
    const char *suffix = content->elf_arch == cc ? held : "";
    return lk_format("the program holds machine code%s%.0u%s only and no PTX, which is what runs "
                     "here; add -gencode arch=compute_%u%s,code=compute_%u%s to nvcc's options",
                     content->elf_arch ? " for sm_" : "", content->elf_arch, held, cc, suffix, cc,
                     suffix);
}

static CUresult ptx_of_fatbin(const struct gpu_info *gpu, const void *data, size_t size,
                              char **text, size_t *text_size, char **message)
{
    struct fatbin_entry best;
    struct fatbin_content content;
    const char *broken = NULL;
    if (!fatbin_best_ptx(data, size, gpu->cc_major, gpu->cc_minor, &best, &content, &broken)) {
        *message = broken ? lk_format("%s", broken) : say_no_ptx(gpu, &content);
        return broken ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    *text = fatbin_unpack(&best, text_size, &broken);
    if (*text && content.newer && !ptxlink_is_device_runtime(*text, *text_size))
        drv_remark_once("kernels of this program have machine code for this GPU, which the machine "
                        "cannot run, and PTX for newer ones, which runs in its place");
    if (*text)
        return CUDA_SUCCESS;
    *message = lk_format("%s", broken);
    return CUDA_ERROR_INVALID_IMAGE;
}

/* A program built with -rdc=true: the linked machine code, and the objects' own containers beside
 * it. One of those is the device runtime library, which has no PTX for most GPUs; what lacks PTX is
 * skipped, and the PTX parser complains if it is needed. */
static CUresult ptx_of_list(const struct gpu_info *gpu, void *const *list, char **text,
                            size_t *text_size, char **message)
{
    struct drv_list texts = {0};
    size_t *sizes = NULL;
    CUresult status = CUDA_ERROR_NO_BINARY_FOR_GPU;
    for (; *list; list++) {
        size_t size = fatbin_size(*list), one_size;
        char *one = NULL, *says = NULL;
        if (size && ptx_of_fatbin(gpu, *list, size, &one, &one_size, &says) == CUDA_SUCCESS) {
            drv_list_add(&texts, one);
            sizes = lk_realloc(sizes, texts.count * sizeof *sizes);
            sizes[texts.count - 1] = one_size;
        }
        if (*message)
            free(says);
        else
            *message = says;
    }
    if (texts.count) {
        free(*message);
        *message = NULL;
        *text = ptxlink_merge((const char *const *)texts.items, sizes, texts.count, text_size);
        status = CUDA_SUCCESS;
    }
    for (size_t i = 0; i < texts.count; i++)
        free(texts.items[i]);
    drv_list_free(&texts);
    free(sizes);
    return status;
}

static CUresult ptx_of_wrapper(const struct gpu_info *gpu, const void *image, char **text,
                               size_t *text_size, char **message)
{
    struct fatbin_wrapper wrapper;
    memcpy(&wrapper, image, sizeof wrapper);
    size_t size = wrapper.data ? fatbin_size(wrapper.data) : 0;
    if (!size)
        return CUDA_ERROR_INVALID_IMAGE;
    CUresult status = ptx_of_fatbin(gpu, wrapper.data, size, text, text_size, message);
    if (status == CUDA_ERROR_NO_BINARY_FOR_GPU && wrapper.version >= 2 && wrapper.more) {
        free(*message);
        *message = NULL;
        status = ptx_of_list(gpu, wrapper.more, text, text_size, message);
    }
    return status;
}

/* .target sm_100 on an sm_90 device is refused before anything else is read. */
static CUresult check_target(const struct gpu_info *gpu, const char *text, size_t size,
                             char **message)
{
    const char *at = memmem(text, size, ".target", 7);
    const char *name = at ? at + 7 + strspn(at + 7, " \t\r\n") : "";
    char *suffix;
    if (strncmp(name, "sm_", 3) != 0 || !isdigit((unsigned char)name[3]))
        return CUDA_SUCCESS; /* the parser has something to say about that */
    unsigned arch = (unsigned)strtoul(name + 3, &suffix, 10);
    struct fatbin_entry entry = {.arch = arch,
                                 .suffix = *suffix == 'a' || *suffix == 'f' ? *suffix : 0};
    if (fatbin_runs_on(&entry, gpu->cc_major, gpu->cc_minor))
        return CUDA_SUCCESS;
    *message =
        lk_format("this PTX is for sm_%u%.1s and the GPU here is %s (sm_%u%u)", arch,
                  entry.suffix ? &entry.suffix : "", gpu->name, gpu->cc_major, gpu->cc_minor);
    return CUDA_ERROR_INVALID_PTX;
}

/* Text that does not begin like PTX is not an image at all; PTX of a newer major version than ours
 * is refused, as it is by a driver that is too old for it. */
static CUresult check_head(const char *text, size_t size, char **message)
{
    const char *at = text, *end = text + size;
    while (at < end && (isspace((unsigned char)*at) || *at == '/')) {
        const char *close = NULL;
        if (*at == '/' && end - at > 1 && at[1] == '*')
            close = memmem(at + 2, (size_t)(end - at) - 2, "*/", 2);
        else if (*at == '/')
            close = memchr(at, '\n', (size_t)(end - at));
        at = *at != '/' ? at + 1 : close ? close + (*close == '*' ? 2 : 1) : end;
    }
    if (at == end || *at != '.') {
        *message = lk_format("this is no PTX, no fat binary and no cubin");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    unsigned long major = strncmp(at, ".version", 8) == 0 ? strtoul(at + 8, NULL, 10) : 0;
    if (major > 9) {
        *message = lk_format("PTX version %lu is newer than this machine knows", major);
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    return CUDA_SUCCESS;
}

CUresult drv_image_to_ptx(const struct gpu_info *gpu, const void *image, size_t size, char **text,
                          size_t *text_size, char **message)
{
    const unsigned char *bytes = image;
    uint32_t magic = 0;
    *text = *message = NULL;
    if (!image || (size && size < 4))
        return CUDA_ERROR_INVALID_IMAGE;
    memcpy(&magic, image, 4);
    if (magic == FATBIN_WRAPPER_MAGIC)
        return ptx_of_wrapper(gpu, image, text, text_size, message);
    if (magic == FATBIN_MAGIC) {
        size_t whole = size && size < 16 ? 0 : fatbin_size(image);
        if (!whole || (size && whole > size))
            return CUDA_ERROR_INVALID_IMAGE;
        return ptx_of_fatbin(gpu, image, whole, text, text_size, message);
    }
    if (magic == 0x464c457f) { /* "\x7fELF" */
        uint16_t machine = 0;
        if (!size || size >= 20)
            memcpy(&machine, bytes + 18, 2);
        if (machine != 190) /* EM_CUDA */
            return CUDA_ERROR_INVALID_IMAGE;
        *message =
            lk_format("this is machine code (a cubin); load PTX, or a fat binary with PTX in it");
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    size_t skip = 0;
    if (memcmp(bytes, DRV_LINKED_MAGIC, 4) == 0)
        skip = strlen(DRV_LINKED_MAGIC);
    else if (!isprint(bytes[0]) && !isspace(bytes[0]))
        return CUDA_ERROR_INVALID_IMAGE;
    const char *from = (const char *)image + skip;
    *text_size = size ? strnlen(from, size - skip) : strlen(from);
    CUresult status = check_head(from, *text_size, message);
    if (status == CUDA_SUCCESS && !skip) /* what the linker took was fine */
        status = check_target(gpu, from, *text_size, message);
    if (status != CUDA_SUCCESS)
        return status;
    *text = lk_alloc(*text_size + 1);
    memcpy(*text, from, *text_size);
    (*text)[*text_size] = 0;
    return CUDA_SUCCESS;
}
