/*
 * nvrtc.c: opens NVRTC and has it compile one file; see nvrtc.h.
 */
#include "toolchain/nvrtc.h"

#include "host/files.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct _nvrtcProgram *program_handle;

/* The calls that are used here; each returns 0 if all is well. */
struct nvrtc {
    int (*create)(program_handle *, const char *source, const char *name, int headers,
                  const char *const *texts, const char *const *names);
    int (*compile)(program_handle, int count, const char *const *options);
    int (*log_size)(program_handle, size_t *size);
    int (*log)(program_handle, char *text);
    int (*ptx_size)(program_handle, size_t *size);
    int (*ptx)(program_handle, char *text);
};

static bool open_library(const char *path, struct nvrtc *nvrtc)
{
    static const char *const names[] = {"nvrtcCreateProgram",     "nvrtcCompileProgram",
                                        "nvrtcGetProgramLogSize", "nvrtcGetProgramLog",
                                        "nvrtcGetPTXSize",        "nvrtcGetPTX"};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol;
    char *to = (char *)nvrtc;
    _Static_assert(sizeof(*nvrtc) == sizeof names, "a call for each name");
    for (size_t i = 0; library && i < sizeof names / sizeof *names; i++) {
        symbol = dlsym(library, names[i]);
        if (!symbol)
            library = NULL;
        memcpy(to + i * sizeof symbol, &symbol, sizeof symbol);
    }
    if (!library)
        fprintf(stderr, "%s: NVRTC cannot be loaded from there\n", path);
    return library != NULL;
}

/* A text that NVRTC has; malloc'd, or NULL. */
static char *text_of(program_handle program, int (*size_of)(program_handle, size_t *),
                     int (*get)(program_handle, char *))
{
    size_t size = 0;
    char *text = size_of(program, &size) == 0 ? calloc(size + 1, 1) : NULL;
    if (text && get(program, text) == 0)
        return text;
    free(text);
    return NULL;
}

int toolchain_nvrtc_worker(int count, char **words)
{
    struct nvrtc nvrtc;
    program_handle program = NULL;
    char *source = NULL, *message = NULL, *log = NULL, *ptx = NULL;
    int status = 1;
    if (count < 3 || !open_library(words[0], &nvrtc))
        return 1;
    source = host_read_text(words[1], &message);
    if (!source || nvrtc.create(&program, source, words[1], 0, NULL, NULL) != 0)
        goto out;
    bool fine = nvrtc.compile(program, count - 3, (const char *const *)words + 3) == 0;
    log = text_of(program, nvrtc.log_size, nvrtc.log);
    if (log && *log)
        fprintf(stderr, "%s", log);
    ptx = fine ? text_of(program, nvrtc.ptx_size, nvrtc.ptx) : NULL;
    if (ptx && host_write_file(words[2], ptx, strlen(ptx), &message))
        status = 0;
    else if (fine && !message)
        fprintf(stderr, "%s: NVRTC has made no PTX\n", words[1]);
out:
    if (message)
        fprintf(stderr, "%s\n", message);
    free(ptx);
    free(log);
    free(message);
    free(source);
    return status;
}
