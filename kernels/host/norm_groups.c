/*
 * norm_groups.c: how many blocks the kernels of rmsnorm and layernorm get whose threads are groups
 * with rows of their own: one block on each SM, which stays.
 */
#include "norm_launch.h"

enum {
    GROUP_SHARED = 1152
}; /* bytes that the kernels have for each group beside its stages, at most */

/* `groups` of `threads` for rows of this length, with `arrays` that wait in shared memory and
 * `fetched` ones in a stage; `other` is what else the stages must have room for, in bytes for a
 * vector. */
struct groups {
    int64_t groups, threads, arrays, fetched, other;
    const char *kernel;
};

static struct norm_staged stage_groups(const struct zoo_call *call, struct groups g)
{
    enum { IDLE = 12 }; /* SMs that clusters of 4 and 8 leave idle: GPCs do not all have as many */
    int64_t rows = call->problem->value[NORM_ROWS], sms = call->device->sm_count;
    int64_t most = g.threads * zoo_tunable(call, "VECTORS"), blocks = 1;
    while (blocks < NORM_MOST_BLOCKS && norm_vectors(call->problem) > blocks * most)
        blocks *= 2;
    int64_t part = (norm_vectors(call->problem) + blocks - 1) / blocks;
    int64_t stages = g.groups * zoo_tunable(call, "STAGES") * g.fetched * NORM_VECTOR;
    int64_t shared = (g.arrays * NORM_VECTOR + (stages > g.other ? stages : g.other)) * part;
    bool fits = part <= most && shared + g.groups * GROUP_SHARED <= call->device->shared_per_block;
    int64_t clusters = (sms - (blocks > 2 && sms > 8 * blocks ? IDLE : 0)) / blocks;
    int64_t wanted = (rows + g.groups - 1) / g.groups;
    clusters = clusters < wanted ? clusters : wanted;
    return (struct norm_staged){.blocks = (unsigned)blocks,
                                .threads = (unsigned)(g.groups * g.threads),
                                .shared = fits ? (unsigned)shared : 0,
                                .clusters = clusters > 0 ? (unsigned)clusters : 1,
                                .kernel = g.kernel};
}

static struct norm_staged forward_groups(const struct zoo_call *call)
{
    struct groups g = {.groups = zoo_tunable(call, "GROUPS"),
                       .threads = zoo_tunable(call, "THREADS"),
                       .arrays = norm_is_layer(call->problem) ? 2 : 1,
                       .fetched = 1,
                       .kernel = "groups"};
    struct norm_staged s = stage_groups(call, g);
    if (s.shared > 0)
        return s;
    g.groups /= 2, g.threads *= 2, g.kernel = "wide";
    return stage_groups(call, g);
}

bool norm_fits_groups(const struct zoo_call *call)
{
    return forward_groups(call).shared > 0 || norm_has_nothing_to_do(call->problem);
}

CUresult norm_launch_groups(struct zoo_call *call)
{
    return norm_launch_staged_forward(call, forward_groups(call));
}

/* Where the stages were, sums of the groups are added up. */
static struct norm_staged backward_groups(const struct zoo_call *call)
{
    int64_t numbers = NORM_VECTOR / zoo_type_bytes[norm_type(call->problem)];
    struct groups g = {.groups = zoo_tunable(call, "GROUPS"),
                       .threads = zoo_tunable(call, "THREADS"),
                       .arrays = 1,
                       .fetched = 2,
                       .kernel = "groups"};
    g.other = g.groups * numbers * (int64_t)sizeof(float) * (norm_is_layer(call->problem) ? 2 : 1);
    return stage_groups(call, g);
}

bool norm_fits_backward_groups(const struct zoo_call *call)
{
    return backward_groups(call).shared > 0 || norm_has_nothing_to_do(call->problem);
}

size_t norm_workspace_backward_groups(const struct zoo_call *call)
{
    return norm_partial_bytes(call->problem, backward_groups(call).clusters);
}

CUresult norm_launch_backward_groups(struct zoo_call *call)
{
    return norm_launch_staged_backward(call, backward_groups(call));
}
