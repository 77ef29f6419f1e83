/*
 * tensormap.h: what the 128 bytes of a tensor map hold, in a layout of our own.
 * The driver writes them (cuTensorMapEncode..), tensormap.replace changes them and bulk copies read
 * them (tma.h). A map is plain bytes that a program may copy anywhere; the magic number tells a map
 * from other memory.
 */
#ifndef LOCKSTEP_SIMT_TENSORMAP_H
#define LOCKSTEP_SIMT_TENSORMAP_H

#include <stdint.h>

#define TENSORMAP_MAGIC UINT32_C(0x70616d74) /* "tmap" */
enum { TENSORMAP_RANKS = 5, TENSORMAP_BYTES = 128, TENSORMAP_ALIGN = 64 };

/* Numbered as CUtensorMapDataType. */
enum tensormap_type {
    TENSORMAP_U8,
    TENSORMAP_U16,
    TENSORMAP_U32,
    TENSORMAP_S32,
    TENSORMAP_U64,
    TENSORMAP_S64,
    TENSORMAP_F16,
    TENSORMAP_F32,
    TENSORMAP_F64,
    TENSORMAP_BF16,
    TENSORMAP_F32_FTZ,
    TENSORMAP_TF32,
    TENSORMAP_TF32_FTZ,
    TENSORMAP_TYPES /* those after it are of newer GPUs */
};

/* Numbered as CUtensorMapInterleave and CUtensorMapSwizzle. */
enum { TENSORMAP_INTERLEAVE_NONE, TENSORMAP_INTERLEAVE_16, TENSORMAP_INTERLEAVE_32 };
enum { TENSORMAP_SWIZZLE_NONE, TENSORMAP_SWIZZLE_32, TENSORMAP_SWIZZLE_64, TENSORMAP_SWIZZLE_128 };

struct tensormap {
    uint32_t magic;
    uint8_t type, rank, interleave, swizzle;
    uint8_t fills_nan; /* else zeros */
    uint8_t promotion; /* of L2 fetches; not modelled */
    uint8_t is_im2col;
    uint8_t unused[5];
    uint64_t address;
    uint64_t strides[TENSORMAP_RANKS - 1]; /* in bytes, of dimension 1 and up */
    uint32_t dims[TENSORMAP_RANKS];        /* less one: 2^32 elements are allowed */
    uint16_t box[TENSORMAP_RANKS];         /* im2col: channels, pixels */
    uint8_t steps[TENSORMAP_RANKS];        /* between the elements that are copied */
    uint8_t unused2;
    int16_t lower[3], upper[3]; /* im2col: corners of the bounding box, W first */
    uint8_t unused3[24];
};
_Static_assert(sizeof(struct tensormap) == TENSORMAP_BYTES, "a tensor map has 128 bytes");

static inline uint32_t tensormap_element(unsigned type)
{
    static const uint8_t bytes[TENSORMAP_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return type < TENSORMAP_TYPES ? bytes[type] : 0;
}

/* Bytes that a row of the box takes in shared memory at most; 0: any number. */
static inline uint32_t tensormap_span(unsigned swizzle)
{
    return swizzle ? UINT32_C(16) << swizzle : 0;
}

#endif
