// check.h: one line of output a call: what was called and what it answered.
#ifndef CHECK_H
#define CHECK_H
#include <cstdio>
#include <cuda_runtime.h>

// The call's error, then what is left in the thread as the last error.
#define SHOW(call)                                                                                 \
    do {                                                                                           \
        cudaError_t shown_ = (call);                                                               \
        int kept_ = cudaPeekAtLastError();                                                         \
        printf("%s: %s, kept %d\n", #call, cudaGetErrorName(shown_), kept_);                       \
        cudaGetLastError();                                                                        \
        fflush(stdout);                                                                            \
    } while (0)

// Where only success is expected: nothing is printed.
#define MUST(call)                                                                                 \
    do {                                                                                           \
        cudaError_t must_ = (call);                                                                \
        if (must_ != cudaSuccess)                                                                  \
            printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(must_));                 \
    } while (0)

#define LAUNCHED(launch)                                                                           \
    do {                                                                                           \
        launch;                                                                                    \
        printf("%s: %s\n", #launch, cudaGetErrorName(cudaGetLastError()));                         \
        fflush(stdout);                                                                            \
    } while (0)
#endif
