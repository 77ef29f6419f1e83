/*
 * sample.c: some results of the large size are compared, so that a kernel cannot do something else
 * there, where its time is taken. Only the blocks that were run have written anything; a reference
 * of all elements would take seconds.
 */
#include "learn/problem.h"

#include "learn/problem_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLED = 24, SAMPLE_STEPS = 2000000 };

static bool is_touched(const char *now, const char *before, size_t at, unsigned bytes)
{
    static const char unwritten[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return memcmp(now + at * bytes, before ? before + at * bytes : unwritten, bytes) != 0;
}

/* An element of one of the reference's own arrays. The one asked for last is kept: a row's sum is
 * needed for each of its elements. */
static double compute(struct expression_state *state, unsigned which, size_t at)
{
    struct expression_array *array = &state->array[which];
    double outer[EXPRESSION_VARIABLES];
    if (array->last_at == at + 1)
        return array->last;
    memcpy(outer, state->variable, sizeof outer);
    array->last_at = at + 1;
    for (unsigned i = array->rank; i-- > 0; at /= array->extent[i])
        state->variable[array->rule->index[i]] = (double)(at % array->extent[i]);
    array->last = expression_eval(array->rule->value, state);
    memcpy(state->variable, outer, sizeof outer);
    return array->last;
}

/* Some of the elements of a buffer that were written. */
static bool verify_some(const struct learn_problem *problem, unsigned size,
                        const struct expression_rule *rule, struct expression_state *state,
                        const void *result, struct lk_buf *text)
{
    const struct learn_buffer *buffer = &problem->buffer[rule->array];
    const struct expression_array *array = &state->array[rule->array];
    const char *before = buffer->role == ZOO_IN_OUT ? array->data : NULL;
    unsigned bytes = zoo_type_bytes[buffer->type];
    size_t count = 1, written = 0, seen = 0;
    for (unsigned i = 0; i < buffer->rank; i++)
        count *= array->extent[i];
    for (size_t i = 0; i < count; i++)
        written += is_touched(result, before, i, bytes);
    for (size_t i = 0; i < count && state->steps < SAMPLE_STEPS; i++) {
        if (!is_touched(result, before, i, bytes) || seen++ % (written / SAMPLED + 1) != 0)
            continue;
        double expected = problem_evaluate(rule, buffer->rank, state, i);
        double value = zoo_get(buffer->type, result, i);
        if (state->error ||
            problem_agrees(value, expected,
                           problem->tolerance * fmax(problem->floor, fabs(expected))))
            continue;
        lk_buf_printf(text, "wrong result for %s, whose time is modelled: ", problem->size[size]);
        problem_print_place(buffer, array->extent, i, text);
        lk_buf_printf(text, " must be %.9g, but it is %.9g", expected, value);
        return false;
    }
    return true;
}

bool problem_verify_some(const struct learn_problem *problem, unsigned size, void *const *result,
                         struct lk_buf *text)
{
    struct expression_state state = problem_state(problem, size);
    void *before[ZOO_BUFFERS] = {0};
    char *message = NULL;
    bool right = true;
    for (unsigned b = 0; b < problem->buffer_count + problem->step_count && !message; b++) {
        struct expression_array *array = &state.array[b];
        bool is_step = b >= problem->buffer_count;
        size_t count;
        if (!problem_extents(problem, size, b, array->extent, &count, &message))
            break;
        array->type = problem->buffer[b].type;
        array->rank = problem->buffer[b].rank;
        array->rule = is_step ? &problem->step[b - problem->buffer_count] : NULL;
        array->compute = is_step ? compute : NULL;
        array->data = is_step ? NULL : result[b];
        if (is_step || problem->buffer[b].role != ZOO_IN_OUT)
            continue;
        before[b] = lk_alloc(count * zoo_type_bytes[array->type] + 1);
        problem_fill(problem, size, b, count, before[b]);
        array->data = before[b];
    }
    for (unsigned r = 0; r < problem->rule_count && right && !message; r++) {
        state.steps = 0;
        right = verify_some(problem, size, &problem->rule[r], &state,
                            result[problem->rule[r].array], text);
    }
    for (unsigned b = 0; b < problem->buffer_count; b++)
        free(before[b]);
    free(message);
    return right;
}
