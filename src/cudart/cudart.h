/*
 * cudart.h: what the files of this folder share. The runtime is a thin layer over the driver API
 * (cuda/api.def), which it calls by its exported symbols; it adds errors per thread, the device per
 * thread, and the registry that maps a program's host addresses to kernels and variables.
 */
#ifndef LOCKSTEP_CUDART_CUDART_H
#define LOCKSTEP_CUDART_CUDART_H

#include "cudart/cudart_abi.h"

#include <stdbool.h>

/* The driver's functions, as the drop-in libcuda.so.1 exports them. */
#define FN(result, name, parameters, arguments) result name parameters;
#define FN_PTSZ(result, name, parameters, arguments)                                               \
    result name parameters;                                                                        \
    result name##_ptsz parameters;
#define FN_PTDS(result, name, parameters, arguments)                                               \
    result name parameters;                                                                        \
    result name##_ptds parameters;
#include "cuda/api.def"

#pragma GCC visibility push(hidden)

/* Errors (error.c) ------------------------------------------------------------------------------
 */

/* A CUresult or a cudaError_t: their values agree wherever both exist. */
typedef unsigned cudart_code;

/* Ends an API call: turns the code into a cudaError_t and keeps it for cudaGetLastError. */
cudaError_t cudart_finish(cudart_code code);
/* Prints once per function, on stderr, that it is not supported; returns cudaErrorNotSupported. */
cudaError_t cudart_unsupported(const char *function);
/* A kernel without PTX was launched. A program that never looks at the error and ends as if all
 * were well gets status 3: its results are wrong. */
void cudart_not_run(void);
/* As cudart_unsupported, but ends the program with status 3. */
_Noreturn void cudart_stop(const char *function);

/* A whole API call: make the device's context current, then do what expression does. */
#define CUDART_CALL(expression) cudart_finish(cudart_enter() ?: (cudart_code)(expression))

/* Devices (context.c) -------------------------------------------------------------------------- */

cudart_code cudart_initialize(void); /* cuInit, once */
cudart_code cudart_enter(void);      /* also makes this thread's context current */
int cudart_device(void);             /* this thread's device */
cudart_code cudart_device_count(int *count);
cudart_code cudart_primary_context(int device, CUcontext *context);
CUcontext cudart_current_context(void); /* after cudart_enter */

/* Registry (registry.c) ------------------------------------------------------------------------ */

struct cudart_fatbin;

struct cudart_kernel {
    const void *host; /* the address that <<<>>> launches by */
    const char *name;
    struct cudart_fatbin *fatbin;
    CUkernel handle;     /* NULL until it is first needed */
    CUfunction function; /* of the context that used it last */
    struct cudart_kernel *next;
};

struct cudart_variable {
    const void *host; /* the shadow variable; of a managed one: the pointer to it */
    const char *name;
    size_t size;
    bool managed;
    struct cudart_fatbin *fatbin;
    struct cudart_variable *next;
};

void cudart_registry_forked(void); /* in a child: its lock is held by nobody */
struct cudart_fatbin *cudart_add_fatbin(const struct cudart_fatbin_wrapper *wrapper);
void cudart_remove_fatbin(struct cudart_fatbin *fatbin);
void cudart_add_kernel(struct cudart_fatbin *fatbin, const void *host, const char *name);
void cudart_add_variable(struct cudart_fatbin *fatbin, const void *host, const char *name,
                         size_t size, bool managed);
cudart_code cudart_load(struct cudart_fatbin *fatbin);

/* The registered kernel at a host address; NULL if there is none. */
struct cudart_kernel *cudart_find_kernel(const void *host);
/* function: a host address, or a CUkernel or CUfunction, which the runtime takes as well. */
cudart_code cudart_resolve(const void *function, CUfunction *found);
cudart_code cudart_resolve_kernel(const void *function, CUkernel *found);
/* The host address of a kernel that cudart_resolve gave; NULL if it came from elsewhere. */
const void *cudart_host_of(CUkernel kernel, CUfunction function);
cudart_code cudart_symbol(const void *symbol, CUdeviceptr *address, size_t *size);

/* launch.c */
CUlaunchConfig cudart_launch_config(const cudaLaunchConfig_t *config);

/* Copies (copy.c, copy_shape.c) ---------------------------------------------------------------- */

/* How a call relates to its stream: the legacy default stream or the thread's own, and wait; or
 * enqueue and return. */
enum cudart_order { CUDART_WAIT, CUDART_WAIT_PER_THREAD, CUDART_ASYNC };

/* Checks the sides that kind says are device memory, and corrects kind where a side that it calls
 * host memory is in fact device memory, as the real runtime does. */
cudart_code cudart_check_kind(const void *target, const void *source, cudaMemcpyKind *kind);
cudart_code cudart_copy_3d_params(const cudaMemcpy3DParms *params, CUDA_MEMCPY3D *copy);
void cudart_copy_3d_params_back(const CUDA_MEMCPY3D *copy, cudaMemcpy3DParms *params);

/* Stream 0 as the _ptsz functions mean it. */
static inline cudaStream_t cudart_per_thread(cudaStream_t stream)
{
    return stream ? stream : CU_STREAM_PER_THREAD;
}

#pragma GCC visibility pop

const char *cudaGetErrorString(cudaError_t error);

/* Functions with a stream parameter, which also exist for the thread's own default stream. */
#define STREAM(name, parameters, arguments) cudaError_t name parameters;
#include "cudart/per_thread.def"

#endif
