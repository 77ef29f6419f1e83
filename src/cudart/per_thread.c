/*
 * per_thread.c: the _ptsz functions: the same calls, where stream 0 is the thread's own default
 * stream. Those that wait (_ptds) lie beside the functions they vary.
 */
#include "cudart/cudart.h"

#define STREAM(name, parameters, arguments)                                                        \
    cudaError_t name##_ptsz parameters                                                             \
    {                                                                                              \
        stream = cudart_per_thread(stream);                                                        \
        return name arguments;                                                                     \
    }
#include "cudart/per_thread.def"

cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src);

cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t dst, cudaStream_t src)
{
    return cudaStreamCopyAttributes(cudart_per_thread(dst), cudart_per_thread(src));
}
