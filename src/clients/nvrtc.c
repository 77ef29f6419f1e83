/*
 * nvrtc.c: the drop-in libnvrtc.so.12 and .13, for programs that compile kernels while they run.
 * NVIDIA's library does the work. Asked for a real architecture (sm_90) it makes machine code,
 * which no PTX machine can run; it has made the PTX too, so the calls that return machine code
 * return that instead. Under `profile` and `check` it also keeps line numbers, which leave the code
 * as it is.
 */
#include "clients/vendor.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define TEXT_OF(word) #word
#define NUMBER(word) TEXT_OF(word)
#define NAME "libnvrtc.so." NUMBER(NVRTC_MAJOR)

enum { NVRTC_SUCCESS, NVRTC_ERROR_INTERNAL_ERROR = 11 }; /* nvrtcResult */

#if NVRTC_MAJOR == 12
#define PACKAGE "nvidia-cuda-nvrtc-cu12"
#else
#define PACKAGE "nvidia-cuda-nvrtc"
#endif

typedef long any_call(long, long, long, long, long, long);
typedef int get_size(void *program, size_t *size);
typedef int get_text(void *program, char *text);
typedef int compile(void *program, int count, const char *const *options);

static void *library;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void)
{
    static const char *const wheels[] = {"nvidia/cu" NUMBER(NVRTC_MAJOR) "/lib",
                                         "nvidia/cuda_nvrtc/lib", NULL};
    library = vendor_open(NAME, wheels);
    if (!library)
        fprintf(stderr, "lockstep: the program compiles kernels with NVRTC, and there is no " NAME
                        " here; 'pip install " PACKAGE "', or NVIDIA's CUDA toolkit\n");
}

/* NULL where that version of the library has no such call. */
static void *find(const char *name)
{
    pthread_once(&once, open_library);
    return library ? dlsym(library, name) : NULL;
}

#define PASS(name)                                                                                 \
    EXPORT any_call name;                                                                          \
    long name(long a, long b, long c, long d, long e, long f)                                      \
    {                                                                                              \
        void *symbol = find(#name);                                                                \
        any_call *call;                                                                            \
        memcpy(&call, &symbol, sizeof call);                                                       \
        return call ? call(a, b, c, d, e, f) : NVRTC_ERROR_INTERNAL_ERROR;                         \
    }
#include "clients/nvrtc.def"

EXPORT const char *nvrtcGetErrorString(int result);
EXPORT compile nvrtcCompileProgram;
EXPORT get_size nvrtcGetCUBINSize;
EXPORT get_text nvrtcGetCUBIN;

const char *nvrtcGetErrorString(int result)
{
    void *symbol = find("nvrtcGetErrorString");
    const char *(*call)(int);
    memcpy(&call, &symbol, sizeof call);
    return call ? call(result) : "NVIDIA's " NAME " was not found";
}

/* Would line numbers be of use, and are they not asked for, by these options? */
static bool lacks_lines(int count, const char *const *options)
{
    static const char *const asks[] = {"-lineinfo", "--generate-line-info", "-G", "--device-debug"};
    bool lacks = getenv("LOCKSTEP_PROFILE") || getenv("LOCKSTEP_CHECK");
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof asks / sizeof *asks; k++)
            lacks = lacks && strcmp(options[i], asks[k]) != 0;
    return lacks;
}

int nvrtcCompileProgram(void *program, int count, const char *const *options)
{
    void *symbol = find("nvrtcCompileProgram");
    compile *call;
    memcpy(&call, &symbol, sizeof call);
    size_t given = count > 0 && options ? (size_t)count : 0;
    const char **more = lacks_lines((int)given, options) ? calloc(given + 1, sizeof *more) : NULL;
    if (more) {
        for (size_t i = 0; i < given; i++)
            more[i] = options[i];
        more[given] = "-lineinfo";
    }
    int result = !call  ? NVRTC_ERROR_INTERNAL_ERROR
                 : more ? call(program, (int)given + 1, more)
                        : call(program, count, options);
    free(more);
    return result;
}

static int size_of(const char *name, void *program, size_t *size)
{
    void *symbol = find(name);
    get_size *get;
    memcpy(&get, &symbol, sizeof get);
    return get ? get(program, size) : NVRTC_ERROR_INTERNAL_ERROR;
}

/* Nothing where NVIDIA's has nothing: with -arch=compute_90 it makes no machine code. */
int nvrtcGetCUBINSize(void *program, size_t *size)
{
    int result = size_of("nvrtcGetCUBINSize", program, size);
    return result == NVRTC_SUCCESS && *size ? size_of("nvrtcGetPTXSize", program, size) : result;
}

int nvrtcGetCUBIN(void *program, char *text)
{
    size_t size = 0;
    int result = size_of("nvrtcGetCUBINSize", program, &size);
    void *symbol = find(result == NVRTC_SUCCESS && size ? "nvrtcGetPTX" : "nvrtcGetCUBIN");
    get_text *get;
    memcpy(&get, &symbol, sizeof get);
    return get ? get(program, text) : NVRTC_ERROR_INTERNAL_ERROR;
}
