/*
 * unsupported.c: the rest of the runtime API, so that every program links and starts: each prints
 * on stderr that it is not supported and returns cudaErrorNotSupported, or ends the program, as an
 * unsupported instruction does.
 */
#include "cudart/cudart.h"

#define NO(name)                                                                                   \
    cudaError_t name(void)                                                                         \
    {                                                                                              \
        return cudart_unsupported(#name);                                                          \
    }
#define STOP(name)                                                                                 \
    cudaError_t name(void)                                                                         \
    {                                                                                              \
        cudart_stop(#name);                                                                        \
    }
#include "cudart/unsupported.def"

/* A channel format is only a description, so this one works. */
cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int f)
{
    return (cudaChannelFormatDesc){x, y, z, w, f};
}
