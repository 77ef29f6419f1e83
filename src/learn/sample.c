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

/* The machine runs blocks in four rows, a quarter of the grid apart (LOCKSTEP_SAMPLE). */
enum { STRETCHES = 4, STRETCH = 1 << 16 };
struct stretch {
    size_t from, to;
};

static struct stretch stretch_of(const struct learn_problem *problem, unsigned size, unsigned which,
                                 size_t count)
{
    if (problem->size[size] != problem->huge)
        return (struct stretch){which ? count : 0, count};
    size_t middle = count / STRETCHES * which;
    size_t from = middle < STRETCH / 2 ? 0 : middle - STRETCH / 2;
    return (struct stretch){from, count - from < STRETCH ? count : from + STRETCH};
}

void problem_fill_huge(const struct learn_problem *problem, unsigned size, unsigned buffer,
                       size_t count, void *data)
{
    size_t bytes = zoo_type_bytes[problem->buffer[buffer].type];
    for (unsigned s = 0; s < STRETCHES; s++) {
        struct stretch part = stretch_of(problem, size, s, count);
        char *at = (char *)data + part.from * bytes;
        if (problem->buffer[buffer].role == ZOO_OUT)
            memset(at, 0xff, (part.to - part.from) * bytes);
        else
            problem_fill(problem, size, buffer, part.to - part.from, at);
    }
}

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
                        struct stretch part, const void *result, struct lk_buf *text)
{
    const struct learn_buffer *buffer = &problem->buffer[rule->array];
    const struct expression_array *array = &state->array[rule->array];
    const char *before = buffer->role == ZOO_IN_OUT ? array->data : NULL;
    unsigned bytes = zoo_type_bytes[buffer->type];
    size_t written = 0, seen = 0;
    for (size_t i = part.from; i < part.to; i++)
        written += is_touched(result, before, i, bytes);
    size_t step = (written / SAMPLED + 1) | 1; /* odd, so that elements of all columns come */
    for (size_t i = part.from; i < part.to && state->steps < SAMPLE_STEPS; i++) {
        if (!is_touched(result, before, i, bytes) || seen++ % step != 0)
            continue;
        double expected = problem_evaluate(rule, buffer->rank, state, i);
        double value = zoo_get(buffer->type, result, i);
        if (state->error ||
            problem_agrees(value, expected,
                           problem->tolerance * fmax(problem->floor, fabs(expected))))
            continue;
        lk_buf_printf(text, "wrong result for %s, %s: ", problem->size[size],
                      problem->size[size] == problem->huge ? "of which a few blocks are run"
                                                           : "whose time is modelled");
        problem_print_place(buffer, array->extent, i, text);
        lk_buf_printf(text, " must be %.9g, but it is %.9g", expected, value);
        return false;
    }
    return true;
}

/* Elements near the place where one of the four rows of blocks writes. */
static size_t written_near(const struct learn_buffer *buffer, const void *before, unsigned which,
                           size_t count, const void *result)
{
    size_t middle = count / STRETCHES * which, apart = count / 16, written = 0;
    apart = apart < STRETCH / 2 ? apart : STRETCH / 2;
    for (size_t i = middle < apart ? 0 : middle - apart; i < count && i < middle + apart; i++)
        written += is_touched(result, before, i, zoo_type_bytes[buffer->type]);
    return written;
}

/* With numbers of blocks in 16 bits the last of the four rows writes where a first one has. */
static bool is_last_row_missing(const struct learn_problem *problem, unsigned size, unsigned output,
                                const void *before, size_t count, const void *result,
                                struct lk_buf *text)
{
    const struct learn_buffer *buffer = &problem->buffer[output];
    size_t third = written_near(buffer, before, 2, count, result);
    if (problem->size[size] != problem->huge || third == 0 ||
        third < written_near(buffer, before, 1, count, result) ||
        written_near(buffer, before, 3, count, result) > 0)
        return false;
    lk_buf_printf(text,
                  "wrong result for %s, of which a few blocks are run: those in the last quarter "
                  "of the grid have written nothing to their part of %s; are their numbers kept "
                  "in 16 bits?",
                  problem->size[size], buffer->name);
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
        before[b] = lk_alloc_zeroed(count * zoo_type_bytes[array->type] + 1);
        if (problem->size[size] == problem->huge)
            problem_fill_huge(problem, size, b, count, before[b]);
        else
            problem_fill(problem, size, b, count, before[b]);
        array->data = before[b];
    }
    for (unsigned r = 0; r < problem->rule_count && right && !message; r++) {
        const struct expression_array *array = &state.array[problem->rule[r].array];
        size_t count = 1;
        for (unsigned i = 0; i < array->rank; i++)
            count *= array->extent[i];
        right = !is_last_row_missing(problem, size, problem->rule[r].array,
                                     before[problem->rule[r].array], count,
                                     result[problem->rule[r].array], text);
        for (unsigned s = 0; s < STRETCHES && right; s++) {
            state.steps = 0;
            right = verify_some(problem, size, &problem->rule[r], &state,
                                stretch_of(problem, size, s, count), result[problem->rule[r].array],
                                text);
        }
    }
    for (unsigned b = 0; b < problem->buffer_count; b++)
        free(before[b]);
    free(message);
    return right;
}
