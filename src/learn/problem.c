/*
 * problem.c: data, reference, launch and comparison of one size of an exercise; see problem.h.
 */
#include "learn/problem.h"

#include "learn/compile.h"
#include "learn/peaks.h"
#include "learn/problem_parts.h"
#include "learn/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ELEMENTS ((size_t)1 << 27)

/* Data ------------------------------------------------------------------------------------------*/

struct expression_state problem_state(const struct learn_problem *problem, unsigned size)
{
    struct expression_state state = {0};
    memcpy(state.variable, problem->value[size], sizeof state.variable);
    return state;
}

bool problem_extents(const struct learn_problem *problem, unsigned size, unsigned buffer,
                     size_t extent[EXPRESSION_RANK], size_t *count, char **message)
{
    const struct learn_buffer *of = &problem->buffer[buffer];
    struct expression_state state = problem_state(problem, size);
    *count = 1;
    for (unsigned i = 0; i < of->rank; i++) {
        double value = expression_eval(of->extent[i], &state);
        if (state.error || !(value >= 0) || value != floor(value) ||
            value * (double)*count > (double)MOST_ELEMENTS) {
            *message =
                lk_format("%s: extent %u of %s is %g", problem->size[size], i, of->name, value);
            return false;
        }
        extent[i] = (size_t)value;
        *count *= extent[i];
    }
    return true;
}

static bool allocate(struct zoo_instance *instance, unsigned i)
{
    struct zoo_buffer *buffer = &instance->buffer[i];
    struct zoo_expected *expected = &instance->expected[i];
    instance->host[i] = malloc(zoo_buffer_bytes(buffer) + 16);
    if (buffer->role == ZOO_IN)
        return instance->host[i] != NULL;
    expected->count = buffer->count;
    expected->value = calloc(buffer->count + 1, sizeof(double));
    expected->bound = calloc(buffer->count + 1, sizeof(double));
    return instance->host[i] && expected->value && expected->bound;
}

double problem_evaluate(const struct expression_rule *rule, unsigned rank,
                        struct expression_state *state, size_t at)
{
    const size_t *extent = state->array[rule->array].extent;
    state->seen_count = 0;
    state->saw_others = false;
    for (unsigned i = rank; i-- > 0;) {
        state->variable[rule->index[i]] = (double)(at % extent[i]);
        at /= extent[i];
    }
    return expression_eval(rule->value, state);
}

/* The values of one of the reference's own arrays, malloc'd. */
static double *compute_step(const struct learn_problem *problem, unsigned array, size_t count,
                            struct expression_state *state)
{
    double *value = lk_alloc((count + 1) * sizeof *value);
    const struct expression_rule *rule = &problem->step[array - problem->buffer_count];
    for (size_t i = 0; i < count; i++)
        value[i] = state->error ? 0 : problem_evaluate(rule, problem->buffer[array].rank, state, i);
    return value;
}

/* Numbers of 16 bits as floats, so that each is converted once, however often a sum reads it. */
static void widen(const struct learn_buffer *buffer, size_t count, struct expression_array *array)
{
    float *wide = (buffer->type == ZOO_F16 || buffer->type == ZOO_BF16) && buffer->role != ZOO_OUT
                      ? malloc(count * sizeof(float) + 1)
                      : NULL;
    for (size_t i = 0; wide && i < count; i++)
        wide[i] = (float)zoo_get(array->type, array->data, i);
    if (wide) {
        array->data = wide;
        array->type = ZOO_F32;
    }
}

static void free_state(const struct learn_problem *problem, struct expression_state *state)
{
    for (unsigned i = 0; i < problem->buffer_count + problem->step_count; i++)
        if (i >= problem->buffer_count || state->array[i].type != problem->buffer[i].type)
            free((void *)state->array[i].data);
}

static bool make_state(const struct learn_problem *problem, unsigned size,
                       const struct zoo_instance *instance, struct expression_state *state,
                       char **message)
{
    size_t count;
    *state = problem_state(problem, size);
    for (unsigned b = 0; b < problem->buffer_count + problem->step_count; b++) {
        struct expression_array *array = &state->array[b];
        if (!problem_extents(problem, size, b, array->extent, &count, message)) {
            free_state(problem, state);
            return false;
        }
        array->type = problem->buffer[b].type;
        array->data = b < problem->buffer_count ? instance->host[b] : NULL;
        if (b >= problem->buffer_count)
            array->data = compute_step(problem, b, count, state);
        else
            widen(&problem->buffer[b], count, array);
    }
    return true;
}

static bool compute_reference(const struct learn_problem *problem, unsigned size,
                              struct zoo_instance *instance, char **message)
{
    struct expression_state state;
    if (!make_state(problem, size, instance, &state, message))
        return false;
    for (unsigned r = 0; r < problem->rule_count; r++) {
        const struct expression_rule *rule = &problem->rule[r];
        struct zoo_expected *expected = &instance->expected[rule->array];
        for (size_t i = 0; i < expected->count && !state.error; i++) {
            double value = problem_evaluate(rule, problem->buffer[rule->array].rank, &state, i);
            expected->value[i] = value;
            expected->bound[i] =
                problem->is_copy ? 0 : problem->tolerance * fmax(problem->floor, fabs(value));
        }
    }
    free_state(problem, &state);
    if (state.error)
        *message = lk_format("%s: the reference fails: %s", problem->size[size], state.error);
    return !state.error;
}

bool problem_shape(const struct learn_problem *problem, unsigned size, struct zoo_buffer *shape,
                   char **message)
{
    if (problem->family) {
        problem->family->shape(&problem->instance[size], shape);
        return true;
    }
    for (unsigned i = 0; i < problem->buffer_count; i++) {
        size_t extent[EXPRESSION_RANK], count;
        if (!problem_extents(problem, size, i, extent, &count, message))
            return false;
        shape[i] = (struct zoo_buffer){problem->buffer[i].name, problem->buffer[i].role,
                                       problem->buffer[i].type, count};
    }
    return true;
}

bool problem_make(const struct learn_problem *problem, unsigned size, struct zoo_instance *instance,
                  char **message)
{
    if (problem->family)
        return zoo_instance_make(instance, &problem->instance[size], true, message);
    *instance = (struct zoo_instance){.has_reference = true};
    for (unsigned i = 0; i < problem->buffer_count; i++) {
        struct zoo_buffer *buffer = &instance->buffer[i];
        size_t extent[EXPRESSION_RANK], count;
        if (!problem_extents(problem, size, i, extent, &count, message))
            goto failed;
        *buffer = (struct zoo_buffer){problem->buffer[i].name, problem->buffer[i].role,
                                      problem->buffer[i].type, count};
        instance->count++;
        if (!allocate(instance, i)) {
            *message = lk_format("%s: too little memory here", problem->size[size]);
            goto failed;
        }
        unsigned rank = problem->buffer[i].rank;
        size_t longest = 0;
        for (unsigned j = 0; j < rank; j++)
            longest = extent[j] > longest ? extent[j] : longest;
        values_fill(&problem->buffer[i], problem->seed[size], i, values_change(problem, size, i),
                    rank > 1 ? extent[rank - 1] : VALUES_RUN, longest, instance->host[i], count);
        peaks_put(problem, size, i, instance->host[i], count);
    }
    if (compute_reference(problem, size, instance, message))
        return true;
failed:
    zoo_instance_free(instance);
    return false;
}

/* Launch ----------------------------------------------------------------------------------------*/

unsigned problem_argument_bytes(const struct learn_argument *argument)
{
    if (argument->kind == LEARN_MAP)
        return sizeof(CUtensorMap);
    return argument->kind == LEARN_INT || argument->kind == LEARN_FLOAT ? 4 : 8;
}

static bool dimension(struct expression *formula, struct expression_state *state, unsigned *value)
{
    double number = formula ? expression_eval(formula, state) : 1;
    *value = number >= 0 && number <= 2147483647.0 ? (unsigned)number : 0;
    return !state->error && *value > 0 && number == floor(number);
}

/* A row-major matrix in tiles that lie in shared memory row by row. */
static bool make_map(const struct lk_driver *cuda, const struct learn_problem *problem,
                     unsigned size, const struct learn_argument *argument, CUdeviceptr at,
                     CUtensorMap *map, char **message)
{
    enum zoo_type type = problem->buffer[argument->buffer].type;
    size_t extent[EXPRESSION_RANK], count;
    if (!problem_extents(problem, size, argument->buffer, extent, &count, message))
        return false;
    cuuint64_t dim[2] = {extent[1], extent[0]}, pitch[1] = {zoo_type_bytes[type] * extent[1]};
    cuuint32_t box[2] = {argument->box[1], argument->box[0]}, step[2] = {1, 1};
    CUresult status =
        cuda->cuTensorMapEncodeTiled
            ? cuda->cuTensorMapEncodeTiled(
                  map,
                  type == ZOO_F16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                  : CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                  2, (void *)(uintptr_t)at, dim, pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  argument->is_swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
            : CUDA_ERROR_NOT_SUPPORTED;
    if (status != CUDA_SUCCESS)
        *message = lk_format("%s: no tensor map for '%s': rows must be multiples of 16 bytes",
                             problem->size[size], argument->text);
    return status == CUDA_SUCCESS;
}

/* What Triton has chosen for a kernel, and the two pointers to scratch memory that it always takes:
 * its own, of which each program has a part, and that of Triton's profiler, which is not used. */
static void take_own(const struct learn_exercise *exercise, const struct compile_launch *own,
                     struct problem_launch *launch)
{
    static CUdeviceptr none;
    for (unsigned i = 0; i < exercise->argument_count; i++) {
        unsigned kind = exercise->argument[i].kind;
        if (kind == LEARN_INT || kind == LEARN_LONG)
            launch->is_ragged |= compile_is_ragged(
                own, i, kind == LEARN_INT ? launch->value[i].i32 : launch->value[i].i64);
    }
    bool ragged = launch->is_ragged && own->ragged;
    launch->argument[exercise->argument_count] = &launch->scratch;
    launch->argument[exercise->argument_count + 1] = &none;
    launch->block[0] = 32 * own->warps;
    launch->shared = compile_shared(own, ragged);
    launch->scratch_bytes =
        (size_t)launch->grid[0] * launch->grid[1] * launch->grid[2] * compile_scratch(own, ragged);
}

bool problem_launch(const struct lk_driver *cuda, const struct learn_exercise *exercise,
                    unsigned size, const struct compile_launch *own, const CUdeviceptr *buffers,
                    struct problem_launch *launch, char **message)
{
    struct expression_state state = problem_state(&exercise->problem, size);
    bool fine = true;
    *launch = (struct problem_launch){.cluster = exercise->cluster};
    for (unsigned i = 0; own && i < exercise->constant_count; i++)
        state.variable[exercise->problem.names.variable_count + i] =
            compile_constant(own, exercise->constant[i]);
    for (unsigned i = 0; i < 3; i++)
        fine = fine && dimension(exercise->grid[i], &state, &launch->grid[i]) &&
               dimension(exercise->block[i], &state, &launch->block[i]);
    if (fine && exercise->shared)
        fine = dimension(exercise->shared, &state, &launch->shared);
    if (!fine) {
        *message = lk_format(own ? "%s: there is no grid for these constants"
                                 : "%s: the lesson's launch makes no sense",
                             exercise->problem.size[size]);
        return false;
    }
    for (unsigned i = 0; i < exercise->argument_count; i++) {
        const struct learn_argument *argument = &exercise->argument[i];
        double value = argument->value ? expression_eval(argument->value, &state) : 0;
        launch->argument[i] = &launch->value[i];
        if (argument->kind == LEARN_MAP) {
            if (!make_map(cuda, &exercise->problem, size, argument, buffers[argument->buffer],
                          &launch->value[i].map, message))
                return false;
        } else if (argument->kind == LEARN_BUFFER)
            launch->value[i].pointer = buffers[argument->buffer];
        else if (argument->kind == LEARN_INT)
            launch->value[i].i32 = (int32_t)value;
        else if (argument->kind == LEARN_LONG)
            launch->value[i].i64 = (int64_t)value;
        else if (argument->kind == LEARN_FLOAT)
            launch->value[i].f32 = (float)value;
        else
            launch->value[i].f64 = value;
    }
    if (own)
        take_own(exercise, own, launch);
    return true;
}

CUresult problem_start(const struct lk_driver *cuda, CUfunction function,
                       const struct problem_launch *launch)
{
    if (launch->cluster > 1) {
        CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                       .value.clusterDim = {launch->cluster, 1, 1}};
        CUlaunchConfig config = {launch->grid[0],  launch->grid[1],
                                 launch->grid[2],  launch->block[0],
                                 launch->block[1], launch->block[2],
                                 launch->shared,   NULL,
                                 &attribute,       1};
        return cuda->cuLaunchKernelEx(&config, function, (void **)launch->argument, NULL);
    }
    return cuda->cuLaunchKernel(function, launch->grid[0], launch->grid[1], launch->grid[2],
                                launch->block[0], launch->block[1], launch->block[2],
                                launch->shared, NULL, (void **)launch->argument, NULL);
}

/* Comparison ------------------------------------------------------------------------------------*/

void problem_print_place(const struct learn_buffer *buffer, const size_t *extent, size_t at,
                         struct lk_buf *text)
{
    size_t index[EXPRESSION_RANK] = {at};
    unsigned rank = buffer->rank ? buffer->rank : 1;
    for (unsigned i = rank; buffer->rank && i-- > 0;) {
        index[i] = at % extent[i];
        at /= extent[i];
    }
    lk_buf_printf(text, "%s", buffer->name);
    for (unsigned i = 0; i < rank; i++)
        lk_buf_printf(text, "[%zu]", index[i]);
}

static bool is_unwritten(enum zoo_type type, const void *data, size_t index)
{
    const unsigned char *bytes = (const unsigned char *)data + index * zoo_type_bytes[type];
    for (unsigned i = 0; i < zoo_type_bytes[type]; i++)
        if (bytes[i] != bytes[0])
            return false;
    return bytes[0] == 0xff || bytes[0] == PROBLEM_DRAWN_FILL;
}

bool problem_agrees(double value, double expected, double bound)
{
    if (isnan(expected))
        return isnan(value);
    if (isinf(expected) || isnan(value) || isinf(value))
        return value == expected;
    return fabs(value - expected) <= bound;
}

/* A copy of -0 is -0. */
static bool agrees(const struct learn_problem *problem, double value,
                   const struct zoo_expected *expected, size_t at)
{
    return problem_agrees(value, expected->value[at], expected->bound[at]) &&
           !(problem->is_copy && value == 0 && signbit(value) != signbit(expected->value[at]));
}

/* What went into an element of the lesson's own problem: "(a[3] = 0.25, b[3] = 2)". */
static void print_inputs(const struct learn_problem *problem, unsigned size,
                         const struct zoo_instance *instance, unsigned output, size_t at,
                         struct lk_buf *text)
{
    struct expression_state state;
    char *message = NULL;
    if (problem->family || !make_state(problem, size, instance, &state, &message)) {
        free(message);
        return;
    }
    for (unsigned r = 0; r < problem->rule_count; r++)
        if (problem->rule[r].array == output)
            problem_evaluate(&problem->rule[r], problem->buffer[output].rank, &state, at);
    for (unsigned i = 0; i < state.seen_count; i++) {
        unsigned input = state.seen[i].array;
        lk_buf_printf(text, i ? ", " : " from ");
        problem_print_place(&problem->buffer[input], state.array[input].extent, state.seen[i].at,
                            text);
        lk_buf_printf(text, " = %.9g",
                      zoo_get(state.array[input].type, state.array[input].data, state.seen[i].at));
    }
    if (state.saw_others)
        lk_buf_printf(text, " and others");
    free_state(problem, &state);
}

static bool verify_output(const struct learn_problem *problem, unsigned size,
                          const struct zoo_instance *instance, unsigned output, const void *data,
                          struct lk_buf *text)
{
    const struct zoo_expected *expected = &instance->expected[output];
    const struct zoo_buffer *buffer = &instance->buffer[output];
    size_t wrong = 0, first = 0, extent[EXPRESSION_RANK] = {0}, count;
    char *message = NULL;
    for (size_t i = 0; i < expected->count; i++)
        if (!agrees(problem, zoo_get(buffer->type, data, i), expected, i) && wrong++ == 0)
            first = i;
    if (!wrong)
        return true;
    if (!problem->family)
        problem_extents(problem, size, output, extent, &count, &message);
    lk_buf_printf(text, "wrong result for %s: ", problem->size[size]);
    problem_print_place(&problem->buffer[output], extent, first, text);
    lk_buf_printf(text, " must be %.9g", expected->value[first]);
    print_inputs(problem, size, instance, output, first, text);
    if (buffer->role == ZOO_OUT && is_unwritten(buffer->type, data, first))
        lk_buf_printf(text, ", but it was never written");
    else
        lk_buf_printf(text, ", but it is %.9g", zoo_get(buffer->type, data, first));
    lk_buf_printf(text, "; %zu of %zu are wrong", wrong, expected->count);
    return false;
}

static bool verify_input(const struct learn_problem *problem, unsigned size,
                         const struct zoo_instance *instance, unsigned input, const void *data,
                         struct lk_buf *text)
{
    size_t bytes = zoo_buffer_bytes(&instance->buffer[input]);
    if (bytes == 0 || memcmp(instance->host[input], data, bytes) == 0)
        return true;
    lk_buf_printf(text, "wrong result for %s: %s is an input, and the kernel has changed it",
                  problem->size[size], instance->buffer[input].name);
    return false;
}

bool problem_verify(const struct learn_problem *problem, unsigned size,
                    const struct zoo_instance *instance, void *const *result, struct lk_buf *text)
{
    for (unsigned i = 0; i < instance->count; i++)
        if (instance->buffer[i].role != ZOO_IN &&
            !verify_output(problem, size, instance, i, result[i], text))
            return false;
    for (unsigned i = 0; i < instance->count; i++)
        if (instance->buffer[i].role == ZOO_IN &&
            !verify_input(problem, size, instance, i, result[i], text))
            return false;
    return true;
}
