/*
 * lockstep_numbers.h: the calls for numbers in 4 and 8 bits: arrays, what makes them lose less
 * (calibration, rotation), products with such weights. lockstep.h includes it.
 */
#ifndef LOCKSTEP_NUMBERS_H
#define LOCKSTEP_NUMBERS_H

#include "lockstep.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Arrays in 4 and 8 bits ------------------------------------------------------------------------
 * q = x / scale in the format, to nearest even or by chance; what is too large becomes the largest
 * number of its sign, NaN stays NaN (in integers 0, in FP4 the largest number). The scale makes the
 * largest finite number of its group the format's largest. Back: y = q scale. x and y are
 * [rows][cols]; q is [rows][cols] bytes, or [rows][(cols + 1) / 2] with two numbers in a byte, the
 * first one low.
 *
 *     lk_quantise_desc desc = LK_QUANTISE_DESC(LK_BF16, LK_FORMAT_E4M3, LK_PER_ROW, tokens, 4096);
 *     lk_quantise(stream, &desc, x, q, scales, NULL, NULL, 0);
 *
 * FP8, INT8 and INT4 have scales of type float: 1, [rows], [cols], or [rows][blocks]. MXFP8 and
 * MXFP4 have a byte (E8M0, a power of two) for 32 numbers of a row, as the OCP document has it;
 * NVFP4 has a byte (E4M3) for 16, and tensor_scale, one float for all. */
typedef enum lk_number_format {
    LK_FORMAT_E4M3,
    LK_FORMAT_E5M2,
    LK_FORMAT_INT8,
    LK_FORMAT_INT4,
    LK_FORMAT_MXFP8, /* E4M3 */
    LK_FORMAT_MXFP8_E5M2,
    LK_FORMAT_MXFP4,
    LK_FORMAT_NVFP4
} lk_number_format;
typedef enum lk_sharing {
    LK_PER_TENSOR,
    LK_PER_ROW,
    LK_PER_CHANNEL, /* a column */
    LK_PER_32,      /* numbers of a row */
    LK_PER_128
} lk_sharing;
typedef struct lk_quantise_desc {
    lk_type type; /* of x and y: LK_BF16, LK_F16 or LK_F32 */
    lk_number_format format;
    lk_sharing sharing; /* of a scale; MXFP8, MXFP4 and NVFP4 have their own */
    int64_t rows, cols;
    int given;      /* scales (of NVFP4: tensor_scale) is an input; not with MXFP8 and MXFP4 */
    int stochastic; /* rounds up or down by chance, so that the mean is right */
    uint32_t seed;  /* of that chance: the same seed gives the same bits */
} lk_quantise_desc;
#define LK_QUANTISE_DESC(type_, format_, sharing_, rows_, cols_)                                   \
    {                                                                                              \
        .type = (type_), .format = (format_), .sharing = (sharing_), .rows = (rows_),              \
        .cols = (cols_)                                                                            \
    }

/* tensor_scale: of NVFP4 alone, else NULL. */
lk_status lk_quantise(void *stream, const lk_quantise_desc *desc, const void *x, void *q,
                      void *scales, float *tensor_scale, void *workspace, size_t workspace_bytes);
lk_status lk_quantise_workspace(const lk_quantise_desc *desc, size_t *bytes);
/* Of desc, given, stochastic and seed do not matter. No workspace is needed. */
lk_status lk_dequantise(void *stream, const lk_quantise_desc *desc, const void *q,
                        const void *scales, const float *tensor_scale, void *y);
lk_status lk_quantise_explain(const lk_quantise_desc *desc, int dequantise, char *text,
                              size_t size);

/* Scales that lose less ---------------------------------------------------------------------------
 * lk_quantise takes the largest number of a group for its scale, so that one outlier makes all
 * steps coarse. lk_calibrate finds other scales for it to be given (desc.given):
 *
 *     lk_calibrate_desc desc =
 *         LK_CALIBRATE_DESC(LK_BF16, LK_FORMAT_INT8, LK_PER_ROW, LK_CALIBRATE_MSE, rows, cols);
 *     lk_calibrate(stream, &desc, x, scales, workspace, bytes);
 *
 * Infinities and NaN do not take part. The same bits in every run. */
typedef enum lk_calibration {
    LK_CALIBRATE_ABSMAX,     /* the largest number becomes the format's largest */
    LK_CALIBRATE_PERCENTILE, /* `percent` % of the numbers are not cut off, exactly counted */
    LK_CALIBRATE_MSE /* 1, 79/80 .. 17/80 of the largest: what makes the squared error least */
} lk_calibration;
typedef struct lk_calibrate_desc {
    lk_type type;            /* of x: LK_BF16, LK_F16 or LK_F32 */
    lk_number_format format; /* LK_FORMAT_E4M3, LK_FORMAT_E5M2, LK_FORMAT_INT8, LK_FORMAT_INT4 */
    lk_sharing sharing;      /* LK_PER_TENSOR, LK_PER_ROW or LK_PER_128 */
    lk_calibration method;
    int64_t rows, cols;
    float percent; /* above 0, at most 100 */
} lk_calibrate_desc;
#define LK_CALIBRATE_DESC(type_, format_, sharing_, method_, rows_, cols_)                         \
    {                                                                                              \
        .type = (type_), .format = (format_), .sharing = (sharing_), .method = (method_),          \
        .rows = (rows_), .cols = (cols_), .percent = 99.9f                                         \
    }

/* scales: 1, [rows], or [rows][(cols + 127) / 128]. */
lk_status lk_calibrate(void *stream, const lk_calibrate_desc *desc, const void *x, float *scales,
                       void *workspace, size_t workspace_bytes);
lk_status lk_calibrate_workspace(const lk_calibrate_desc *desc, size_t *bytes);
lk_status lk_calibrate_explain(const lk_calibrate_desc *desc, char *text, size_t size);

/* Channel scales as in AWQ: weights [rows][cols] (out x in) whose inputs are large are stored with
 * finer steps. means has the mean size of each input, [cols]; scales[j] = (means[j] / m)^e, where m
 * is the geometric mean of the largest and the smallest, and e of 0, 0.05 .. 0.95 makes the squared
 * error of w[i][j] means[j] least, with w scales quantised as desc says. (A larger e must be better
 * by a thousandth.) Multiply the columns of w by scales, and divide its inputs by them. Of desc,
 * method and percent are not used. */
lk_status lk_awq_scales(void *stream, const lk_calibrate_desc *desc, const void *w,
                        const float *means, float *scales, void *workspace, size_t workspace_bytes);
lk_status lk_awq_scales_workspace(const lk_calibrate_desc *desc, size_t *bytes);

/* Each block of `block` neighbours of a row is multiplied by the Walsh-Hadamard matrix over its
 * root: a rotation that spreads an outlier over its block. It is its own inverse, and cancels in a
 * product whose two factors have it along k. Sums are in f32. y may be x. No workspace is needed.
 */
typedef struct lk_hadamard_desc {
    lk_type type; /* LK_BF16, LK_F16 or LK_F32 */
    int64_t rows, cols;
    int64_t block; /* a power of two from 2 to 32768 that cols is a multiple of; fast to 16384 */
} lk_hadamard_desc;
#define LK_HADAMARD_DESC(type_, rows_, cols_, block_)                                              \
    {                                                                                              \
        .type = (type_), .rows = (rows_), .cols = (cols_), .block = (block_)                       \
    }

lk_status lk_hadamard(void *stream, const lk_hadamard_desc *desc, const void *x, void *y);
lk_status lk_hadamard_explain(const lk_hadamard_desc *desc, char *text, size_t size);

/* Weights in 4 and 8 bits ------------------------------------------------------------------------
 * y = x W^T with quantised weights: x is [m][k], y is [m][n], W is [n][k] in one of these layouts.
 * Sums are in f32. Meant for few rows of x, up to 16: W is read once for each 16 (GGUF's layouts:
 * 8).
 *
 *     lk_w4a16_desc desc = LK_W4A16_DESC(LK_BF16, LK_TILES32, 1, 28672, 8192);
 *     lk_repack_w4a16(stream, &desc, q4_0, NULL, tiles, scales); // once, when a model is loaded
 *     lk_gemm_w4a16(stream, &desc, x, tiles, scales, y); */
typedef enum lk_weight_layout {
    LK_Q4_0, /* blocks as in GGUF files; k is a multiple of 32 */
    LK_Q4_1,
    LK_Q8_0,
    LK_Q4_K, /* k is a multiple of 256 */
    LK_Q6_K,
    LK_TILES32, /* 4 bits in the order of tensor cores, f16 scales for 32 columns (k: multiple) */
    LK_TILES128 /* the same for 128 columns */
} lk_weight_layout;
typedef struct lk_w4a16_desc {
    lk_type type; /* of x and y: LK_BF16 or LK_F16 */
    lk_weight_layout layout;
    int64_t m, n, k;
} lk_w4a16_desc;
#define LK_W4A16_DESC(type_, layout_, m_, n_, k_)                                                  \
    {                                                                                              \
        .type = (type_), .layout = (layout_), .m = (m_), .n = (n_), .k = (k_)                      \
    }

/* scales: of tiles; NULL for the others, which have them in w. Buffers at multiples of 16 bytes. */
lk_status lk_gemm_w4a16(void *stream, const lk_w4a16_desc *desc, const void *x, const void *w,
                        const void *scales, void *y);
/* Into tiles: LK_TILES32 from Q4_0 (w_scales is NULL), bit for bit; LK_TILES128 from what
 * lk_quantise makes with LK_FORMAT_INT4 and LK_PER_128, scales rounded to f16. */
lk_status lk_repack_w4a16(void *stream, const lk_w4a16_desc *desc, const void *w,
                          const float *w_scales, void *tiles, void *scales);
/* Of w and scales; either may be NULL. */
lk_status lk_gemm_w4a16_bytes(const lk_w4a16_desc *desc, size_t *weights, size_t *scales);
lk_status lk_gemm_w4a16_explain(const lk_w4a16_desc *desc, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
