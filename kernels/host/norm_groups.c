/*
 * norm_groups.c: how many blocks the kernels of rmsnorm and layernorm get whose threads are groups with
 * rows of their own: one block on each SM, which stays.
 */
#include "norm_launch.h"

enum { GROUP_SHARED = 1152 }; /* bytes that the kernels have for each group beside its stages, at most */

/* Blocks of groups, one on each SM. `arrays` are those that wait in shared memory, `fetched` those of a
 * group's stage. */
static struct norm_staged stage_groups(const struct zoo_call *call, int64_t arrays, int64_t fetched)
{
    enum { IDLE = 12 }; /* SMs that clusters of 4 and 8 leave idle: GPCs do not all have as many */
    int64_t groups = zoo_tunable(call, "GROUPS"), threads = zoo_tunable(call, "THREADS");
    int64_t vectors = norm_vectors(call->problem), rows = call->problem->value[NORM_ROWS];
    int64_t sms = call->device->sm_count, part;
    struct norm_staged s = {.blocks = 1, .threads = (unsigned)(groups * threads), .kernel = "groups"};
    while (part = (vectors + s.blocks - 1) / s.blocks,
           s.blocks < NORM_MOST_BLOCKS && part > threads * zoo_tunable(call, "VECTORS"))
        s.blocks *= 2;
    int64_t shared = (arrays + groups * zoo_tunable(call, "STAGES") * fetched) * part * NORM_VECTOR;
    bool fits = part <= threads * zoo_tunable(call, "VECTORS") &&
                shared + groups * GROUP_SHARED <= call->device->shared_per_block;
    int64_t most = (sms - (s.blocks > 2 && sms > 8 * s.blocks ? IDLE : 0)) / s.blocks;
    most = most > 0 ? most : 1;
    s.shared = fits ? (unsigned)shared : 0;
    s.clusters = (unsigned)(rows < most ? rows : most);
    return s;
}

static struct norm_staged forward_groups(const struct zoo_call *call)
{
    return stage_groups(call, norm_is_layer(call->problem) ? 2 : 1, 1);
}

bool norm_fits_groups(const struct zoo_call *call)
{
    return forward_groups(call).shared > 0 || norm_has_nothing_to_do(call->problem);
}

CUresult norm_launch_groups(struct zoo_call *call)
{
    return norm_launch_staged_forward(call, forward_groups(call));
}

/* The stages, which are x and dy, also have room for the sums of the groups. */
static struct norm_staged backward_groups(const struct zoo_call *call)
{
    struct norm_staged s = stage_groups(call, 1, 2);
    int64_t each = zoo_type_bytes[norm_type(call->problem)];
    int64_t stages = 2 * zoo_tunable(call, "STAGES") * each;
    if (stages < (norm_is_layer(call->problem) ? 2 : 1) * (int64_t)sizeof(float))
        s.shared = 0;
    return s;
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
