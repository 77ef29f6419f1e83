/*
 * tensor_wide.h: 16 rows by 8 columns of one warp's share of a warpgroup product, one fused sum for
 * each output; A stays for all of its columns. mma.sp uses it too.
 * Outputs are worked on in quads: 16 rows by the 4 even, or the 4 odd, of 8 columns. So the two
 * registers that hold a quad's accumulators are 64 floats in a row, [row][column], and a vector is
 * some rows of 4 columns.
 */
#ifndef LOCKSTEP_SIMT_TENSOR_WIDE_H
#define LOCKSTEP_SIMT_TENSOR_WIDE_H

#include "simt/tensor.h"

#define WIDE_MAX_K 64     /* sparse f8, with its zeros */
#define WIDE_QUADS 2      /* of 4 columns */
#define WIDE_MAX_IMAGES 4 /* pieces of 16 bytes of a row of A or a column of B */
#define WIDE_A_MIDDLE 187 /* exponent bytes of A: this minus the field of an f32; 255 for 0 */
#define WIDE_B_OFFSET                                                                              \
    60                   /* of B: the field plus this; 0 for 0. So the difference is the field of  \
                            the product's exponent, or 0 */
#define WIDE_SPECIAL 255 /* of B: infinite, NaN or too large for the bytes */

struct tensor_wide {
    struct tensor_model model; /* chunk: all of k */
    unsigned k;
    int a_lowest, b_lowest; /* exponent of subnormals */
    bool half;              /* accumulators are f16 */
    bool sparse;            /* only the products of stored are there: */
    uint64_t stored[16];    /* [row]: a bit for each k */
    bool a_special, tiny;   /* tiny: a product may be too small for the bytes, but not 0 */
    uint8_t a_most; /* the largest byte of a_exponents that is not 255: the smallest factor */
    bool b_special[WIDE_QUADS];
    _Alignas(64) float a[16][WIDE_MAX_K];                         /* [row][k] */
    _Alignas(64) float a4[WIDE_MAX_K][64];                        /* [k][row][4 times the same] */
    _Alignas(64) uint8_t a_exponents[WIDE_MAX_K][64];             /* [k][row][4 times the same] */
    _Alignas(64) float b[WIDE_QUADS][WIDE_MAX_K * 4];             /* [quad][k][column] */
    _Alignas(64) uint8_t b_exponents[WIDE_QUADS][WIDE_MAX_K * 4]; /* [quad][k][column] */
};

/* An image is 8 rows of A, or 8 columns of B, of 16 bytes each: what a register of a fragment
 * holds. */
typedef uint8_t tensor_image[128];

/* Turns the sign of all numbers of an image that are not f8. */
static inline void tensor_negate(uint8_t *image, enum ptx_type type)
{
    uint64_t mask = type == PTX_TF32 ? UINT64_C(0x8000000080000000) : UINT64_C(0x8000800080008000),
             x;
    for (unsigned i = 0; i < sizeof(tensor_image); i += 8) {
        memcpy(&x, image + i, 8);
        x ^= mask;
        memcpy(image + i, &x, 8);
    }
}

/* Sets up w: k products of type a by type b, with the model of wgmma or of mma.sync. */
void SIMT_NAME(tensor_wide_start)(struct tensor_wide *w, const struct tensor_model *model,
                                  enum ptx_type a_type, enum ptx_type b_type, bool half,
                                  unsigned k);
/* images: [piece][rows 0-7, rows 8-15]. */
void SIMT_NAME(tensor_wide_a)(struct tensor_wide *w, enum ptx_type type,
                              const tensor_image (*images)[2], unsigned pieces, bool negate);
/* 8 columns. images: [piece]. Changes images. */
void SIMT_NAME(tensor_wide_b)(struct tensor_wide *w, enum ptx_type type, tensor_image *images,
                              unsigned pieces, bool negate);
/* Slots of the accumulators, as tensor.h has them; c NULL: zeros. */
void SIMT_NAME(tensor_wide_add)(const struct tensor_wide *w, const uint8_t *const *c,
                                uint8_t *const *d);

/* exec_tensor_exact.c: one output, for any numbers. a, b: [k]. */
struct tensor_terms {
    const float *a, *b;
    unsigned k;
    int a_lowest, b_lowest;
    float c;
    bool c_half, d_half;
};
float SIMT_NAME(tensor_exact_sum)(const struct tensor_model *model,
                                  const struct tensor_terms *terms);

/* exec_tensor_wgmma.c */
simt_body *SIMT_NAME(tensor_select_wgmma)(const struct simt_operands *operands);
/* exec_tensor_sparse.c */
/* 16 rows of a sparse A, packed [piece][block], to their full length; stored: [row] a bit for each
 * number that was in packed. False after a fault. */
bool SIMT_NAME(tensor_spread)(struct simt_warp *w, const struct simt_inst *in, enum ptx_type type,
                              const tensor_image (*packed)[2], unsigned pieces,
                              const uint32_t *metadata, unsigned selector, tensor_image (*to)[2],
                              uint64_t stored[16]);
simt_body *SIMT_NAME(tensor_select_sparse)(const struct simt_operands *operands);

#endif
