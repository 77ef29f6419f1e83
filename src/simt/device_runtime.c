/*
 * device_runtime.c: CUDA's device runtime: what kernels call to launch kernels, and the few other
 * calls of the runtime that device code has. nvcc writes them as __cudaCDP2NAME, or cudaNAME for
 * the older interface. Nothing waits here: children run after their parent (children.h), so that
 * order within a stream, and events, hold by themselves.
 */
#include "simt/builtin.h"
#include "simt/children.h"

#include <string.h>

/* cudaError_t */
enum { INVALID_VALUE = 1, NO_MEMORY = 2, TOO_MANY = 69, INVALID_FUNCTION = 98 };

struct call {
    struct simt_warp *w;
    const struct simt_inst *in;
    const struct simt_call *call;
    int lane;
    struct simt_children *children;
    bool failed; /* a fault was raised */
};

static uint64_t word(const struct call *c, uint32_t index)
{
    return builtin_argument(c->w, c->call, index, (uint32_t)c->lane);
}

static void put(struct call *c, uint64_t address, const void *value, uint32_t size)
{
    for (uint32_t done = 0; done < size && !c->failed; done += 4) {
        uint8_t *host =
            simt_translate(c->w, c->in, PTX_SPACE_GENERIC, address + done, 4, c->lane, true);
        c->failed = !host;
        if (host)
            memcpy(host, (const uint8_t *)value + done, 4);
    }
}

/* A result of so many bytes through the pointer that is the first argument. */
static uint64_t answer(struct call *c, int error, const void *value, uint32_t size)
{
    if (!error)
        put(c, word(c, 0), value, size);
    return (uint64_t)error;
}

static struct simt_thread *thread_of(const struct call *c)
{
    return simt_children_thread(c->children, c->w->block->linear,
                                c->w->index * SIMT_LANES + (uint32_t)c->lane);
}

static int *last_error(const struct call *c)
{
    return &thread_of(c)->error;
}

/* Launches -------------------------------------------------------------------------------------
 */

static struct simt_kernel *kernel_at(const struct call *c, uint64_t address)
{
    struct simt_module *module = c->w->block->launch->kernel->module;
    for (unsigned i = 0; i < module->kernel_count; i++)
        if (simt_function_address(module->kernels[i].ptx) == address)
            return &module->kernels[i];
    return NULL;
}

static int check_stream(const struct call *c, uint64_t stream)
{
    if (stream == 0 || (stream >= SIMT_STREAM_PER_THREAD && stream <= SIMT_STREAM_FORGET))
        return 0;
    if (stream == 1) /* cudaStreamLegacy: there is none, and an H200 takes it for the block's */
        return 0;
    return simt_children_has(c->children, stream, SIMT_OBJECT_STREAM) ? 0 : INVALID_VALUE;
}

static uint64_t get_parameter_buffer(struct call *c)
{
    struct simt_child wanted = {.kernel = kernel_at(c, word(c, 0)), .shared = (uint32_t)word(c, 3)};
    int error = wanted.kernel ? 0 : INVALID_FUNCTION;
    builtin_argument_bytes(c->w, c->call, 1, (uint32_t)c->lane, wanted.grid, sizeof wanted.grid);
    builtin_argument_bytes(c->w, c->call, 2, (uint32_t)c->lane, wanted.block, sizeof wanted.block);
    if (!error)
        error = c->children->calls->check(c->children, &wanted);
    struct simt_child *child =
        error ? NULL : simt_children_prepare(c->children, wanted.kernel->info.param_bytes, &error);
    if (!child) {
        *last_error(c) = error;
        return 0;
    }
    child->kernel = wanted.kernel;
    child->shared = wanted.shared;
    memcpy(child->grid, wanted.grid, sizeof child->grid);
    memcpy(child->block, wanted.block, sizeof child->block);
    return child->buffer;
}

static int launch(const struct call *c, struct simt_child *child, uint64_t stream)
{
    int error = check_stream(c, stream);
    if (!error && !simt_children_fits(c->children, thread_of(c), stream == SIMT_STREAM_TAIL))
        error = TOO_MANY;
    if (error) { /* its parameters are freed with the launch */
        simt_children_put_back(c->children, child);
        return error;
    }
    child->stream = stream;
    child->from_block = c->w->block->linear;
    return simt_children_add(c->children, child);
}

static uint64_t launch_device(struct call *c)
{
    struct simt_child *child = simt_children_take(c->children, word(c, 0));
    if (child && !child->kernel) { /* of the older call */
        simt_children_put_back(c->children, child);
        child = NULL;
    }
    return (uint64_t)(child ? launch(c, child, word(c, 1)) : INVALID_VALUE);
}

static uint64_t get_old_parameter_buffer(struct call *c)
{
    uint64_t bytes = word(c, 1);
    int error = bytes > 32764 ? INVALID_VALUE : 0;
    struct simt_child *child =
        error ? NULL : simt_children_prepare(c->children, (uint32_t)bytes, &error);
    if (!child)
        *last_error(c) = error;
    return child ? child->buffer : 0;
}

static uint64_t launch_device_old(struct call *c)
{
    int error = 0;
    struct simt_child wanted = {.kernel = kernel_at(c, word(c, 0)), .shared = (uint32_t)word(c, 4)};
    builtin_argument_bytes(c->w, c->call, 2, (uint32_t)c->lane, wanted.grid, sizeof wanted.grid);
    builtin_argument_bytes(c->w, c->call, 3, (uint32_t)c->lane, wanted.block, sizeof wanted.block);
    if (!wanted.kernel)
        return INVALID_FUNCTION;
    error = c->children->calls->check(c->children, &wanted);
    if (error)
        return (uint64_t)error;
    struct simt_child *child = simt_children_take(c->children, word(c, 1));
    if (!child && !word(c, 1) && !wanted.kernel->info.param_bytes) {
        child = simt_children_prepare(c->children, 0, &error);
        child = child ? simt_children_take(c->children, child->buffer) : NULL;
    }
    if (!child)
        return (uint64_t)(error ? error : INVALID_VALUE);
    child->kernel = wanted.kernel;
    child->shared = wanted.shared;
    memcpy(child->grid, wanted.grid, sizeof child->grid);
    memcpy(child->block, wanted.block, sizeof child->block);
    return (uint64_t)launch(c, child, word(c, 5));
}

/* Copies and fills ------------------------------------------------------------------------------
 */

static uint64_t move(struct call *c, struct simt_child wanted, uint64_t stream)
{
    int error = check_stream(c, stream);
    if (!error)
        error = c->children->calls->check(c->children, &wanted);
    if (error || !wanted.width || !wanted.height)
        return (uint64_t)error;
    struct simt_child *child = lk_alloc(sizeof *child);
    *child = wanted;
    child->stream = stream;
    child->from_block = c->w->block->linear;
    return (uint64_t)simt_children_add(c->children, child);
}

static uint64_t copy(struct call *c)
{
    return move(c,
                (struct simt_child){.kind = SIMT_CHILD_COPY,
                                    .to = word(c, 0),
                                    .from = word(c, 1),
                                    .width = word(c, 2),
                                    .height = 1},
                word(c, 4));
}

static uint64_t copy_2d(struct call *c)
{
    return move(c,
                (struct simt_child){.kind = SIMT_CHILD_COPY,
                                    .to = word(c, 0),
                                    .to_pitch = word(c, 1),
                                    .from = word(c, 2),
                                    .from_pitch = word(c, 3),
                                    .width = word(c, 4),
                                    .height = word(c, 5)},
                word(c, 7));
}

static uint64_t fill(struct call *c)
{
    return move(c,
                (struct simt_child){.kind = SIMT_CHILD_FILL,
                                    .to = word(c, 0),
                                    .value = (uint8_t)word(c, 1),
                                    .width = word(c, 2),
                                    .height = 1},
                word(c, 3));
}

static uint64_t fill_2d(struct call *c)
{
    return move(c,
                (struct simt_child){.kind = SIMT_CHILD_FILL,
                                    .to = word(c, 0),
                                    .to_pitch = word(c, 1),
                                    .value = (uint8_t)word(c, 2),
                                    .width = word(c, 3),
                                    .height = word(c, 4)},
                word(c, 5));
}

/* Streams and events ---------------------------------------------------------------------------
 */

static uint64_t make(struct call *c, enum simt_object kind)
{
    uint64_t handle = simt_children_object(c->children, kind);
    return answer(c, 0, &handle, sizeof handle);
}

static uint64_t stream_create(struct call *c)
{
    return (uint32_t)word(c, 1) <= 1 ? make(c, SIMT_OBJECT_STREAM) : INVALID_VALUE;
}

static uint64_t event_create(struct call *c)
{
    /* cudaEventDisableTiming */
    return (uint32_t)word(c, 1) == 2 ? make(c, SIMT_OBJECT_EVENT) : INVALID_VALUE;
}

/* As on an H200, what was destroyed is still taken. */
static uint64_t destroy(const struct call *c, enum simt_object kind)
{
    return simt_children_has(c->children, word(c, 0), kind) ? 0 : INVALID_VALUE;
}

static uint64_t stream_destroy(struct call *c)
{
    return destroy(c, SIMT_OBJECT_STREAM);
}

static uint64_t event_destroy(struct call *c)
{
    return destroy(c, SIMT_OBJECT_EVENT);
}

static uint64_t meet(const struct call *c, uint64_t event, uint64_t stream)
{
    if (!simt_children_has(c->children, event, SIMT_OBJECT_EVENT))
        return INVALID_VALUE;
    return (uint64_t)check_stream(c, stream);
}

static uint64_t event_record(struct call *c)
{
    return meet(c, word(c, 0), word(c, 1));
}

static uint64_t stream_wait_event(struct call *c)
{
    return meet(c, word(c, 1), word(c, 0));
}

/* Questions ------------------------------------------------------------------------------------
 */

static uint64_t get_last_error(struct call *c)
{
    int error = *last_error(c);
    *last_error(c) = 0;
    return (uint64_t)error;
}

static uint64_t peek_at_last_error(struct call *c)
{
    return (uint64_t)*last_error(c);
}

static uint64_t get_error_string(struct call *c)
{
    return simt_children_text(c->children, c->children->calls->error_text((int)word(c, 0), false));
}

static uint64_t get_error_name(struct call *c)
{
    return simt_children_text(c->children, c->children->calls->error_text((int)word(c, 0), true));
}

static uint64_t get_device_count(struct call *c)
{
    int count = c->children->calls->device_count();
    return answer(c, 0, &count, sizeof count);
}

static uint64_t get_device(struct call *c)
{
    int device = c->children->calls->device(c->children);
    return answer(c, 0, &device, sizeof device);
}

static uint64_t get_version(struct call *c)
{
    int version = c->children->calls->version();
    return answer(c, 0, &version, sizeof version);
}

static uint64_t device_get_attribute(struct call *c)
{
    int value = 0;
    int error = c->children->calls->device_attribute((int)word(c, 1), (int)word(c, 2), &value);
    return answer(c, error, &value, sizeof value);
}

static uint64_t device_get_limit(struct call *c)
{
    uint64_t value = 0;
    int error = c->children->calls->limit(c->children, (int)word(c, 1), &value);
    return answer(c, error, &value, sizeof value);
}

static uint64_t device_get_cache_config(struct call *c)
{
    int none = 0;
    return answer(c, 0, &none, sizeof none);
}

/* As much of struct cudaFuncAttributes as all its versions have. */
static uint64_t func_get_attributes(struct call *c)
{
    struct simt_kernel *kernel = kernel_at(c, word(c, 1));
    if (!kernel)
        return INVALID_FUNCTION;
    const struct simt_kernel_info *info = &kernel->info;
    struct {
        uint64_t shared, constant, local;
        uint32_t threads, registers, ptx, binary, cache_ca, most_dynamic;
    } value = {info->static_shared,
               info->const_bytes,
               info->local_bytes,
               info->max_threads ? info->max_threads : 1024,
               info->registers,
               info->ptx_version,
               info->binary_version,
               0,
               info->static_shared < 49152 ? 49152 - info->static_shared : 0};
    return answer(c, 0, &value, sizeof value);
}

static uint64_t occupancy(struct call *c)
{
    struct simt_kernel *kernel = kernel_at(c, word(c, 1));
    int blocks = 0;
    if (!kernel)
        return INVALID_FUNCTION;
    int error =
        c->children->calls->occupancy(c->children, kernel, (int)word(c, 2), word(c, 3), &blocks);
    return answer(c, error, &blocks, sizeof blocks);
}

static uint64_t set_condition(struct call *c)
{
    if (!c->children->calls->set_condition(c->children, word(c, 0), (uint32_t)word(c, 1))) {
        simt_raise(c->w, c->in, SIMT_FAULT_ILLEGAL_ADDRESS, c->lane,
                   "cudaGraphSetConditional: 0x%llx is no handle of a conditional node",
                   (unsigned long long)word(c, 0));
        c->failed = true;
    }
    return 0;
}

/* Memory: the heap that malloc takes from. ----------------------------------------------------- */

static uint64_t runtime_malloc(struct call *c)
{
    uint64_t address = builtin_heap_malloc(c->w, c->in, c->lane, word(c, 1));
    return address ? answer(c, 0, &address, sizeof address) : NO_MEMORY;
}

static uint64_t runtime_free(struct call *c)
{
    c->failed = word(c, 0) && !builtin_heap_free(c->w, c->in, c->lane, word(c, 0));
    return 0;
}

/* The table ------------------------------------------------------------------------------------
 */

/* Runs f for each lane; an error becomes the thread's last one. */
static const struct simt_inst *each_lane(struct simt_warp *w, const struct simt_inst *in,
                                         uint64_t (*f)(struct call *c), bool returns_error)
{
    struct simt_children *children = w->block->launch->launch->children;
    if (!children)
        return simt_raise(w, in, SIMT_FAULT_UNSUPPORTED, -1,
                          "a call of the device runtime, which this launch does not have");
    for (int lane = 0; lane < SIMT_LANES; lane++) {
        if (!SIMT_ACTIVE(lane))
            continue;
        struct call c = {w, in, builtin_call(in), lane, children, false};
        uint64_t value = f(&c);
        if (c.failed)
            return NULL;
        if (returns_error && value)
            *last_error(&c) = (int)value;
        builtin_return(w, c.call, (uint32_t)lane, value);
    }
    return in + 1;
}

/* name, function, does it return an error that becomes the thread's last? */
#define CALLS(CALL)                                                                                \
    CALL(GetParameterBufferV2, get_parameter_buffer, false)                                        \
    CALL(LaunchDeviceV2, launch_device, true)                                                      \
    CALL(GetParameterBuffer, get_old_parameter_buffer, false)                                      \
    CALL(LaunchDevice, launch_device_old, true)                                                    \
    CALL(MemcpyAsync, copy, true)                                                                  \
    CALL(Memcpy2DAsync, copy_2d, true)                                                             \
    CALL(MemsetAsync, fill, true)                                                                  \
    CALL(Memset2DAsync, fill_2d, true)                                                             \
    CALL(StreamCreateWithFlags, stream_create, true)                                               \
    CALL(StreamDestroy, stream_destroy, true)                                                      \
    CALL(StreamWaitEvent, stream_wait_event, true)                                                 \
    CALL(EventCreateWithFlags, event_create, true)                                                 \
    CALL(EventRecord, event_record, true)                                                          \
    CALL(EventRecordWithFlags, event_record, true)                                                 \
    CALL(EventDestroy, event_destroy, true)                                                        \
    CALL(GetLastError, get_last_error, false)                                                      \
    CALL(PeekAtLastError, peek_at_last_error, false)                                               \
    CALL(GetErrorString, get_error_string, false)                                                  \
    CALL(GetErrorName, get_error_name, false)                                                      \
    CALL(GetDeviceCount, get_device_count, true)                                                   \
    CALL(GetDevice, get_device, true)                                                              \
    CALL(RuntimeGetVersion, get_version, true)                                                     \
    CALL(DeviceGetAttribute, device_get_attribute, true)                                           \
    CALL(DeviceGetLimit, device_get_limit, true)                                                   \
    CALL(DeviceGetCacheConfig, device_get_cache_config, true)                                      \
    CALL(DeviceGetSharedMemConfig, device_get_cache_config, true)                                  \
    CALL(FuncGetAttributes, func_get_attributes, true)                                             \
    CALL(OccupancyMaxActiveBlocksPerMultiprocessor, occupancy, true)                               \
    CALL(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags, occupancy, true)                      \
    CALL(Malloc, runtime_malloc, true)                                                             \
    CALL(Free, runtime_free, true)                                                                 \
    CALL(GraphSetConditional, set_condition, false)

#define BODY(name, function, returns_error)                                                        \
    static const struct simt_inst *run_##name(struct simt_warp *w, const struct simt_inst *in)     \
    {                                                                                              \
        return each_lane(w, in, function, returns_error);                                          \
    }
CALLS(BODY)

simt_body *simt_builtin_runtime(const char *name)
{
    static const struct {
        const char *name;
        simt_body *run;
    } calls[] = {
#define ROW(name, function, returns_error) {#name, run_##name},
        CALLS(ROW)};
    static const char new_prefix[] = "__cudaCDP2", old_prefix[] = "cuda", per_thread[] = "_ptsz";
    if (strncmp(name, new_prefix, sizeof new_prefix - 1) == 0)
        name += sizeof new_prefix - 1;
    else if (strncmp(name, old_prefix, sizeof old_prefix - 1) == 0)
        name += sizeof old_prefix - 1;
    else
        return NULL;
    size_t size = strlen(name), tail = sizeof per_thread - 1;
    if (size > tail && strcmp(name + size - tail, per_thread) == 0)
        size -= tail;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strlen(calls[i].name) == size && memcmp(calls[i].name, name, size) == 0)
            return calls[i].run;
    return NULL;
}
