/*
 * texture_abi.h: the runtime API's types of CUDA arrays, textures and surfaces, under CUDA's names.
 * The formats of channels differ from the driver's; all else is the same in other words.
 */
#ifndef LOCKSTEP_CUDART_TEXTURE_ABI_H
#define LOCKSTEP_CUDART_TEXTURE_ABI_H

#include "cudart/cudart.h"

typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef const struct cudaMipmappedArray *cudaMipmappedArray_const_t;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

typedef enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned,
    cudaChannelFormatKindUnsigned,
    cudaChannelFormatKindFloat,
    cudaChannelFormatKindNone,
    cudaChannelFormatKindNV12,
    cudaChannelFormatKindUnsignedNormalized8X1,   /* then 8X2, 8X4, 16X1, 16X2, 16X4, */
    cudaChannelFormatKindSignedNormalized8X1 = 11 /* and these */
} cudaChannelFormatKind;

typedef struct cudaResourceDesc {
    CUresourcetype resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            cudaMipmappedArray_t mipmap;
        } mipmap;
        struct {
            void *devPtr;
            cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
} cudaResourceDesc; /* CUDA 13 has reserved fields behind it, which are zero */

typedef struct cudaTextureDesc {
    CUaddress_mode addressMode[3];
    CUfilter_mode filterMode;
    int readMode; /* 1: normalised float */
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    CUfilter_mode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
} cudaTextureDesc;

typedef struct cudaResourceViewDesc {
    CUresourceViewFormat format;
    size_t width, height, depth;
    unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
} cudaResourceViewDesc;

/* false: no such format. */
bool cudart_channel_format(const cudaChannelFormatDesc *desc, CUarray_format *format,
                           unsigned *channels);
cudaChannelFormatDesc cudart_channel_desc(CUarray_format format, unsigned channels);
/* Bytes of an element of the array; 0 if it is none. */
size_t cudart_array_element(cudaArray_const_t array);

#endif
