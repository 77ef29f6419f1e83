/*
 * lockstep_network.h: the calls for networks: rows, norms, losses, elements, the optimiser,
 * attention. lockstep.h includes it; numbers in 4 and 8 bits are in lockstep_numbers.h.
 */
#ifndef LOCKSTEP_NETWORK_H
#define LOCKSTEP_NETWORK_H

#include "lockstep.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows --------------------------------------------------------------------------------------------
 * Softmax of each row of [rows][cols]: exp(scale x) over its sum; the logarithm of that; or the
 * logarithm of the sum, one f32 a row. Sums are made in f32. A temperature is 1 / scale.
 *
 *     lk_softmax_desc desc = LK_SOFTMAX_DESC(LK_BF16, rows, cols);
 *     desc.causal = 1;
 *     desc.group = queries; // rows are [heads][queries], columns are keys
 *     lk_softmax(stream, &desc, scores, probabilities);
 *
 * What a row does not see has probability 0, and gradient 0. A row that sees nothing, or minus
 * infinity alone, gets zeros, and minus infinity for a logarithm; with NaN or plus infinity among
 * what it sees, all NaN. out may be in, and dx may be y or dy. No workspace is needed. */
typedef enum lk_softmax_op { LK_SOFTMAX, LK_LOG_SOFTMAX, LK_LOG_SUM_EXP } lk_softmax_op;
typedef struct lk_softmax_desc {
    lk_type type; /* of in, bias and out: LK_BF16, LK_F16 or LK_F32 */
    int64_t rows, cols;
    lk_softmax_op op;
    float scale;            /* above 0; 0 counts as 1 */
    int64_t group;          /* rows that belong together, as a head's queries; 0 counts as 1 */
    int causal;             /* row q of a group sees columns up to cols - group + q */
    const int32_t *lengths; /* a number for each group: columns that its rows see; NULL: all */
    const void *bias;       /* [group][cols], added to scale x; NULL: none. Not used by backward */
} lk_softmax_desc;
#define LK_SOFTMAX_DESC(type_, rows_, cols_)                                                       \
    {                                                                                              \
        .type = (type_), .rows = (rows_), .cols = (cols_), .scale = 1                              \
    }

lk_status lk_softmax(void *stream, const lk_softmax_desc *desc, const void *in, void *out);
/* dx of softmax or log-softmax, from the result y and its gradient dy. */
lk_status lk_softmax_backward(void *stream, const lk_softmax_desc *desc, const void *y,
                              const void *dy, void *dx);
/* Which variant would run, and why; the text is cut to size. */
lk_status lk_softmax_explain(const lk_softmax_desc *desc, int backward, char *text, size_t size);

/* Norms of rows ----------------------------------------------------------------------------------
 * y = x / sqrt(mean(x^2) + eps) * gamma of each row of [rows][cols], or, layer norm,
 * y = (x - mean) / sqrt(variance + eps) * gamma + beta.
 *
 *     lk_norm_desc desc = LK_NORM_DESC(LK_BF16, rows, cols);
 *     desc.gamma = gamma;
 *     desc.residual = desc.sum = stream_of_the_network; // x is added to it first, in place
 *     lk_rmsnorm(stream, &desc, x, y);
 *
 * Backward takes x, or the sum if there was a residual, and stats as forward stored them. y may be
 * x, sum may be x or residual, dx may be x or dy. Sums over rows have the same bits in every run.
 * A row whose squares leave the range of f32 is right all the same. */
typedef struct lk_norm_desc {
    lk_type
        type; /* of x, residual, gamma, beta, sum and all gradients: LK_BF16, LK_F16 or LK_F32 */
    int64_t rows, cols;
    float eps;
    const void *gamma, *beta; /* [cols]; NULL: 1 and 0. beta: of layer norm alone, with gamma */
    const void *residual;     /* [rows][cols]; x + residual is normalised; NULL: x is */
    void *sum;                /* x + residual, with residual */
    float *stats;             /* 1 / sqrt(..) [rows]; layer norm: means [rows] before it. For
                                 backward; forward may have NULL */
    const void *dsum;         /* backward: the gradient of sum, added to dx; NULL: none */
    lk_type out_type;         /* of y: type, or LK_E4M3, in which out_scale times y is stored */
    float out_scale;          /* 0 counts as 1 */
} lk_norm_desc;
#define LK_NORM_DESC(type_, rows_, cols_)                                                          \
    {                                                                                              \
        .type = (type_), .rows = (rows_), .cols = (cols_), .eps = 1e-5f, .out_type = (type_)       \
    }

lk_status lk_rmsnorm(void *stream, const lk_norm_desc *desc, const void *x, void *y);
/* dx, and dgamma [cols] where there is gamma. The workspace is for sums over rows. */
lk_status lk_rmsnorm_backward(void *stream, const lk_norm_desc *desc, const void *x, const void *dy,
                              void *dx, void *dgamma, void *workspace, size_t workspace_bytes);
lk_status lk_rmsnorm_backward_workspace(const lk_norm_desc *desc, size_t *bytes);
lk_status lk_rmsnorm_explain(const lk_norm_desc *desc, int backward, char *text, size_t size);
lk_status lk_layernorm(void *stream, const lk_norm_desc *desc, const void *x, void *y);
lk_status lk_layernorm_backward(void *stream, const lk_norm_desc *desc, const void *x,
                                const void *dy, void *dx, void *dgamma, void *dbeta,
                                void *workspace, size_t workspace_bytes);
lk_status lk_layernorm_backward_workspace(const lk_norm_desc *desc, size_t *bytes);
lk_status lk_layernorm_explain(const lk_norm_desc *desc, int backward, char *text, size_t size);

/* Cross-entropy ----------------------------------------------------------------------------------
 * loss = log(sum(exp(x))) - (1 - s) x[label] - s mean(x) of each row of [rows][cols] logits, s
 * being the label smoothing; and, in place of the logits, the gradient of the total.
 *
 *     lk_cross_entropy_desc desc = LK_CROSS_ENTROPY_DESC(LK_BF16, tokens, vocabulary);
 *     lk_cross_entropy(stream, &desc, logits, labels, losses, &total, workspace, bytes);
 *
 * Rows whose label is ignore_index have loss and gradient 0, and do not count in the mean; without
 * any other row the mean is NaN. A label that is no column makes the loss and the gradients of its
 * row NaN. The same bits in every run. */
typedef struct lk_cross_entropy_desc {
    lk_type type; /* of the logits: LK_BF16, LK_F16 or LK_F32 */
    int64_t rows, cols;
    float smoothing;      /* from 0 to 1 */
    int64_t ignore_index; /* of 32 bits */
    int sum;              /* the total is the sum of the losses, not their mean */
    int loss_only;        /* the logits stay as they are */
    float scale;          /* of the gradients; 0 counts as 1 */
} lk_cross_entropy_desc;
#define LK_CROSS_ENTROPY_DESC(type_, rows_, cols_)                                                 \
    {                                                                                              \
        .type = (type_), .rows = (rows_), .cols = (cols_), .ignore_index = -100, .scale = 1        \
    }

/* labels and losses are [rows], total is one number. */
lk_status lk_cross_entropy(void *stream, const lk_cross_entropy_desc *desc, void *logits,
                           const int64_t *labels, float *losses, float *total, void *workspace,
                           size_t workspace_bytes);
lk_status lk_cross_entropy_workspace(const lk_cross_entropy_desc *desc, size_t *bytes);
lk_status lk_cross_entropy_explain(const lk_cross_entropy_desc *desc, char *text, size_t size);

/* Each element of [rows][cols]: y = f(x), or with a gate y = f(x) up: SwiGLU with LK_SILU, GeGLU
 * with LK_GELU. Backward dx = dy f'(x), and with a gate dx = dy up f'(x) and dup = dy f(x). Packed,
 * x is [rows][2 cols]: a row of x, then its row of up, and so is dx; up and dup are then NULL, as
 * they are without a gate. An output may be one of the inputs. No workspace is needed.
 *
 *     lk_activation_desc desc = LK_ACTIVATION_DESC(LK_BF16, LK_SILU, tokens, 14336);
 *     desc.gate = LK_GATE;
 *     lk_activation_forward(stream, &desc, x, up, y); */
typedef enum lk_gate {
    LK_NO_GATE,
    LK_GATE,
    LK_GATE_PACKED,
    LK_GATE_PAIRS /* of lk_mlp: x and up in turn; not here */
} lk_gate;
typedef struct lk_activation_desc {
    lk_type type;           /* LK_BF16, LK_F16 or LK_F32 */
    lk_activation function; /* LK_GELU, LK_SILU, or without a gate LK_GELU_TANH */
    lk_gate gate;
    int64_t rows, cols;
} lk_activation_desc;
#define LK_ACTIVATION_DESC(type_, function_, rows_, cols_)                                         \
    {                                                                                              \
        .type = (type_), .function = (function_), .rows = (rows_), .cols = (cols_)                 \
    }

lk_status lk_activation_forward(void *stream, const lk_activation_desc *desc, const void *x,
                                const void *up, void *y);
lk_status lk_activation_backward(void *stream, const lk_activation_desc *desc, const void *x,
                                 const void *up, const void *dy, void *dx, void *dup);
lk_status lk_activation_explain(const lk_activation_desc *desc, int backward, char *text,
                                size_t size);

/* A transformer's MLP ----------------------------------------------------------------------------
 * y = f(x w1 + b1) w2 + b2, or with a gate y = (f(g) u) w2 + b2: SwiGLU with LK_SILU, GeGLU with
 * LK_GELU. x and y are [tokens][dim]; w1 is [dim][hidden], w2 is [hidden][dim]. With a gate w1 has
 * 2 hidden columns: those of g and then those of u (LK_GATE_PACKED), or in turn (LK_GATE_PAIRS).
 *
 *     lk_mlp_desc desc = LK_MLP_DESC(LK_BF16, tokens, 4096, 14336);
 *     desc.function = LK_SILU;
 *     desc.gate = LK_GATE_PAIRS;
 *     lk_mlp_forward_workspace(&desc, &bytes);
 *     lk_mlp_forward(stream, &desc, x, w1, NULL, w2, NULL, y, NULL, workspace, bytes);
 *
 * The products are lk_gemm's, and the first one does the activation on its way out where lk_gemm
 * has it (LK_GELU and LK_SILU without a gate, LK_SILU with LK_GATE_PAIRS) and pre is NULL. pre,
 * [tokens][hidden or 2 hidden], gets x w1 + b1, which backward needs. The workspace holds the
 * hidden layer; both calls give the same bits in every run. */
typedef struct lk_mlp_desc {
    lk_type type; /* of everything: LK_BF16, LK_F16, or LK_F32, which is not fast */
    int64_t tokens, dim, hidden;
    lk_activation function; /* LK_GELU, LK_GELU_TANH or LK_SILU */
    lk_gate gate;           /* LK_NO_GATE, LK_GATE_PACKED or LK_GATE_PAIRS */
    lk_order order;         /* of w1, w2 and their gradients; LK_COLUMNS: [out][in], as PyTorch's
                               Linear has them */
} lk_mlp_desc;
#define LK_MLP_DESC(type_, tokens_, dim_, hidden_)                                                 \
    {                                                                                              \
        .type = (type_), .tokens = (tokens_), .dim = (dim_), .hidden = (hidden_),                  \
        .function = LK_GELU                                                                        \
    }

/* b1 and b2 may both be NULL; pre may be. */
lk_status lk_mlp_forward(void *stream, const lk_mlp_desc *desc, const void *x, const void *w1,
                         const void *b1, const void *w2, const void *b2, void *y, void *pre,
                         void *workspace, size_t workspace_bytes);
lk_status lk_mlp_forward_workspace(const lk_mlp_desc *desc, size_t *bytes);
/* The gradients of x, the weights and, unless db1 and db2 are NULL, the biases, from dy and pre. */
lk_status lk_mlp_backward(void *stream, const lk_mlp_desc *desc, const void *x, const void *w1,
                          const void *w2, const void *pre, const void *dy, void *dx, void *dw1,
                          void *db1, void *dw2, void *db2, void *workspace, size_t workspace_bytes);
lk_status lk_mlp_backward_workspace(const lk_mlp_desc *desc, size_t *bytes);
lk_status lk_mlp_explain(const lk_mlp_desc *desc, int backward, char *text, size_t size);

/* Rotary position embedding of x, [tokens][heads][dim], in place: the two numbers of each pair of a
 * head are turned by the angle whose cosine and sine are in [tokens][dim / 2]. */
typedef struct lk_rope_desc {
    lk_type type; /* of x: LK_BF16, LK_F16 or LK_F32 */
    int64_t tokens, heads, dim;
    int neighbours; /* a pair is elements 2 i and 2 i + 1 of a head; else i and i + dim / 2 */
    int backward;   /* turns the other way: the gradient of x from that of the result */
} lk_rope_desc;
#define LK_ROPE_DESC(type_, tokens_, heads_, dim_)                                                 \
    {                                                                                              \
        .type = (type_), .tokens = (tokens_), .heads = (heads_), .dim = (dim_)                     \
    }

lk_status lk_rope(void *stream, const lk_rope_desc *desc, void *x, const float *cosines,
                  const float *sines);
lk_status lk_rope_explain(const lk_rope_desc *desc, char *text, size_t size);

/* Dropout of n numbers: y = 0 with probability p, else x / (1 - p). p is rounded to a multiple of
 * 2^-16. Whether element i is dropped depends on seed, offset and i alone, so the backward pass
 * needs no mask: the same description, dy and dx. Give each call of a training step another offset.
 * y may be x. No workspace is needed.
 *
 *     lk_dropout_desc desc = LK_DROPOUT_DESC(LK_BF16, n, 0.1f, seed, offset);
 *     lk_dropout(stream, &desc, x, y); ... lk_dropout_backward(stream, &desc, dy, dx); */
typedef struct lk_dropout_desc {
    lk_type type; /* LK_BF16, LK_F16 or LK_F32 */
    int64_t n;
    float p; /* from 0 to 1 */
    uint64_t seed, offset;
    /* Two numbers in device memory that are added to seed and offset, so that each replay of a
     * graph can have others; NULL: none. */
    const uint64_t *state;
} lk_dropout_desc;
#define LK_DROPOUT_DESC(type_, n_, p_, seed_, offset_)                                             \
    {                                                                                              \
        .type = (type_), .n = (n_), .p = (p_), .seed = (seed_), .offset = (offset_)                \
    }

lk_status lk_dropout(void *stream, const lk_dropout_desc *desc, const void *x, void *y);
lk_status lk_dropout_backward(void *stream, const lk_dropout_desc *desc, const void *dy, void *dx);
lk_status lk_dropout_explain(const lk_dropout_desc *desc, char *text, size_t size);

/* What stands between the matrix products of a transformer, in one pass, with D the dropout above
 * of element row * cols + column: y = D(GELU(x + bias)), and y = D(x + bias) + residual. Backward
 * dx = D(dy GELU'(x + bias)), or D(dy), and dbias, the sum of dx over all rows, made in f32 in a
 * fixed order; the gradient of the residual is dy itself. x is [rows][cols], bias is [cols]. dx
 * may be dy or x, and y may be x or residual. */
typedef struct lk_fused_desc {
    lk_type type;           /* LK_BF16, LK_F16 or LK_F32 */
    lk_activation function; /* LK_GELU or LK_GELU_TANH; not used with a residual */
    int64_t rows, cols;
    float p;
    uint64_t seed, offset;
    const uint64_t *state; /* as in lk_dropout_desc */
} lk_fused_desc;
#define LK_FUSED_DESC(type_, rows_, cols_, p_, seed_, offset_)                                     \
    {                                                                                              \
        .type = (type_), .function = LK_GELU, .rows = (rows_), .cols = (cols_), .p = (p_),         \
        .seed = (seed_), .offset = (offset_)                                                       \
    }

lk_status lk_bias_gelu_dropout(void *stream, const lk_fused_desc *desc, const void *x,
                               const void *bias, void *y);
lk_status lk_bias_gelu_dropout_backward(void *stream, const lk_fused_desc *desc, const void *x,
                                        const void *bias, const void *dy, void *dx, void *dbias,
                                        void *workspace, size_t workspace_bytes);
lk_status lk_bias_gelu_dropout_backward_workspace(const lk_fused_desc *desc, size_t *bytes);
lk_status lk_bias_gelu_dropout_explain(const lk_fused_desc *desc, int backward, char *text,
                                       size_t size);
lk_status lk_bias_dropout_residual(void *stream, const lk_fused_desc *desc, const void *x,
                                   const void *bias, const void *residual, void *y);
lk_status lk_bias_dropout_residual_backward(void *stream, const lk_fused_desc *desc, const void *dy,
                                            void *dx, void *dbias, void *workspace,
                                            size_t workspace_bytes);
lk_status lk_bias_dropout_residual_backward_workspace(const lk_fused_desc *desc, size_t *bytes);
lk_status lk_bias_dropout_residual_explain(const lk_fused_desc *desc, int backward, char *text,
                                           size_t size);

/* The same with the norm that follows: sum = D(x + bias) + residual, y = the norm of sum, as
 * lk_rmsnorm or lk_layernorm has it, in one pass over the arrays. Backward takes sum and stats as
 * forward stored them: dresidual is the gradient of sum (through the norm, and dsum, what comes to
 * it from elsewhere), dx = D(dresidual), and dbias, dgamma and dbeta are sums over all rows in a
 * fixed order. sum or y may be x or residual; dresidual or dx may be dy or dsum. */
typedef struct lk_fused_norm_desc {
    lk_type type; /* LK_BF16, LK_F16 or LK_F32 */
    int64_t rows, cols;
    float p;
    uint64_t seed, offset;
    const uint64_t *state; /* as in lk_dropout_desc */
    int layer;             /* layer norm, with beta; else rmsnorm, whose beta and dbeta are NULL */
    float eps;
} lk_fused_norm_desc;
#define LK_FUSED_NORM_DESC(type_, rows_, cols_, p_, seed_, offset_)                                \
    {                                                                                              \
        .type = (type_), .rows = (rows_), .cols = (cols_), .p = (p_), .seed = (seed_),             \
        .offset = (offset_), .eps = 1e-5f                                                          \
    }

/* stats: [rows] floats, 1 / sqrt(..); of a layer norm the means [rows] before them. */
lk_status lk_bias_dropout_residual_norm(void *stream, const lk_fused_norm_desc *desc, const void *x,
                                        const void *bias, const void *residual, const void *gamma,
                                        const void *beta, void *sum, void *y, float *stats);
/* dsum may be NULL. */
lk_status lk_bias_dropout_residual_norm_backward(void *stream, const lk_fused_norm_desc *desc,
                                                 const void *sum, const void *gamma,
                                                 const float *stats, const void *dy,
                                                 const void *dsum, void *dresidual, void *dx,
                                                 void *dbias, void *dgamma, void *dbeta,
                                                 void *workspace, size_t workspace_bytes);
lk_status lk_bias_dropout_residual_norm_backward_workspace(const lk_fused_norm_desc *desc,
                                                           size_t *bytes);
lk_status lk_bias_dropout_residual_norm_explain(const lk_fused_norm_desc *desc, int backward,
                                                char *text, size_t size);

/* Rows of a table by number: out[t] = table[ids[t]]; backward dtable[v] is the sum of dout[t] over
 * all t with ids[t] = v, made in f32, and the same bits in every run. Every row of dtable is
 * written. A number outside of the table, as -1 for padding, gives zeros and gets no gradient. */
typedef struct lk_embedding_desc {
    lk_type type; /* of table and out: LK_BF16, LK_F16 or LK_F32 */
    int64_t tokens, vocab, dim;
    int wide_ids; /* ids are int64_t; else int32_t */
} lk_embedding_desc;
#define LK_EMBEDDING_DESC(type_, tokens_, vocab_, dim_)                                            \
    {                                                                                              \
        .type = (type_), .tokens = (tokens_), .vocab = (vocab_), .dim = (dim_)                     \
    }

lk_status lk_embedding(void *stream, const lk_embedding_desc *desc, const void *ids,
                       const void *table, void *out);
lk_status lk_embedding_backward(void *stream, const lk_embedding_desc *desc, const void *ids,
                                const void *dout, void *dtable, void *workspace,
                                size_t workspace_bytes);
lk_status lk_embedding_backward_workspace(const lk_embedding_desc *desc, size_t *bytes);
lk_status lk_embedding_explain(const lk_embedding_desc *desc, int backward, char *text,
                               size_t size);

/* A step of AdamW for all tensors of a model in one launch; the norm of all their gradients
 * together, and clipping. lk_adamw_table makes a table of the tensors on the host, which the
 * program copies to device memory once; it stays good as long as the tensors stay where they are.
 *
 *     lk_adamw_desc desc = LK_ADAMW_DESC(LK_ADAMW_MASTER, count, 1e-3);
 *     lk_adamw_table(&desc, tensors, rows); // rows: count * LK_TENSOR_BYTES of the host
 *     lk_copy_to(table, rows, count * LK_TENSOR_BYTES);
 *     for (desc.step = 1; ; desc.step++) {
 *         lk_global_norm(stream, &desc, table, 1.0f, norm, workspace, bytes);
 *         desc.grad_scale = norm + 1; // the step clips: no pass over the gradients of its own
 *         lk_adamw(stream, &desc, table);
 *     }
 *
 * With g = grad_scale grad: mean += (1 - beta1) (g - mean), square += (1 - beta2) (g^2 - square),
 * param = param (1 - rate decay) - rate / (1 - beta1^step) mean / (sqrt(square / (1 - beta2^step))
 * + epsilon), as PyTorch has it; moments and arithmetic are f32. */
typedef enum lk_adamw_mode {
    LK_ADAMW_F32,       /* param and grad are f32 */
    LK_ADAMW_MASTER,    /* param and grad are bf16; the step works on master, f32 */
    LK_ADAMW_STOCHASTIC /* param and grad are bf16; param is rounded up or down at random */
} lk_adamw_mode;
typedef struct lk_tensor { /* device memory, each of count elements */
    void *param;
    const void *grad; /* lk_clip_gradients writes it */
    float *mean, *square;
    float *master; /* NULL unless LK_ADAMW_MASTER */
    int64_t count;
} lk_tensor;
#define LK_TENSOR_BYTES 64 /* a row of the table */
typedef struct lk_adamw_desc {
    lk_adamw_mode mode;
    int64_t tensors;
    int64_t units; /* set by lk_adamw_table */
    double rate, beta1, beta2, epsilon, decay;
    int64_t step;            /* 1 is the first */
    const float *grad_scale; /* device memory: one number; NULL: 1 */
    uint64_t seed;           /* of LK_ADAMW_STOCHASTIC: Philox of seed and step */
} lk_adamw_desc;
#define LK_ADAMW_DESC(mode_, tensors_, rate_)                                                      \
    {                                                                                              \
        .mode = (mode_), .tensors = (tensors_), .rate = (rate_), .beta1 = 0.9, .beta2 = 0.999,     \
        .epsilon = 1e-8, .decay = 0.01, .step = 1                                                  \
    }

lk_status lk_adamw_table(lk_adamw_desc *desc, const lk_tensor *tensors, void *table);
lk_status lk_adamw(void *stream, const lk_adamw_desc *desc, const void *table);
lk_status lk_adamw_explain(const lk_adamw_desc *desc, char *text, size_t size);
/* norm[0]: the norm; norm[1]: min(1, most / (norm[0] + 1e-6)). The same bits in every run. */
lk_status lk_global_norm(void *stream, const lk_adamw_desc *desc, const void *table, float most,
                         float *norm, void *workspace, size_t workspace_bytes);
lk_status lk_global_norm_workspace(const lk_adamw_desc *desc, size_t *bytes);
/* Multiplies all gradients by norm[1], in place; if that is 1, nothing is read. */
lk_status lk_clip_gradients(void *stream, const lk_adamw_desc *desc, const void *table,
                            const float *norm);

/* Attention --------------------------------------------------------------------------------------
 * o = softmax(scale q k^T) v for each head of each sequence, and the logarithm of each row's sum of
 * exponentials. Query i of Q stands at key i + K - Q. It sees all keys; with causal those up to
 * where it stands; with a window of w only the w nearest ones on each side, itself among them. If
 * it sees none, o is 0 and lse minus infinity. heads / kv_heads heads of q share one of k and v.
 *
 *     lk_attention_desc desc = LK_ATTENTION_DESC(LK_BF16, batch, heads, queries, keys, dim);
 *     desc.causal = 1;
 *     lk_attention_forward(stream, &desc, q, k, v, o, NULL, NULL, 0);
 *
 * This may take a workspace, too, and be a little faster with it.
 * Tensors are [batch][head][row][dim] unless their steps say otherwise. Packed sequences have
 * q_begin and k_begin, in device memory: sequence b has rows from begin[b] up to begin[b + 1] of
 * tensors [row][head][dim]; what they hold is not checked. lse is [batch][heads][queries], packed
 * [row][heads]. It may be NULL. */
typedef struct lk_steps {
    int64_t row, head, batch; /* elements from one to the next; 0: they follow each other */
} lk_steps;
typedef struct lk_attention_desc {
    lk_type type; /* of q, k, v and o: LK_BF16, LK_F16 or LK_F32; or LK_E4M3, and o is LK_BF16 */
    int64_t batch;
    int64_t heads, kv_heads; /* of q and o, of k and v; kv_heads 0: as many */
    int64_t queries, keys;   /* of each sequence; packed: of the longest */
    int64_t dim;             /* fast: 64, 96, 128, 256; others, up to 512, need a workspace */
    float scale;             /* 0: 1 / sqrt(dim) */
    float softcap;           /* c: a score s becomes c tanh(s / c); 0: it stays */
    int causal;
    int64_t window;                   /* 0: none */
    const int32_t *q_begin, *k_begin; /* [batch + 1]; NULL: not packed */
    int64_t all_queries, all_keys;    /* packed: rows in all, q_begin[batch] and k_begin[batch] */
    lk_steps q, k, v, o;
    /* LK_E4M3: what q, k and v are multiplied by, in device memory, not below 0; NULL: 1. One for
     * each kv_head and sequence: elements from one to the next; 0, 0: one for the whole tensor. */
    const float *q_scale, *k_scale, *v_scale;
    int64_t scale_head, scale_batch;
    const int32_t *key_lengths; /* [batch], in device memory: from there on, keys are padding that
                                 * nobody sees; NULL: none. Not with packed sequences. */
    const float *slopes; /* [heads], in device memory: ALiBi, a score loses slope times the distance
                          * from where its query stands; NULL: none */
    float dropout;       /* p, from 0 to below 1: weights are dropped with that chance, and the
                          * others multiplied by 1 / (1 - p); lse is as without */
    uint64_t seed, offset; /* of dropout, as in lk_dropout_desc; backward finds the same weights */
} lk_attention_desc;
#define LK_ATTENTION_DESC(type_, batch_, heads_, queries_, keys_, dim_)                            \
    {                                                                                              \
        .type = (type_), .batch = (batch_), .heads = (heads_), .queries = (queries_),              \
        .keys = (keys_), .dim = (dim_)                                                             \
    }

lk_status lk_attention_forward(void *stream, const lk_attention_desc *desc, const void *q,
                               const void *k, const void *v, void *o, float *lse, void *workspace,
                               size_t workspace_bytes);
lk_status lk_attention_forward_workspace(const lk_attention_desc *desc, size_t *bytes);
/* Which kernel would run, for buffers at multiples of 16 bytes; the text is cut to size. */
lk_status lk_attention_forward_explain(const lk_attention_desc *desc, char *text, size_t size);

/* The gradients of q, k and v from that of o, with o and lse as lk_attention_forward has left them:
 * dq is like q, dk and dv are like k and v. Tensors have no gaps: steps are 0. Heads of q that
 * share one of k and v add up in its gradient; that of padding is 0. 16 bits with heads of 64 and
 * 128 are fast on Hopper, with all but a softcap; the workspace is then little more than dq in f32,
 * and the last bits of dq may differ from run to run, unless lk_set_deterministic asks for the
 * same. Heads of 96, and other GPUs, are fast without a window, packed sequences, padding, ALiBi
 * and dropout. Everything else keeps all scores in the workspace, 8 batch heads queries keys bytes,
 * and so does all that lk_set_deterministic asks for beyond a causal mask. */
lk_status lk_attention_backward(void *stream, const lk_attention_desc *desc, const void *q,
                                const void *k, const void *v, const void *o, const float *lse,
                                const void *grad, void *dq, void *dk, void *dv, void *workspace,
                                size_t workspace_bytes);
lk_status lk_attention_backward_workspace(const lk_attention_desc *desc, size_t *bytes);
lk_status lk_attention_backward_explain(const lk_attention_desc *desc, char *text, size_t size);

/* The same for the last few queries of each sequence against a cache of keys and values: query i of
 * Q stands at key i + length - Q and sees keys up to there. k and v are [batch][kv_head][key][dim]
 * with room for `keys` of each sequence; or, with a table in device memory, pages
 * [pages][kv_head][page][dim], of which table[b][i] holds keys i * page and on of sequence b. A
 * sequence has (keys + page - 1) / page places in the table; what they hold beyond its length does
 * not matter. Lengths above `keys` count as `keys`; table is not checked. q and o are
 * [batch][head][query][dim], lse is [batch][heads][queries] and may be NULL.
 *
 *     lk_attention_decode_desc desc = LK_ATTENTION_DECODE_DESC(LK_BF16, batch, heads, keys, dim);
 *     desc.lengths = lengths;
 *     lk_attention_decode_workspace(&desc, &bytes);
 *     lk_attention_decode(stream, &desc, q, k, v, o, NULL, workspace, bytes); */
typedef struct lk_attention_decode_desc {
    lk_type type; /* of q, k, v and o: LK_BF16, LK_F16 or LK_F32 */
    int64_t batch;
    int64_t heads, kv_heads; /* of q and o, of k and v; kv_heads 0: as many */
    int64_t queries;         /* of each sequence; 0: one */
    int64_t keys;            /* of the longest sequence */
    int64_t dim;             /* fast: 64, 96, 128, 256, with pages of a multiple of 16 keys */
    float scale;             /* 0: 1 / sqrt(dim) */
    int rows_first;          /* [..][query or key][head][dim] instead, pages too */
    const int32_t *lengths;  /* [batch]: keys of each sequence; NULL: `keys` each */
    const int32_t *table;    /* NULL: not paged */
    int64_t page, pages;     /* keys of a page, and pages in k and v */
} lk_attention_decode_desc;
#define LK_ATTENTION_DECODE_DESC(type_, batch_, heads_, keys_, dim_)                               \
    {                                                                                              \
        .type = (type_), .batch = (batch_), .heads = (heads_), .keys = (keys_), .dim = (dim_)      \
    }

lk_status lk_attention_decode(void *stream, const lk_attention_decode_desc *desc, const void *q,
                              const void *k, const void *v, void *o, float *lse, void *workspace,
                              size_t workspace_bytes);
lk_status lk_attention_decode_workspace(const lk_attention_decode_desc *desc, size_t *bytes);
lk_status lk_attention_decode_explain(const lk_attention_decode_desc *desc, char *text,
                                      size_t size);

/* A cache of keys and values in 4 and 8 bits ----------------------------------------------------
 * Keys in FP8 (e4m3), values in NVFP4 (e2m1, an e4m3 scale for 16 numbers), and a float for the
 * keys and one for the values of each head: 12.5 bits a pair where bf16 has 32. Pages are
 * [pages][kv_heads][page][..]; table[b][i] holds keys i * page and on of sequence b, and has
 * (keys + page - 1) / page places a sequence. What table and lengths hold is not checked.
 *
 *     lk_kv_desc desc = LK_KV_DESC(LK_BF16, batch, heads, kv_heads, keys, 128, page, pages);
 *     desc.head_scales = ...; desc.table = ...; desc.lengths = ...; // device memory
 *     lk_kv_bytes(&desc, &k_bytes, &v_bytes, &v_scale_bytes);
 *     lk_kv_append(stream, &desc, 1, new_k, new_v, k, v, v_scales); // lengths count it already
 *     lk_kv_attend(stream, &desc, q, k, v, v_scales, o); */
typedef struct lk_kv_desc {
    lk_type type; /* of q, o, new keys and values: LK_BF16 or LK_F16 */
    int64_t batch;
    int64_t heads, kv_heads;  /* of q; of keys and values: heads is 1 to 8 times as many */
    int64_t keys;             /* of the longest sequence */
    int64_t dim;              /* 64 or 128 */
    int64_t page, pages;      /* keys of a page, a multiple of 16; pages of the cache */
    const float *head_scales; /* [kv_heads][2]: a key's number is its code times the first, a
                                 value's its code times its block's scale times the second */
    const int32_t *table;     /* [batch][(keys + page - 1) / page] */
    const int32_t *lengths;   /* [batch] */
} lk_kv_desc;
#define LK_KV_DESC(type_, batch_, heads_, kv_heads_, keys_, dim_, page_, pages_)                   \
    {                                                                                              \
        .type = (type_), .batch = (batch_), .heads = (heads_), .kv_heads = (kv_heads_),            \
        .keys = (keys_), .dim = (dim_), .page = (page_), .pages = (pages_)                         \
    }

/* new_k and new_v are [batch][tokens][kv_heads][dim]: the last tokens of each sequence. */
lk_status lk_kv_append(void *stream, const lk_kv_desc *desc, int64_t tokens, const void *new_k,
                       const void *new_v, void *k, void *v, void *v_scales);
/* o = softmax(q k^T / sqrt(dim)) v of one query a head; q and o are [batch][heads][dim]. */
lk_status lk_kv_attend(void *stream, const lk_kv_desc *desc, const void *q, const void *k,
                       const void *v, const void *v_scales, void *o);
lk_status lk_kv_bytes(const lk_kv_desc *desc, size_t *k, size_t *v, size_t *v_scales);
lk_status lk_kv_attend_explain(const lk_kv_desc *desc, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
