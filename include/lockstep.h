/*
 * lockstep.h: Lockstep's kernels for C and C++ programs. Link with -llockstep (pkg-config
 * lockstep).
 *
 * Device memory is passed by plain pointers and a stream as void *: a CUstream or cudaStream_t as
 * it is, NULL for the default stream. Nothing of the CUDA toolkit is needed here. In a program that
 * uses CUDA the calls work in the context that is current on the calling thread; in one that does
 * not, lk_open opens a GPU, or a simulated one on a machine without.
 *
 *     size_t bytes;
 *     lk_reduce_sum_f32_workspace(n, &bytes);
 *     ... allocate bytes of device memory once ...
 *     if (lk_reduce_sum_f32(stream, in, n, out, workspace, bytes) != LK_OK)
 *         puts(lk_last_error());
 *
 * A call checks its arguments, puts kernels into the stream and returns; a call that fails has
 * launched nothing. Calls may be made from several threads. docs/api.md has a page for each.
 */
#ifndef LOCKSTEP_H
#define LOCKSTEP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LK_VERSION "0.1.0"
const char *lk_version(void); /* of the library: LK_VERSION is the header's */

/* Errors ----------------------------------------------------------------------------------------*/

typedef enum lk_status {
    LK_OK = 0,
    LK_BAD_ARGUMENT,    /* NULL, misaligned, overlapping, out of range, no memory of the GPU */
    LK_SMALL_WORKSPACE, /* fewer bytes than lk_.._workspace says */
    LK_NO_GPU,          /* no driver, no such GPU, or no context is current on this thread */
    LK_UNSUPPORTED,     /* no kernel for this problem on this GPU */
    LK_NO_MEMORY,
    LK_DRIVER_ERROR /* the CUDA driver refused; also: an earlier kernel of the program failed */
} lk_status;

const char *lk_status_text(lk_status status); /* a few words; never NULL */
/* What went wrong in this thread's last call that failed: which argument, and what to do. "" if
 * nothing has. Valid until the next call in this thread fails. */
const char *lk_last_error(void);

/* GPUs and memory, for programs that do not use CUDA themselves ---------------------------------*/

/* Makes a GPU current on this thread: "cuda:0", "sim:h200". NULL: the context that is current
 * already, else what LOCKSTEP_GPU says, else the first GPU, else sim:h200. */
lk_status lk_open(const char *gpu);
/* "NVIDIA H200", or "NVIDIA H200 (simulated)"; cut to size. */
lk_status lk_gpu_name(char *text, size_t size);

lk_status lk_malloc(void **pointer, size_t bytes);
lk_status lk_free(void *pointer); /* NULL is fine */
lk_status lk_copy_to(void *to_device, const void *from_host, size_t bytes);
lk_status lk_copy_from(void *to_host, const void *from_device, size_t bytes);
lk_status lk_wait(void *stream); /* until everything in it is done */

/* Unloads the kernels that calls have loaded in the current context; nothing may be running. */
lk_status lk_unload(void);

/* Choosing --------------------------------------------------------------------------------------*/

/* Which variant a call would use, and why: lk_explain("reduce_sum_f32", (int64_t[]){n}, 1, ..).
 * sizes are the call's integer arguments in order. The text is cut to size and ends with 0. */
lk_status lk_explain(const char *call, const int64_t *sizes, size_t count, char *text, size_t size);

/* Not 0: from now on only variants that give the same bits in every run, in all threads. */
void lk_set_deterministic(int on);

/* Elementwise -----------------------------------------------------------------------------------
 * out may be x (or y). */

lk_status lk_add_f32(void *stream, const float *x, const float *y, int64_t n, float *out);
lk_status lk_scale_f32(void *stream, const float *x, float scalar, int64_t n, float *out);
lk_status lk_relu_f32(void *stream, const float *x, int64_t n, float *out); /* NaN stays */
lk_status lk_saxpy_f32(void *stream, float scalar, const float *x, int64_t n, float *y);

/* Transpose -------------------------------------------------------------------------------------
 * in is [rows][cols], out is [cols][rows]. In place rows must be cols. */

lk_status lk_transpose_f32(void *stream, const float *in, int64_t rows, int64_t cols, float *out);
lk_status lk_transpose_in_place_f32(void *stream, float *a, int64_t rows, int64_t cols);

/* Reduction: many numbers to one ---------------------------------------------------------------
 * out gets one number. NaN wins every comparison. Of no numbers the sum is 0, the minimum and
 * maximum the type's largest and smallest value (infinities for floats), argmax -1.
 * argmax is the index of the first largest. bf16 is summed in f32, and the result is f32. */

typedef uint16_t lk_bf16; /* the bits of a bfloat16 */

lk_status lk_reduce_sum_f32(void *stream, const float *in, int64_t n, float *out, void *workspace,
                            size_t workspace_bytes);
lk_status lk_reduce_sum_f64(void *stream, const double *in, int64_t n, double *out, void *workspace,
                            size_t workspace_bytes);
lk_status lk_reduce_sum_i32(void *stream, const int32_t *in, int64_t n, int32_t *out,
                            void *workspace, size_t workspace_bytes);
lk_status lk_reduce_sum_bf16(void *stream, const lk_bf16 *in, int64_t n, float *out,
                             void *workspace, size_t workspace_bytes);
lk_status lk_reduce_min_f32(void *stream, const float *in, int64_t n, float *out, void *workspace,
                            size_t workspace_bytes);
lk_status lk_reduce_min_f64(void *stream, const double *in, int64_t n, double *out, void *workspace,
                            size_t workspace_bytes);
lk_status lk_reduce_min_i32(void *stream, const int32_t *in, int64_t n, int32_t *out,
                            void *workspace, size_t workspace_bytes);
lk_status lk_reduce_min_bf16(void *stream, const lk_bf16 *in, int64_t n, float *out,
                             void *workspace, size_t workspace_bytes);
lk_status lk_reduce_max_f32(void *stream, const float *in, int64_t n, float *out, void *workspace,
                            size_t workspace_bytes);
lk_status lk_reduce_max_f64(void *stream, const double *in, int64_t n, double *out, void *workspace,
                            size_t workspace_bytes);
lk_status lk_reduce_max_i32(void *stream, const int32_t *in, int64_t n, int32_t *out,
                            void *workspace, size_t workspace_bytes);
lk_status lk_reduce_max_bf16(void *stream, const lk_bf16 *in, int64_t n, float *out,
                             void *workspace, size_t workspace_bytes);
lk_status lk_reduce_argmax_f32(void *stream, const float *in, int64_t n, int64_t *out,
                               void *workspace, size_t workspace_bytes);
lk_status lk_reduce_argmax_f64(void *stream, const double *in, int64_t n, int64_t *out,
                               void *workspace, size_t workspace_bytes);
lk_status lk_reduce_argmax_i32(void *stream, const int32_t *in, int64_t n, int64_t *out,
                               void *workspace, size_t workspace_bytes);
lk_status lk_reduce_argmax_bf16(void *stream, const lk_bf16 *in, int64_t n, int64_t *out,
                                void *workspace, size_t workspace_bytes);

/* The workspace that the call needs for n numbers on the current GPU. */
lk_status lk_reduce_sum_f32_workspace(int64_t n, size_t *bytes);
lk_status lk_reduce_sum_f64_workspace(int64_t n, size_t *bytes);
lk_status lk_reduce_sum_i32_workspace(int64_t n, size_t *bytes);
lk_status lk_reduce_sum_bf16_workspace(int64_t n, size_t *bytes);
lk_status lk_reduce_min_f32_workspace(int64_t n, size_t *bytes);
lk_status lk_reduce_min_f64_workspace(int64_t n, size_t *bytes);
lk_status lk_reduce_min_i32_workspace(int64_t n, size_t *bytes);
lk_status lk_reduce_min_bf16_workspace(int64_t n, size_t *bytes);
lk_status lk_reduce_max_f32_workspace(int64_t n, size_t *bytes);
lk_status lk_reduce_max_f64_workspace(int64_t n, size_t *bytes);
lk_status lk_reduce_max_i32_workspace(int64_t n, size_t *bytes);
lk_status lk_reduce_max_bf16_workspace(int64_t n, size_t *bytes);
lk_status lk_reduce_argmax_f32_workspace(int64_t n, size_t *bytes);
lk_status lk_reduce_argmax_f64_workspace(int64_t n, size_t *bytes);
lk_status lk_reduce_argmax_i32_workspace(int64_t n, size_t *bytes);
lk_status lk_reduce_argmax_bf16_workspace(int64_t n, size_t *bytes);

/* lk_explain of a reduction: what is "sum_f32", "argmax_bf16". */
lk_status lk_reduce_explain(const char *what, int64_t n, char *text, size_t size);

/* One axis of three: out[o][i] is the sum over m of in[o][m][i]. Rows have inner 1, columns
 * outer 1. */
lk_status lk_reduce_axis_sum_f32(void *stream, const float *in, int64_t outer, int64_t middle,
                                 int64_t inner, float *out, void *workspace,
                                 size_t workspace_bytes);
lk_status lk_reduce_axis_sum_f32_workspace(int64_t outer, int64_t middle, int64_t inner,
                                           size_t *bytes);

/* Segments: out[s] is the sum of values[offsets[s]] up to values[offsets[s + 1]]. offsets is
 * [segments + 1] and ascends from 0 to n, which is not checked. */
lk_status lk_reduce_segments_sum_f32(void *stream, const float *values, const int32_t *offsets,
                                     int64_t n, int64_t segments, float *out, void *workspace,
                                     size_t workspace_bytes);
lk_status lk_reduce_segments_sum_f32_workspace(int64_t n, int64_t segments, size_t *bytes);

/* Scan: running sums -----------------------------------------------------------------------------
 * out[i] is the sum of in[0] to in[i] (inclusive) or to in[i - 1] (exclusive). Integers wrap. */

lk_status lk_scan_inclusive_f32(void *stream, const float *in, int64_t n, float *out,
                                void *workspace, size_t workspace_bytes);
lk_status lk_scan_inclusive_i32(void *stream, const int32_t *in, int64_t n, int32_t *out,
                                void *workspace, size_t workspace_bytes);
lk_status lk_scan_exclusive_f32(void *stream, const float *in, int64_t n, float *out,
                                void *workspace, size_t workspace_bytes);
lk_status lk_scan_exclusive_i32(void *stream, const int32_t *in, int64_t n, int32_t *out,
                                void *workspace, size_t workspace_bytes);
lk_status lk_scan_inclusive_f32_workspace(int64_t n, size_t *bytes);
lk_status lk_scan_inclusive_i32_workspace(int64_t n, size_t *bytes);
lk_status lk_scan_exclusive_f32_workspace(int64_t n, size_t *bytes);
lk_status lk_scan_exclusive_i32_workspace(int64_t n, size_t *bytes);

/* Selection -------------------------------------------------------------------------------------
 * The elements greater than threshold, in their order; total gets how many. out has room for n. */

lk_status lk_select_greater_f32(void *stream, const float *in, int64_t n, float threshold,
                                float *out, int64_t *total, void *workspace,
                                size_t workspace_bytes);
lk_status lk_select_greater_f32_workspace(int64_t n, size_t *bytes);

/* Histogram -------------------------------------------------------------------------------------
 * counts is [bins] and is overwritten. f32: x of [0, 1) counts in bin (int)(x * bins), the product
 * rounded to f32; u8: the value is the bin. What lies outside does not count. */

lk_status lk_histogram_f32(void *stream, const float *in, int64_t n, int64_t bins, uint32_t *counts,
                           void *workspace, size_t workspace_bytes);
lk_status lk_histogram_u8(void *stream, const uint8_t *in, int64_t n, int64_t bins,
                          uint32_t *counts, void *workspace, size_t workspace_bytes);
lk_status lk_histogram_f32_workspace(int64_t n, int64_t bins, size_t *bytes);
lk_status lk_histogram_u8_workspace(int64_t n, int64_t bins, size_t *bytes);

/* Matrices --------------------------------------------------------------------------------------
 * c = a b: a is [m][k], b is [k][n], c is [m][n], all by rows. */

lk_status lk_matmul_f32(void *stream, const float *a, const float *b, int64_t m, int64_t n,
                        int64_t k, float *c, void *workspace, size_t workspace_bytes);
lk_status lk_matmul_f32_workspace(int64_t m, int64_t n, int64_t k, size_t *bytes);

/* d = f(alpha a b + beta c + bias), for each matrix of a batch, in the type and layout that the
 * description says; sums are made in f32. a is m x k, b is k x n, c and d are m x n.
 *
 *     lk_gemm_desc desc = LK_GEMM_DESC(LK_BF16, m, n, k);
 *     desc.b_order = LK_COLUMNS;
 *     desc.activation = LK_GELU;
 *     lk_gemm(stream, &desc, a, b, NULL, bias, d);
 *
 * c and bias may be NULL; c may be d. No workspace is needed, but for scales of rows (below).
 *
 * a and b of 8 bits come with scales: d = d_scale f(alpha (a_scale a) (b_scale b) + beta c + bias);
 * c and bias have d's type, or LK_BF16 where d is LK_E4M3. a by rows and b by columns are fast.
 * Integers are summed without error (k is below 131072); sums of FP8 are in f32, or with fast_sums
 * in the tensor cores' 14 bits. In a batch each matrix has its own scales, one set after the other;
 * a matrix that is the same for all (LK_SAME) has one.
 *
 *     lk_gemm_desc desc = LK_GEMM_DESC(LK_E4M3, m, n, k);
 *     desc.b_order = LK_COLUMNS;
 *     desc.d_type = LK_BF16;
 *     desc.a_scale = a_scale; // device memory
 *     desc.b_scale = b_scale;
 *     lk_gemm(stream, &desc, a, b, NULL, NULL, d);
 *
 * A d in LK_E4M3 can be the next product's a: with d_scaling its scales are computed, such that the
 * largest number of a row, or of 128 columns of a row, becomes 448, and are stored as that product
 * wants them for its a_scale. (Where that number is below 2^-110 the scale is 1.) Scales of rows
 * need a workspace, because no block sees a whole row: lk_gemm_workspace says of how many bytes. */
typedef enum lk_type {
    LK_BF16,
    LK_F16,
    LK_F32,
    LK_E4M3, /* FP8 with 4 bits of exponent; its largest number is 448 */
    LK_E5M2, /* FP8 with 5 bits of exponent */
    LK_S8    /* signed 8-bit integers */
} lk_type;
typedef enum lk_scaling {
    LK_SCALE_TENSORS, /* one number for a, one for b */
    LK_SCALE_LINES,   /* m numbers for the rows of a, n for the columns of b */
    LK_SCALE_BLOCKS   /* with K = k / 128, rounded up: [K][m] for 128 elements of a row of a,
                         [n / 128][K] for 128 x 128 elements of b */
} lk_scaling;
typedef enum lk_order { LK_ROWS, LK_COLUMNS } lk_order; /* whose elements lie side by side */
typedef enum lk_activation {
    LK_IDENTITY,
    LK_RELU,
    LK_GELU,      /* x times the normal distribution function of x */
    LK_SILU,      /* x / (1 + exp(-x)) */
    LK_SILU_GATE, /* d has n / 2 columns: silu(column 2 j) times column 2 j + 1 */
    LK_GELU_TANH  /* GELU by tanh; not in lk_gemm */
} lk_activation;
#define LK_SAME (-1) /* as a stride: every product of the batch takes the same matrix */

typedef struct lk_gemm_desc {
    lk_type type; /* of a, b, c, bias and d; of 8 bits: of a, and of b unless b_type is set */
    int64_t m, n, k;
    int64_t batch;                      /* 0 counts as 1 */
    lk_order a_order, b_order, d_order; /* c has d's order */
    /* From a row (by columns: from a column) to the next, in elements; 0: they follow each other.
     */
    int64_t a_pitch, b_pitch, c_pitch, d_pitch;
    /* From a matrix of the batch to the next, in elements; 0: they follow each other. */
    int64_t a_stride, b_stride, c_stride, d_stride;
    float alpha, beta;
    lk_activation activation;
    int bias_for_rows; /* bias has m numbers, one for each row of d; else n, one for each column */
    /* With 8 bits only: */
    lk_type b_type; /* LK_E5M2 beside LK_E4M3, or the other way round; 0: as type */
    lk_type d_type; /* LK_BF16, LK_F16, LK_F32 or LK_E4M3, which is cut at 448 */
    lk_scaling scaling;
    const float *a_scale, *b_scale; /* NULL: 1, but not of blocks */
    const float *d_scale;           /* one number that d is multiplied by; NULL: 1 */
    int fast_sums;                  /* not with LK_SCALE_BLOCKS */
    /* Of a d in LK_E4M3, by rows: LK_SCALE_TENSORS: d_scale, which is given. Else scales are
     * computed: LK_SCALE_LINES, m numbers; LK_SCALE_BLOCKS, with N = d's columns / 128, rounded up,
     * [N][m]. */
    lk_scaling d_scaling;
    float *d_scale_out; /* device memory for them */
    void *workspace;    /* device memory, at a multiple of 16 bytes */
    size_t workspace_bytes;
    int tf32; /* with LK_F32: tensor cores may round a and b to TF32, 11 bits; sums stay in f32 */
} lk_gemm_desc;
#define LK_GEMM_DESC(type_, m_, n_, k_)                                                            \
    {                                                                                              \
        .type = (type_), .m = (m_), .n = (n_), .k = (k_), .alpha = 1                               \
    }

lk_status lk_gemm(void *stream, const lk_gemm_desc *desc, const void *a, const void *b,
                  const void *c, const void *bias, void *d);
lk_status lk_gemm_workspace(const lk_gemm_desc *desc, size_t *bytes);
/* Which kernel would run, for buffers at multiples of 16 bytes; the text is cut to size. */
lk_status lk_gemm_explain(const lk_gemm_desc *desc, char *text, size_t size);

/* y = A x of a sparse matrix in compressed rows (CSR): row r has columns and values from offsets[r]
 * up to offsets[r + 1], no column twice. offsets is [rows + 1], columns and values are [nonzeros].
 * What they hold is not checked. */
lk_status lk_spmv_csr_f32(void *stream, const int32_t *offsets, const int32_t *columns,
                          const float *values, const float *x, int64_t rows, int64_t cols,
                          int64_t nonzeros, float *y, void *workspace, size_t workspace_bytes);
lk_status lk_spmv_csr_f32_workspace(int64_t rows, int64_t cols, int64_t nonzeros, size_t *bytes);

/* Squared distances: out[i][j] = |x[i] - y[j]|^2 of n vectors x and m vectors y with d elements.
 * The error is relative to |x[i]|^2 + |y[j]|^2. */
lk_status lk_pairwise_l2_f32(void *stream, const float *x, const float *y, int64_t n, int64_t m,
                             int64_t d, float *out, void *workspace, size_t workspace_bytes);
lk_status lk_pairwise_l2_f32_workspace(int64_t n, int64_t m, int64_t d, size_t *bytes);

#ifdef __cplusplus
}
#endif

#include "lockstep_network.h"
#include "lockstep_numbers.h"

#endif
