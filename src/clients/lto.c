/*
 * lto.c: LTO-IR is a format of NVIDIA's, so NVIDIA's linker optimises it, and is asked for PTX; it
 * needs no GPU for that. Numba links this way by default.
 */
#include "clients/lto.h"
#include "clients/vendor.h"

#include "base/arena.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(word) #word
#define NUMBER(word) TEXT_OF(word)
#define NAME "libnvJitLink.so." NUMBER(NVJITLINK_MAJOR)

enum { INPUT_LTOIR = 3 };
typedef void *handle;

/* Its calls, as nvJitLink.h declares them. */
static struct calls {
    int (*create)(handle *link, uint32_t count, const char **options);
    int (*destroy)(handle *link);
    int (*add)(handle link, int type, const void *data, size_t size, const char *name);
    int (*complete)(handle link);
    int (*ptx_size)(handle link, size_t *size);
    int (*ptx)(handle link, char *text);
    int (*log_size)(handle link, size_t *size);
    int (*log)(handle link, char *text);
} calls;
static bool ready;

static void open_vendor(void)
{
    static const char *const wheels[] = {"nvidia/cu" NUMBER(NVJITLINK_MAJOR) "/lib",
                                         "nvidia/nvjitlink/lib", NULL};
    const struct {
        const char *name;
        void *call;
    } symbols[] = {{"nvJitLinkCreate", &calls.create},
                   {"nvJitLinkDestroy", &calls.destroy},
                   {"nvJitLinkAddData", &calls.add},
                   {"nvJitLinkComplete", &calls.complete},
                   {"nvJitLinkGetLinkedPtxSize", &calls.ptx_size},
                   {"nvJitLinkGetLinkedPtx", &calls.ptx},
                   {"nvJitLinkGetErrorLogSize", &calls.log_size},
                   {"nvJitLinkGetErrorLog", &calls.log}};
    void *library = vendor_open(NAME, wheels);
    ready = library != NULL;
    for (size_t i = 0; ready && i < sizeof symbols / sizeof *symbols; i++) {
        /* libnvJitLink 12 has only names with a release in them. */
        void *symbol = dlsym(library, symbols[i].name);
        for (int minor = 9; !symbol && minor >= 0; minor--) {
            char *versioned =
                lk_format("__%s_" NUMBER(NVJITLINK_MAJOR) "_%d", symbols[i].name, minor);
            symbol = dlsym(library, versioned);
            free(versioned);
        }
        memcpy(symbols[i].call, &symbol, sizeof symbol);
        ready = symbol != NULL;
    }
}

/* "-lto" and "-ptx" once each, whatever else was asked for; what tunes machine code stays out. */
static unsigned choose_options(const char *const *options, unsigned count, const char **chosen)
{
    unsigned used = 0;
    chosen[used++] = "-lto";
    chosen[used++] = "-ptx";
    for (unsigned i = 0; i < count; i++)
        if (strcmp(options[i], "-lto") != 0 && strcmp(options[i], "-ptx") != 0 &&
            strncmp(options[i], "-maxrregcount", 13) != 0)
            chosen[used++] = options[i];
    return used;
}

static void take_log(handle link, const char *what, struct lk_buf *errors)
{
    size_t size = 0;
    lk_buf_printf(errors, "NVIDIA's linker: %s failed\n", what);
    if (calls.log_size(link, &size) == 0 && size) {
        char *text = lk_alloc(size + 1);
        text[size] = 0;
        if (calls.log(link, text) == 0)
            lk_buf_printf(errors, "%s\n", text);
        free(text);
    }
}

static bool take_ptx(handle link, struct lk_buf *ptx)
{
    size_t size = 0;
    if (calls.ptx_size(link, &size) != 0 || !size)
        return false;
    char *text = lk_alloc(size);
    bool taken = calls.ptx(link, text) == 0;
    if (taken)
        lk_buf_add(ptx, text, strnlen(text, size));
    free(text);
    return taken;
}

bool lto_to_ptx(const struct lto_input *inputs, size_t count, const char *const *options,
                unsigned option_count, struct lk_buf *ptx, struct lk_buf *errors)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    handle link = NULL;
    pthread_once(&once, open_vendor);
    if (!ready) {
        lk_buf_printf(errors,
                      "%s: is LTO-IR, which needs NVIDIA's linker too, and there is no " NAME
                      " here; 'pip install nvidia-nvjitlink', or compile to PTX (in Numba "
                      "lto=False)\n",
                      inputs[0].name);
        return false;
    }
    const char **chosen = lk_alloc((option_count + 2) * sizeof *chosen);
    bool done = false;
    const char *step = "nvJitLinkCreate";
    if (calls.create(&link, choose_options(options, option_count, chosen), chosen) == 0) {
        size_t added = 0;
        for (step = "nvJitLinkAddData"; added < count; added++)
            if (calls.add(link, INPUT_LTOIR, inputs[added].data, inputs[added].size,
                          inputs[added].name) != 0)
                break;
        if (added == count) {
            step = "nvJitLinkComplete";
            done = calls.complete(link) == 0 && take_ptx(link, ptx);
        }
    }
    if (!done)
        take_log(link, step, errors);
    if (link)
        calls.destroy(&link);
    free(chosen);
    return done;
}
