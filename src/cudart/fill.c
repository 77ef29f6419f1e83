/*
 * fill.c: cudaMemset in one, two and three dimensions.
 */
#include "cudart/cudart.h"

#include <stdint.h>

static cudart_code fill(void *pointer, int value, size_t count, enum cudart_order order,
                        CUstream stream)
{
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)pointer;
    unsigned char byte = (unsigned char)value;
    if (count == 0)
        return 0;
    return order == CUDART_ASYNC  ? cuMemsetD8Async(address, byte, count, stream)
           : order == CUDART_WAIT ? cuMemsetD8_v2(address, byte, count)
                                  : cuMemsetD8_v2_ptds(address, byte, count);
}

static cudart_code fill_2d(void *pointer, size_t pitch, int value, size_t width, size_t height,
                           enum cudart_order order, CUstream stream)
{
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)pointer;
    unsigned char byte = (unsigned char)value;
    if (width == 0 || height == 0)
        return 0;
    if (height > 1 && pitch < width)
        return cudaErrorInvalidValue;
    return order == CUDART_ASYNC  ? cuMemsetD2D8Async(address, pitch, byte, width, height, stream)
           : order == CUDART_WAIT ? cuMemsetD2D8_v2(address, pitch, byte, width, height)
                                  : cuMemsetD2D8_v2_ptds(address, pitch, byte, width, height);
}

/* Slices lie ysize rows apart; only extent.height rows of each are filled. */
static cudart_code fill_3d(cudaPitchedPtr box, int value, cudaExtent extent,
                           enum cudart_order order, CUstream stream)
{
    cudart_code error = 0;
    if (extent.height == box.ysize)
        return fill_2d(box.ptr, box.pitch, value, extent.width, extent.height * extent.depth, order,
                       stream);
    for (size_t z = 0; z < extent.depth && !error; z++)
        error = fill_2d((char *)box.ptr + z * box.pitch * box.ysize, box.pitch, value, extent.width,
                        extent.height, order, stream);
    return error;
}

cudaError_t cudaMemset(void *devPtr, int value, size_t count)
{
    return CUDART_CALL(fill(devPtr, value, count, CUDART_WAIT, NULL));
}

cudaError_t cudaMemset_ptds(void *devPtr, int value, size_t count)
{
    return CUDART_CALL(fill(devPtr, value, count, CUDART_WAIT_PER_THREAD, NULL));
}

cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream)
{
    return CUDART_CALL(fill(devPtr, value, count, CUDART_ASYNC, stream));
}

cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    return CUDART_CALL(fill_2d(devPtr, pitch, value, width, height, CUDART_WAIT, NULL));
}

cudaError_t cudaMemset2D_ptds(void *devPtr, size_t pitch, int value, size_t width, size_t height)
{
    return CUDART_CALL(fill_2d(devPtr, pitch, value, width, height, CUDART_WAIT_PER_THREAD, NULL));
}

cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    return CUDART_CALL(fill_2d(devPtr, pitch, value, width, height, CUDART_ASYNC, stream));
}

cudaError_t cudaMemset3D(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent)
{
    return CUDART_CALL(fill_3d(pitchedDevPtr, value, extent, CUDART_WAIT, NULL));
}

cudaError_t cudaMemset3D_ptds(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent)
{
    return CUDART_CALL(fill_3d(pitchedDevPtr, value, extent, CUDART_WAIT_PER_THREAD, NULL));
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitchedDevPtr, int value, cudaExtent extent,
                              cudaStream_t stream)
{
    return CUDART_CALL(fill_3d(pitchedDevPtr, value, extent, CUDART_ASYNC, stream));
}
