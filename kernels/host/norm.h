/*
 * norm.h: what the families rmsnorm and layernorm share on the host: parameters, buffers, data,
 * reference, launches and public calls. Their own files have variants, edges and peers.
 */
#ifndef LOCKSTEP_KERNELS_HOST_NORM_H
#define LOCKSTEP_KERNELS_HOST_NORM_H

#include "zoo/zoo.h"

extern const struct zoo_family zoo_rmsnorm, zoo_layernorm;

enum {
    NORM_ROWS,
    NORM_COLS,
    NORM_TYPE,
    NORM_STEP,
    NORM_RESIDUAL,
    NORM_AFFINE,
    NORM_STORE,
    NORM_STATS,
    NORM_EPS,
    NORM_SCALE
};
enum { STEP_FORWARD, STEP_BACKWARD };
enum { AFFINE_YES, AFFINE_NO };
enum { STORE_SAME, STORE_E4M3 };
enum { DIST_UNIFORM, DIST_OFFSET, DIST_HUGE, DIST_TINY, DIST_CONSTANT, DIST_SPECIAL };

/* Everything that a problem may have; norm_list says which, in the order of the buffers. */
enum norm_array {
    NORM_X,
    NORM_RESIDUAL_IN,
    NORM_GAMMA,
    NORM_BETA,
    NORM_DY,
    NORM_DSUM,
    NORM_STATS_IN,
    NORM_Y,
    NORM_SUM,
    NORM_STATS_OUT,
    NORM_DX,
    NORM_DGAMMA,
    NORM_DBETA,
    NORM_ARRAYS
};
unsigned norm_list(const struct zoo_problem *problem, enum norm_array *list);
/* The buffer that an array is; -1: the problem has none. */
int norm_at(const struct zoo_problem *problem, enum norm_array array);

static inline bool norm_is_layer(const struct zoo_problem *problem)
{
    return problem->family == &zoo_layernorm;
}
static inline bool norm_is_backward(const struct zoo_problem *problem)
{
    return problem->value[NORM_STEP] == STEP_BACKWARD;
}
enum zoo_type norm_type(const struct zoo_problem *problem);

/* For the families' declarations. */
#define NORM_PARAMETERS                                                                             \
    {                                                                                               \
        {"rows", "rows", 0, 1 << 27, 1024, NULL}, {"cols", "numbers in a row", 0, 1 << 27, 1024},   \
            {"type", "of the numbers", 0, 2, 0, norm_types},                                        \
            {"step", "forward or backward", 0, 1, 0, norm_steps},                                   \
            {"residual",    "none, or added: x + residual is normalised, and stored", 0, 1, 0,      \
             norm_residuals},                                                                       \
            {"affine", "multiplied by gamma (and beta added), or not", 0, 1, 0, norm_affines},      \
            {"store", "results: in the same type, or as e4m3 times scale", 0, 1, 0, norm_stores},   \
            {"stats", "of each row: not stored, or kept for backward", 0, 1, 0, norm_keeps},        \
            {"eps", "added to the mean of squares", 0, 2 * ZOO_FLOAT, ZOO_FLOAT + 0x3727c5ac, NULL, \
             true},                                                                                 \
            {"scale", "of e4m3 results", 1, 1 << 20, 1, NULL, true},                                \
        {                                                                                           \
            0                                                                                       \
        }                                                                                           \
    }
/* What the families' own declarations have in common. */
#define NORM_FAMILY                                                                                \
    .parameters = NORM_PARAMETERS, .distributions = norm_distributions, .edges = norm_edges,       \
    .bench = norm_bench, .profile = "rows=256 cols=2K", .shape = norm_shape,                       \
    .generate = norm_generate, .reference = norm_reference, .bytes = norm_bytes,                   \
    .flops = norm_flops, .variants = variants, .peers = peers
extern const char *const norm_types[],
    *const norm_steps[], *const norm_residuals[], *const norm_affines[],
                                                      *const norm_stores[],
                                                          *const norm_keeps[],
                                                              *const norm_distributions[];
extern const char *const norm_edges[], *const norm_bench[];
/* Of the variants in norm_variants.inc. */
extern const struct zoo_tunable norm_waves_4[], norm_waves_1[], norm_shared_affine[];
bool norm_torch_takes(const struct zoo_problem *problem);

unsigned norm_shape(const struct zoo_problem *problem, struct zoo_buffer *buffers);
double norm_bytes(const struct zoo_problem *problem);
double norm_flops(const struct zoo_problem *problem);
void norm_generate(const struct zoo_problem *problem, void **buffer);
void norm_reference(const struct zoo_problem *problem, void *const *buffer,
                    struct zoo_expected *expected);

/* Which variants take what. */
bool norm_takes_plain(const struct zoo_problem *problem); /* bf16, forward, affine, usual numbers */
bool norm_takes_forward(const struct zoo_problem *problem);
bool norm_takes_backward(const struct zoo_problem *problem);
bool norm_takes_long_rows(const struct zoo_problem *problem); /* forward, of whole vectors */
bool norm_takes_shared_affine(const struct zoo_problem *problem);
bool norm_takes_plain_rows(const struct zoo_problem *problem);
bool norm_takes_groups(const struct zoo_problem *problem);
bool norm_takes_backward_stages(const struct zoo_problem *problem);
bool norm_takes_backward_groups(const struct zoo_problem *problem);
bool norm_takes_backward_team(const struct zoo_problem *problem);

CUresult norm_launch_plain(struct zoo_call *call);
CUresult norm_launch_registers(struct zoo_call *call);
CUresult norm_launch_stages(struct zoo_call *call);
CUresult norm_launch_shared_affine(struct zoo_call *call);
CUresult norm_launch_plain_rows(struct zoo_call *call);
CUresult norm_launch_groups(struct zoo_call *call);
CUresult norm_launch_parts(struct zoo_call *call);
CUresult norm_launch_passes(struct zoo_call *call);
CUresult norm_launch_gradient_stages(struct zoo_call *call);
CUresult norm_launch_backward_groups(struct zoo_call *call);
CUresult norm_launch_backward_team(struct zoo_call *call);
bool norm_fits_parts(const struct zoo_call *call);
bool norm_fits_shared_affine(const struct zoo_call *call);
bool norm_fits_plain_rows(const struct zoo_call *call);
bool norm_fits_groups(const struct zoo_call *call);
bool norm_fits_stages(const struct zoo_call *call);
size_t norm_workspace_passes(const struct zoo_call *call);
size_t norm_workspace_stages(const struct zoo_call *call);
bool norm_fits_backward_groups(const struct zoo_call *call);
size_t norm_workspace_backward_groups(const struct zoo_call *call);
bool norm_fits_backward_team(const struct zoo_call *call);
size_t norm_workspace_backward_team(const struct zoo_call *call);

#endif
