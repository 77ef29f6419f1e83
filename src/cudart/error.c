/*
 * error.c: error codes: names, texts, the last error of each thread, and what is not supported.
 * As in the real runtime a call's error stays until cudaGetLastError takes it; the error of a
 * broken context (an illegal address, say) is the driver's to remember: it returns that error from
 * every later call.
 */
#include "base/map.h"
#include "cudart/cudart.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    cudart_code value;
    const char *name, *text;
} errors[] = {
#define ERROR(name, value, text) {value, #name, text},
#include "cudart/errors.def"
};

static _Thread_local cudaError_t last_error;

static int find_error(cudart_code value)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].value == value)
            return (int)i;
    return -1;
}

cudaError_t cudart_finish(cudart_code code)
{
    if (code == 0)
        return cudaSuccess;
    cudaError_t error = find_error(code) >= 0 ? (cudaError_t)code : cudaErrorUnknown;
    if (error != cudaErrorNotReady) /* an answer, not a failure */
        last_error = error;
    return error;
}

cudaError_t cudart_unsupported(const char *function)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct lk_map told;
    pthread_mutex_lock(&lock);
    if (!lk_map_get(&told, function, strlen(function))) {
        lk_map_put(&told, function, strlen(function), &told);
        fprintf(stderr, "lockstep: %s is not supported on the simulated GPU\n", function);
    }
    pthread_mutex_unlock(&lock);
    return cudart_finish(cudaErrorNotSupported);
}

_Noreturn void cudart_stop(const char *function)
{
    cudart_unsupported(function);
    fflush(NULL);
    _exit(3);
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

const char *cudaGetErrorName(cudaError_t error)
{
    int index = find_error(error);
    return index < 0 ? "unrecognized error code" : errors[index].name;
}

const char *cudaGetErrorString(cudaError_t error)
{
    int index = find_error(error);
    return index < 0 ? "unrecognized error code" : errors[index].text;
}
