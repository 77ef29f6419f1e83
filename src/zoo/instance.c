/*
 * instance.c: problems with data, on the host and on a device; see instance.h.
 */
#include "zoo/instance.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POISON = 0xff };
enum { GUARD = ZOO_GUARD };

/* On the host -----------------------------------------------------------------------------------*/

static bool allocate(struct zoo_instance *instance, unsigned i, bool with_reference)
{
    const struct zoo_buffer *buffer = &instance->buffer[i];
    instance->host[i] = malloc(zoo_buffer_bytes(buffer) + 16);
    if (!instance->host[i])
        return false;
    if (!with_reference || buffer->role == ZOO_IN)
        return true;
    struct zoo_expected *expected = &instance->expected[i];
    expected->count = buffer->count;
    expected->value = calloc(buffer->count + 1, sizeof(double));
    expected->bound = calloc(buffer->count + 1, sizeof(double));
    return expected->value && expected->bound;
}

bool zoo_instance_make(struct zoo_instance *instance, const struct zoo_problem *problem,
                       bool with_reference, char **message)
{
    const struct zoo_family *family = problem->family;
    *instance = (struct zoo_instance){.problem = *problem, .has_reference = with_reference};
    *message = NULL;
    instance->count = family->shape(problem, instance->buffer);
    for (unsigned i = 0; i < instance->count; i++)
        if (!allocate(instance, i, with_reference)) {
            struct lk_buf text = {0};
            lk_buf_printf(&text, "%s: too little memory here for ", family->name);
            zoo_problem_print(problem, &text);
            *message = text.data;
            zoo_instance_free(instance);
            return false;
        }
    family->generate(problem, instance->host);
    if (with_reference)
        family->reference(problem, instance->host, instance->expected);
    return true;
}

void zoo_instance_free(struct zoo_instance *instance)
{
    for (unsigned i = 0; i < instance->count; i++) {
        free(instance->host[i]);
        free(instance->expected[i].value);
        free(instance->expected[i].bound);
    }
    instance->count = 0;
}

static bool is_poison(enum zoo_type type, const void *data, size_t index)
{
    static const unsigned char poison[8] = {POISON, POISON, POISON, POISON,
                                            POISON, POISON, POISON, POISON};
    unsigned size = zoo_type_bytes[type];
    return memcmp((const char *)data + index * size, poison, size) == 0;
}

/* NaN must meet NaN, an infinity itself; what was never written does not count as NaN. */
static bool agrees(enum zoo_type type, const void *data, size_t index, double expected,
                   double bound)
{
    double value = zoo_get(type, data, index);
    if (isnan(expected))
        return isnan(value) && !is_poison(type, data, index);
    if (isinf(bound) && !isinf(expected))
        return !is_poison(type, data, index);
    if (isinf(expected) || isnan(value) || isinf(value))
        return value == expected;
    return fabs(value - expected) <= bound;
}

static bool verify_buffer(const struct zoo_buffer *buffer, const struct zoo_expected *expected,
                          const void *data, double leeway, struct lk_buf *text)
{
    size_t wrong = 0, first = SIZE_MAX;
#pragma omp parallel for schedule(static) reduction(+ : wrong) reduction(min : first)              \
    if (expected->count > 100000)
    for (size_t i = 0; i < expected->count; i++)
        if (!agrees(buffer->type, data, i, expected->value[i], leeway * expected->bound[i])) {
            wrong++;
            first = i < first ? i : first;
        }
    if (wrong) {
        lk_buf_printf(text, "%s[%zu] is %.9g, must be %.9g", buffer->name, first,
                      zoo_get(buffer->type, data, first), expected->value[first]);
        if (expected->bound[first] > 0)
            lk_buf_printf(text, " within %.2g", leeway * expected->bound[first]);
        if (is_poison(buffer->type, data, first))
            lk_buf_printf(text, " (it was not written)");
        lk_buf_printf(text, "; %zu of %zu are wrong", wrong, expected->count);
        return false;
    }
#pragma omp parallel for schedule(static) reduction(min : first) if (buffer->count > 100000)
    for (size_t i = expected->count; i < buffer->count; i++)
        if (!is_poison(buffer->type, data, i))
            first = i < first ? i : first;
    if (first != SIZE_MAX)
        lk_buf_printf(text, "%s[%zu] was written, and only %zu elements should be", buffer->name,
                      first, expected->count);
    return first == SIZE_MAX;
}

/* Are these the right outputs? result[i] is buffer i; false and a malloc'd message if not. */
static bool verify(const struct zoo_instance *instance, void *const *result, double leeway,
                   char **message)
{
    struct lk_buf text = {0};
    *message = NULL;
    for (unsigned i = 0; i < instance->count; i++)
        if (instance->buffer[i].role != ZOO_IN &&
            !verify_buffer(&instance->buffer[i], &instance->expected[i], result[i], leeway,
                           &text)) {
            *message = text.data;
            return false;
        }
    return true;
}

bool zoo_instance_run_cpu(const struct zoo_instance *instance, const struct zoo_variant *variant,
                          char **message)
{
    void *copy[ZOO_BUFFERS] = {0};
    for (unsigned i = 0; i < instance->count; i++) {
        size_t size = zoo_buffer_bytes(&instance->buffer[i]);
        copy[i] = malloc(size + 16);
        if (!copy[i])
            abort();
        if (instance->buffer[i].role == ZOO_OUT)
            memset(copy[i], POISON, size);
        else
            memcpy(copy[i], instance->host[i], size);
    }
    variant->cpu(&instance->problem, copy);
    bool fine = verify(instance, copy, 1, message);
    for (unsigned i = 0; i < instance->count; i++)
        free(copy[i]);
    return fine;
}

/* On a device -----------------------------------------------------------------------------------*/

static size_t guard_of(const struct zoo_run *run)
{
    return run->call.device->cuda->simulated ? 0 : GUARD;
}

static char *failed(const struct zoo_run *run, const char *what, CUresult status)
{
    struct lk_buf text = {0};
    lk_buf_printf(&text, "%s failed: %s", what, zoo_error(run->call.device->cuda, status));
    if (run->call.error)
        lk_buf_printf(&text, " (%s)", run->call.error);
    return text.data;
}

/* How many bytes into its allocation a buffer begins. */
static size_t shift_of(const struct zoo_run *run, unsigned buffer)
{
    const struct zoo_instance *instance = run->instance;
    size_t unit =
        run->variant->traits & ZOO_ALIGNED ? 16 : zoo_type_bytes[instance->buffer[buffer].type];
    return (buffer + 1) * instance->shift * unit;
}

bool zoo_run_open(struct zoo_run *run, const struct zoo_instance *instance,
                  const struct zoo_variant *variant, const struct zoo_device *device,
                  struct zoo_kernels *kernels, CUstream stream, char **message)
{
    *message = NULL;
    *run = (struct zoo_run){
        .instance = instance,
        .variant = variant,
        .call = {
            .problem = &instance->problem, .device = device, .kernels = kernels, .stream = stream}};
    CUresult status = CUDA_SUCCESS;
    for (unsigned i = 0; i < instance->count && status == CUDA_SUCCESS; i++) {
        size_t shift = shift_of(run, i);
        size_t bytes = shift + zoo_buffer_bytes(&instance->buffer[i]) + guard_of(run);
        status = device->cuda->cuMemAlloc_v2(&run->allocation[i], bytes ? bytes : 1);
        run->call.buffer[i] = run->allocation[i] + shift;
    }
    run->workspace_bytes = variant->workspace ? variant->workspace(&run->call) : 0;
    if (status == CUDA_SUCCESS && run->workspace_bytes) {
        size_t bytes = run->workspace_bytes + guard_of(run);
        status = device->cuda->cuMemAlloc_v2(&run->allocation[ZOO_BUFFERS], bytes);
        run->call.workspace = run->allocation[ZOO_BUFFERS];
    }
    if (status == CUDA_SUCCESS)
        return true;
    *message = failed(run, "allocating", status);
    zoo_run_close(run);
    return false;
}

void zoo_run_close(struct zoo_run *run)
{
    for (unsigned i = 0; i <= ZOO_BUFFERS; i++)
        if (run->allocation[i])
            run->call.device->cuda->cuMemFree_v2(run->allocation[i]);
    memset(run->allocation, 0, sizeof run->allocation);
}

static CUresult reset(struct zoo_run *run, bool inputs)
{
    const struct lk_driver *cuda = run->call.device->cuda;
    const struct zoo_instance *instance = run->instance;
    CUresult status = CUDA_SUCCESS;
    for (unsigned i = 0; i < instance->count && status == CUDA_SUCCESS; i++) {
        size_t bytes = zoo_buffer_bytes(&instance->buffer[i]), guard = guard_of(run);
        bool output = instance->buffer[i].role == ZOO_OUT;
        if (instance->buffer[i].role == ZOO_IN && !inputs)
            continue;
        if (output && bytes + guard)
            status = cuda->cuMemsetD8_v2(run->call.buffer[i], POISON, bytes + guard);
        else if (guard)
            status = cuda->cuMemsetD8_v2(run->call.buffer[i] + bytes, POISON, guard);
        if (!output && bytes && status == CUDA_SUCCESS)
            status = cuda->cuMemcpyHtoD_v2(run->call.buffer[i], instance->host[i], bytes);
    }
    if (run->workspace_bytes && status == CUDA_SUCCESS)
        status =
            cuda->cuMemsetD8_v2(run->call.workspace, POISON, run->workspace_bytes + guard_of(run));
    return status;
}

CUresult zoo_run_reset(struct zoo_run *run)
{
    return reset(run, true);
}

CUresult zoo_run_reset_outputs(struct zoo_run *run)
{
    return reset(run, false);
}

bool zoo_run_launch(struct zoo_run *run, char **message)
{
    const struct lk_driver *cuda = run->call.device->cuda;
    *message = NULL;
    CUresult status = run->variant->launch(&run->call);
    if (status == CUDA_SUCCESS)
        status = cuda->cuStreamSynchronize(run->call.stream);
    if (status != CUDA_SUCCESS)
        *message = failed(run, "launching", status);
    return status == CUDA_SUCCESS;
}

/* The bytes after a buffer are as zoo_run_reset left them. */
static bool guard_holds(const struct zoo_run *run, CUdeviceptr at)
{
    unsigned char guard[GUARD];
    if (run->call.device->cuda->cuMemcpyDtoH_v2(guard, at, GUARD) != CUDA_SUCCESS)
        return false;
    for (unsigned i = 0; i < GUARD; i++)
        if (guard[i] != POISON)
            return false;
    return true;
}

static bool guards_hold(const struct zoo_run *run, char **message)
{
    const struct zoo_instance *instance = run->instance;
    const char *name = NULL;
    for (unsigned i = 0; i < instance->count; i++)
        if (!guard_holds(run, run->call.buffer[i] + zoo_buffer_bytes(&instance->buffer[i])))
            name = instance->buffer[i].name;
    if (run->workspace_bytes && !guard_holds(run, run->call.workspace + run->workspace_bytes))
        name = "the workspace";
    if (name) {
        struct lk_buf text = {0};
        lk_buf_printf(&text, "it wrote past the end of %s", name);
        *message = text.data;
    }
    return !name;
}

bool zoo_run_verify(struct zoo_run *run, char **message)
{
    const struct lk_driver *cuda = run->call.device->cuda;
    const struct zoo_instance *instance = run->instance;
    void *result[ZOO_BUFFERS] = {0};
    bool fine = true;
    *message = NULL;
    for (unsigned i = 0; i < instance->count && fine; i++) {
        size_t bytes = zoo_buffer_bytes(&instance->buffer[i]);
        if (instance->buffer[i].role == ZOO_IN)
            continue;
        result[i] = malloc(bytes + 16);
        CUresult status = !result[i] ? CUDA_ERROR_OUT_OF_MEMORY
                          : bytes    ? cuda->cuMemcpyDtoH_v2(result[i], run->call.buffer[i], bytes)
                                     : CUDA_SUCCESS;
        fine = status == CUDA_SUCCESS;
        if (!fine)
            *message = failed(run, "reading the result", status);
    }
    fine = fine && (guard_of(run) == 0 || guards_hold(run, message)) &&
           verify(instance, result, run->leeway > 0 ? run->leeway : 1, message);
    for (unsigned i = 0; i < instance->count; i++)
        free(result[i]);
    return fine;
}
