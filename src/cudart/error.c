/*
 * error.c: error codes: names, texts, the last error of each thread, and what is not supported.
 * As in the real runtime a call's error stays until cudaGetLastError takes it; the error of a
 * broken context (an illegal address, say) is the driver's to remember: it returns that error from
 * every later call.
 */
#include "base/map.h"
#include "cudart/cudart.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    cudart_code value;
    const char *name, *text;
} errors[] = {
#define ERROR(name, value, text) {value, #name, text},
#include "cuda/runtime_errors.def"
};

static _Thread_local cudaError_t last_error;
static atomic_uint not_run; /* launches since the program last looked at an error */

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

static void end_honestly(int status, void *unused)
{
    (void)unused;
    unsigned count = not_run;
    if (status || !count)
        return;
    fprintf(stderr,
            "lockstep: %u launch%s did not run for want of PTX, and the program did not look at "
            "the error\n",
            count, count == 1 ? "" : "es");
    exit(3); /* glibc goes on with the handlers that are left */
}

static void watch_end(void)
{
    on_exit(end_honestly, NULL);
}

void cudart_not_run(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_end);
    not_run++;
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
    not_run = 0;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    not_run = 0;
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
