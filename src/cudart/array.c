/*
 * array.c: CUDA arrays and mipmapped arrays, and the copies that name one. The other copies of
 * boxes (copy_shape.c) take arrays too.
 */
#include "cudart/texture_abi.h"

#include <stdint.h>

static CUarray driver_array(cudaArray_const_t array)
{
    return (CUarray)(uintptr_t)array;
}

static CUmipmappedArray driver_mipmap(cudaMipmappedArray_const_t mipmap)
{
    return (CUmipmappedArray)(uintptr_t)mipmap;
}

/* Formats ----------------------------------------------------------------------------------------
 */

static bool plain_format(cudaChannelFormatKind kind, int bits, CUarray_format *format)
{
    static const CUarray_format integers[2][3] = {
        {CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32},
        {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32}};
    int size = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : -1;
    if (size < 0 || kind > cudaChannelFormatKindFloat)
        return false;
    if (kind == cudaChannelFormatKindFloat)
        *format = size == 1 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    else
        *format = integers[kind][size];
    return kind != cudaChannelFormatKindFloat || size > 0;
}

bool cudart_channel_format(const cudaChannelFormatDesc *desc, CUarray_format *format,
                           unsigned *channels)
{
    const int bits[4] = {desc->x, desc->y, desc->z, desc->w};
    *channels = 0;
    while (*channels < 4 && bits[*channels])
        ++*channels;
    for (unsigned k = 1; k < 4; k++)
        if (bits[k] != (k < *channels ? bits[0] : 0))
            return false;
    if (!*channels || *channels == 3)
        return false;
    if ((unsigned)desc->f >= cudaChannelFormatKindUnsignedNormalized8X1 &&
        (unsigned)desc->f < cudaChannelFormatKindSignedNormalized8X1 + 6) {
        *format = (CUarray_format)(CU_AD_FORMAT_UNORM_INT8X1 + (unsigned)desc->f -
                                   cudaChannelFormatKindUnsignedNormalized8X1);
        return true;
    }
    return plain_format((cudaChannelFormatKind)desc->f, bits[0], format);
}

cudaChannelFormatDesc cudart_channel_desc(CUarray_format format, unsigned channels)
{
    cudaChannelFormatKind kind = cudaChannelFormatKindFloat;
    int bits = format == CU_AD_FORMAT_HALF ? 16 : 32;
    if (format >= CU_AD_FORMAT_UNORM_INT8X1) {
        unsigned index = format - CU_AD_FORMAT_UNORM_INT8X1;
        kind = (cudaChannelFormatKind)(cudaChannelFormatKindUnsignedNormalized8X1 + index);
        bits = index % 6 < 3 ? 8 : 16;
    } else if (format >= CU_AD_FORMAT_SIGNED_INT8 && format <= CU_AD_FORMAT_SIGNED_INT32) {
        kind = cudaChannelFormatKindSigned;
        bits = 8 << (format - CU_AD_FORMAT_SIGNED_INT8);
    } else if (format <= CU_AD_FORMAT_UNSIGNED_INT32) {
        kind = cudaChannelFormatKindUnsigned;
        bits = 8 << (format - CU_AD_FORMAT_UNSIGNED_INT8);
    }
    return (cudaChannelFormatDesc){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                   channels > 3 ? bits : 0, (int)kind};
}

size_t cudart_array_element(cudaArray_const_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (cuArray3DGetDescriptor_v2(&d, driver_array(array)))
        return 0;
    cudaChannelFormatDesc desc = cudart_channel_desc(d.Format, d.NumChannels);
    return (size_t)desc.x / 8 * d.NumChannels;
}

/* Making and asking ------------------------------------------------------------------------------
 */

static cudart_code describe(const cudaChannelFormatDesc *desc, cudaExtent extent, unsigned flags,
                            CUDA_ARRAY3D_DESCRIPTOR *d)
{
    CUarray_format format;
    unsigned channels;
    if (!desc)
        return cudaErrorInvalidValue;
    if (!cudart_channel_format(desc, &format, &channels))
        return cudaErrorInvalidChannelDescriptor;
    *d = (CUDA_ARRAY3D_DESCRIPTOR){extent.width, extent.height, extent.depth,
                                   format,       channels,      flags};
    return 0;
}

static cudart_code make_array(cudaArray_t *array, const cudaChannelFormatDesc *desc,
                              cudaExtent extent, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudart_code error =
        array ? describe(desc, extent, flags, &d) : (cudart_code)cudaErrorInvalidValue;
    return error ?: (cudart_code)cuArray3DCreate_v2((CUarray *)(void *)array, &d);
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *desc,
                              cudaExtent extent, unsigned flags)
{
    return CUDART_CALL(make_array(array, desc, extent, flags));
}

cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *desc, size_t width,
                            size_t height, unsigned flags)
{
    return CUDART_CALL(make_array(array, desc, (cudaExtent){width, height, 0}, flags));
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    return CUDART_CALL(array ? cuArrayDestroy(driver_array(array)) : 0);
}

static cudart_code make_mipmap(cudaMipmappedArray_t *mipmap, const cudaChannelFormatDesc *desc,
                               cudaExtent extent, unsigned levels, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudart_code error =
        mipmap ? describe(desc, extent, flags, &d) : (cudart_code)cudaErrorInvalidValue;
    return error
               ?: (cudart_code)cuMipmappedArrayCreate((CUmipmappedArray *)(void *)mipmap, &d,
                                                      levels);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmap,
                                     const cudaChannelFormatDesc *desc, cudaExtent extent,
                                     unsigned levels, unsigned flags)
{
    return CUDART_CALL(make_mipmap(mipmap, desc, extent, levels, flags));
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *array, cudaMipmappedArray_const_t mipmap,
                                       unsigned level)
{
    return CUDART_CALL(
        cuMipmappedArrayGetLevel((CUarray *)(void *)array, driver_mipmap(mipmap), level));
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap)
{
    return CUDART_CALL(mipmap ? cuMipmappedArrayDestroy(driver_mipmap(mipmap)) : 0);
}

static cudart_code array_info(cudaChannelFormatDesc *desc, cudaExtent *extent, unsigned *flags,
                              cudaArray_const_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudart_code error = cuArray3DGetDescriptor_v2(&d, driver_array(array));
    if (error)
        return error;
    if (desc)
        *desc = cudart_channel_desc(d.Format, d.NumChannels);
    if (extent)
        *extent = (cudaExtent){d.Width, d.Height, d.Depth};
    if (flags)
        *flags = d.Flags;
    return 0;
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *desc, cudaExtent *extent, unsigned *flags,
                             cudaArray_t array)
{
    return CUDART_CALL(array_info(desc, extent, flags, array));
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    if (!desc)
        return cudart_finish(cudaErrorInvalidValue);
    return CUDART_CALL(array_info(desc, NULL, NULL, array));
}

static cudart_code linear_width(size_t *width, const cudaChannelFormatDesc *desc, int device)
{
    CUarray_format format;
    unsigned channels;
    if (!width || !desc || !cudart_channel_format(desc, &format, &channels))
        return cudaErrorInvalidValue;
    return cuDeviceGetTexture1DLinearMaxWidth(width, format, channels, device);
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const cudaChannelFormatDesc *desc,
                                                 int device)
{
    return CUDART_CALL(linear_width(width, desc, device));
}

/* Copies -----------------------------------------------------------------------------------------
 */

/* A rectangle of an array and rows of bytes: width and wOffset in bytes. */
static cudart_code copy_rows(CUDA_MEMCPY3D *copy, const void *bytes, size_t pitch, size_t width,
                             size_t height, cudaMemcpyKind kind, bool to_array,
                             enum cudart_order order, cudaStream_t stream)
{
    cudaMemcpyKind host = to_array ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    if (kind != host && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (!width || !height)
        return 0;
    if (height > 1 && width > pitch)
        return cudaErrorInvalidPitchValue;
    CUmemorytype type = kind == host                ? CU_MEMORYTYPE_HOST
                        : kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
                                                    : CU_MEMORYTYPE_DEVICE;
    if (to_array) {
        copy->srcMemoryType = type;
        copy->srcHost = bytes;
        copy->srcDevice = (CUdeviceptr)(uintptr_t)bytes;
        copy->srcPitch = pitch;
    } else {
        copy->dstMemoryType = type;
        copy->dstHost = (void *)(uintptr_t)bytes;
        copy->dstDevice = (CUdeviceptr)(uintptr_t)bytes;
        copy->dstPitch = pitch;
    }
    copy->WidthInBytes = width;
    copy->Height = height;
    copy->Depth = 1;
    return order == CUDART_ASYNC  ? cuMemcpy3DAsync_v2(copy, stream)
           : order == CUDART_WAIT ? cuMemcpy3D_v2(copy)
                                  : cuMemcpy3D_v2_ptds(copy);
}

static cudart_code to_array(cudaArray_t array, size_t x, size_t y, const void *bytes, size_t pitch,
                            size_t width, size_t height, cudaMemcpyKind kind,
                            enum cudart_order order, cudaStream_t stream)
{
    CUDA_MEMCPY3D copy = {.dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = driver_array(array),
                          .dstXInBytes = x,
                          .dstY = y};
    return copy_rows(&copy, bytes, pitch, width, height, kind, true, order, stream);
}

static cudart_code from_array(void *bytes, size_t pitch, cudaArray_const_t array, size_t x,
                              size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                              enum cudart_order order, cudaStream_t stream)
{
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = driver_array(array),
                          .srcXInBytes = x,
                          .srcY = y};
    return copy_rows(&copy, bytes, pitch, width, height, kind, false, order, stream);
}

static cudart_code between_arrays(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                  size_t from_x, size_t from_y, size_t width, size_t height)
{
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = driver_array(from),
                          .srcXInBytes = from_x,
                          .srcY = from_y,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = driver_array(to),
                          .dstXInBytes = to_x,
                          .dstY = to_y,
                          .WidthInBytes = width,
                          .Height = height,
                          .Depth = 1};
    return width && height ? (cudart_code)cuMemcpy3D_v2(&copy) : 0;
}

/* Runs of bytes may go over several rows: whole rows at once, and the ends by themselves. */
static cudart_code run_of_bytes(cudaArray_const_t array, size_t x, size_t y, char *bytes,
                                size_t count, cudaMemcpyKind kind, bool into,
                                enum cudart_order order, cudaStream_t stream)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudart_code error = cuArray3DGetDescriptor_v2(&d, driver_array(array));
    size_t row = error ? 0 : d.Width * cudart_array_element(array);
    while (!error && count) {
        size_t rows = x == 0 && count >= row ? count / row : 1;
        size_t width = rows > 1 || x + count >= row ? row - x : count;
        if (x >= row)
            return cudaErrorInvalidValue;
        error = into ? to_array((cudaArray_t)(uintptr_t)array, x, y, bytes, width, width, rows,
                                kind, order, stream)
                     : from_array(bytes, width, array, x, y, width, rows, kind, order, stream);
        bytes += width * rows;
        count -= width * rows;
        y += rows;
        x = 0;
    }
    return error;
}

/* Every form three times: it waits; the same in the thread's own default stream; in a stream. */
#define COPIES(name, parameters, call)                                                             \
    cudaError_t name parameters                                                                    \
    {                                                                                              \
        enum cudart_order order = CUDART_WAIT;                                                     \
        cudaStream_t stream = NULL;                                                                \
        return CUDART_CALL(call);                                                                  \
    }                                                                                              \
    cudaError_t name##_ptds parameters                                                             \
    {                                                                                              \
        enum cudart_order order = CUDART_WAIT_PER_THREAD;                                          \
        cudaStream_t stream = NULL;                                                                \
        return CUDART_CALL(call);                                                                  \
    }
#define PLAIN(...) (__VA_ARGS__)
#define STREAMED(...) (__VA_ARGS__, cudaStream_t stream)
#define IN_STREAM(name, parameters, call)                                                          \
    cudaError_t name parameters                                                                    \
    {                                                                                              \
        enum cudart_order order = CUDART_ASYNC;                                                    \
        return CUDART_CALL(call);                                                                  \
    }

#define TO_2D                                                                                      \
    cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch, size_t width, \
        size_t height, cudaMemcpyKind kind
#define TO_2D_CALL to_array(dst, wOffset, hOffset, src, spitch, width, height, kind, order, stream)
COPIES(cudaMemcpy2DToArray, PLAIN(TO_2D), TO_2D_CALL)
IN_STREAM(cudaMemcpy2DToArrayAsync, STREAMED(TO_2D), TO_2D_CALL)

#define FROM_2D                                                                                    \
    void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t width, \
        size_t height, cudaMemcpyKind kind
#define FROM_2D_CALL                                                                               \
    from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind, order, stream)
COPIES(cudaMemcpy2DFromArray, PLAIN(FROM_2D), FROM_2D_CALL)
IN_STREAM(cudaMemcpy2DFromArrayAsync, STREAMED(FROM_2D), FROM_2D_CALL)

#define TO_RUN                                                                                     \
    cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,                \
        cudaMemcpyKind kind
#define TO_RUN_CALL                                                                                \
    run_of_bytes(dst, wOffset, hOffset, (char *)(uintptr_t)src, count, kind, true, order, stream)
COPIES(cudaMemcpyToArray, PLAIN(TO_RUN), TO_RUN_CALL)
IN_STREAM(cudaMemcpyToArrayAsync, STREAMED(TO_RUN), TO_RUN_CALL)

#define FROM_RUN                                                                                   \
    void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,                \
        cudaMemcpyKind kind
#define FROM_RUN_CALL run_of_bytes(src, wOffset, hOffset, dst, count, kind, false, order, stream)
COPIES(cudaMemcpyFromArray, PLAIN(FROM_RUN), FROM_RUN_CALL)
IN_STREAM(cudaMemcpyFromArrayAsync, STREAMED(FROM_RUN), FROM_RUN_CALL)

#define BETWEEN_2D                                                                                 \
    cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,                  \
        size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height, cudaMemcpyKind kind
#define BETWEEN_2D_CALL                                                                            \
    ((void)order, (void)stream, (void)kind,                                                        \
     between_arrays(dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, width, height))
COPIES(cudaMemcpy2DArrayToArray, PLAIN(BETWEEN_2D), BETWEEN_2D_CALL)

#define BETWEEN_RUN                                                                                \
    cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,                  \
        size_t wOffsetSrc, size_t hOffsetSrc, size_t count, cudaMemcpyKind kind
#define BETWEEN_RUN_CALL                                                                           \
    ((void)order, (void)stream, (void)kind,                                                        \
     between_arrays(dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, count, 1))
COPIES(cudaMemcpyArrayToArray, PLAIN(BETWEEN_RUN), BETWEEN_RUN_CALL)
