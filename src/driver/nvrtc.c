/*
 * nvrtc.c: programs that compile at run time. NVRTC makes machine code when it is asked for a real
 * architecture (sm_90), and programs then load that. It has made the PTX too, so the calls that
 * return machine code return the PTX instead, which the machine can run. Only where libcuda.so.1 is
 * loaded before libnvrtc, which 'lockstep run' sees to.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { NVRTC_ERROR_INTERNAL_ERROR = 11 }; /* nvrtcResult */

typedef int get_size(void *program, size_t *size);
typedef int get_text(void *program, char *text);

EXPORT get_size nvrtcGetCUBINSize;
EXPORT get_text nvrtcGetCUBIN;

int nvrtcGetCUBINSize(void *program, size_t *size)
{
    void *symbol = dlsym(RTLD_NEXT, "nvrtcGetPTXSize");
    get_size *get;
    memcpy(&get, &symbol, sizeof get);
    return get ? get(program, size) : NVRTC_ERROR_INTERNAL_ERROR;
}

int nvrtcGetCUBIN(void *program, char *text)
{
    void *symbol = dlsym(RTLD_NEXT, "nvrtcGetPTX");
    get_text *get;
    memcpy(&get, &symbol, sizeof get);
    return get ? get(program, text) : NVRTC_ERROR_INTERNAL_ERROR;
}
