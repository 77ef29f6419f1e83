/*
 * api_known.c: what a thread remembers of earlier calls, so that a call like one before asks the
 * driver nothing but which context is current: contexts by their ids, buffers and streams that the
 * driver has confirmed, and the kernels that solve a problem. Small tables with two places for each
 * key; what is new replaces the older of the two. Each thread has its own, so no call takes a lock.
 *
 * The price: a buffer or a stream that the program frees between two calls is still taken for valid
 * by the second, except by lk_free. docs/decisions.md says why.
 */
#include "zoo/api.h"

#include <string.h>

/* Sets of the tables. Two places in each: the buffers of one call must not keep displacing each
 * other. */
enum { CONTEXTS = 2, STREAMS = 8, BUFFERS = 64, CHOICES = 32, PLACES = 2 };

struct known_context {
    unsigned long long id;
    struct api_context *context;
};

struct known_stream {
    const struct api_context *context;
    void *stream;
};

struct known_buffer {
    const struct api_context *context;
    uintptr_t address;
    size_t bytes;
};

struct known_choice {
    const struct api_context *context; /* NULL: a free place */
    const struct zoo_family *family;
    int64_t value[ZOO_PARAMETERS]; /* of the problem; of scalars, whether they are 0 */
    struct zoo_demand demand;
    struct api_chosen chosen;
};

static _Thread_local struct {
    unsigned gone, freed; /* what the two below were when this thread last looked */
    struct known_context context[CONTEXTS][PLACES];
    struct known_stream stream[STREAMS][PLACES];
    struct known_buffer buffer[BUFFERS][PLACES];
    struct known_choice choice[CHOICES][PLACES];
} known;

static unsigned kernels_gone, memory_freed; /* how often */

void api_ask_again(void)
{
    memset(&known, 0, sizeof known);
    known.gone = __atomic_load_n(&kernels_gone, __ATOMIC_ACQUIRE);
    known.freed = __atomic_load_n(&memory_freed, __ATOMIC_ACQUIRE);
}

void api_kernels_gone(void)
{
    __atomic_fetch_add(&kernels_gone, 1, __ATOMIC_RELEASE);
}

void api_memory_freed(void)
{
    __atomic_fetch_add(&memory_freed, 1, __ATOMIC_RELEASE);
}

/* Which of count sets a key belongs to. Addresses differ in some of their bits only, so all of them
 * must matter. */
static unsigned set_of(uint64_t key, unsigned count)
{
    return (unsigned)((key * 0x9e3779b97f4a7c15 >> 32) * count >> 32);
}

/* Contexts --------------------------------------------------------------------------------------*/

/* A call begins here. */
struct api_context *api_known_context(unsigned long long id)
{
    unsigned freed = __atomic_load_n(&memory_freed, __ATOMIC_ACQUIRE);
    if (known.gone != __atomic_load_n(&kernels_gone, __ATOMIC_ACQUIRE)) {
        api_ask_again();
    } else if (known.freed != freed) {
        memset(known.buffer, 0, sizeof known.buffer);
        known.freed = freed;
    }
    const struct known_context *set = known.context[set_of(id, CONTEXTS)];
    for (int i = 0; i < PLACES; i++)
        if (set[i].id == id)
            return set[i].context;
    return NULL;
}

void api_know_context(unsigned long long id, struct api_context *context)
{
    struct known_context *set = known.context[set_of(id, CONTEXTS)];
    set[1] = set[0];
    set[0] = (struct known_context){id, context};
}

/* Buffers ---------------------------------------------------------------------------------------*/

static bool is_reachable(const struct api_context *context, uintptr_t address)
{
    unsigned kind = 0;
    return context->device.cuda->cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                       address) == CUDA_SUCCESS;
}

lk_status api_check_memory(const char *call, const struct api_context *context, const char *name,
                           uintptr_t address, size_t bytes)
{
    struct known_buffer *set = known.buffer[set_of(address, BUFFERS)];
    if (bytes == 0 || context->takes_host_memory)
        return LK_OK;
    for (int i = 0; i < PLACES; i++)
        if (set[i].address == address && set[i].bytes >= bytes && set[i].context == context)
            return LK_OK;
    if (!is_reachable(context, address))
        return api_fail(LK_BAD_ARGUMENT, call,
                        "%s (%p) is not memory that the GPU can reach; allocate it with lk_malloc, "
                        "cudaMalloc or cuMemAlloc",
                        name, (void *)address);
    if (!is_reachable(context, address + bytes - 1))
        return api_fail(LK_BAD_ARGUMENT, call,
                        "%s (%p) has fewer than the %zu bytes that the call works on", name,
                        (void *)address, bytes);
    set[1] = set[0];
    set[0] = (struct known_buffer){context, address, bytes};
    return LK_OK;
}

/* Streams ---------------------------------------------------------------------------------------*/

lk_status api_check_stream(const char *call, const struct api_context *context, void *stream)
{
    const struct lk_driver *cuda = context->device.cuda;
    CUcontext owner = NULL;
    struct known_stream *set = known.stream[set_of((uintptr_t)stream, STREAMS)];
    if ((uintptr_t)stream <= 2) /* the default streams have no handle of their own */
        return LK_OK;
    for (int i = 0; i < PLACES; i++)
        if (set[i].stream == stream && set[i].context == context)
            return LK_OK;
    CUresult result = cuda->cuStreamGetCtx(stream, &owner);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_SUPPORTED)
        return api_fail(LK_BAD_ARGUMENT, call, "stream (%p) is not a stream: %s", stream,
                        zoo_error(cuda, result));
    if (result == CUDA_SUCCESS && owner != context->context)
        return api_fail(LK_BAD_ARGUMENT, call,
                        "stream (%p) belongs to another context than the one that is current on "
                        "this thread",
                        stream);
    set[1] = set[0];
    set[0] = (struct known_stream){context, stream};
    return LK_OK;
}

/* Choices ---------------------------------------------------------------------------------------*/

/* The values that a choice depends on, and the set that they lead to. Of a scalar a choice depends
 * on whether it is 0: a variant may know no dropout, whatever its share. */
static struct known_choice *choice_set(const struct zoo_problem *problem,
                                       int64_t value[ZOO_PARAMETERS])
{
    const struct zoo_parameter *parameter = problem->family->parameters;
    uint64_t key = (uintptr_t)problem->family;
    unsigned i = 0;
    for (; i < ZOO_PARAMETERS && parameter[i].name; i++) {
        value[i] = parameter[i].scalar ? zoo_as_float(problem->value[i]) != 0 : problem->value[i];
        key = (key ^ key >> 32 ^ (uint64_t)value[i]) * 0xff51afd7ed558ccd;
    }
    for (; i < ZOO_PARAMETERS; i++)
        value[i] = 0;
    return known.choice[set_of(key ^ key >> 32, CHOICES)];
}

const struct api_chosen *api_known_choice(const struct api_context *context,
                                          const struct zoo_problem *problem,
                                          struct zoo_demand demand)
{
    int64_t value[ZOO_PARAMETERS];
    const struct known_choice *set = choice_set(problem, value);
    for (int i = 0; i < PLACES; i++)
        if (set[i].context == context && set[i].family == problem->family &&
            set[i].demand.deterministic == demand.deterministic &&
            set[i].demand.aligned_too == demand.aligned_too &&
            memcmp(set[i].value, value, sizeof value) == 0)
            return &set[i].chosen;
    return NULL;
}

const struct api_chosen *api_know_choice(const struct api_context *context,
                                         const struct zoo_problem *problem,
                                         struct zoo_demand demand, const struct api_chosen *chosen)
{
    int64_t value[ZOO_PARAMETERS];
    struct known_choice *set = choice_set(problem, value);
    set[1] = set[0];
    set[0] = (struct known_choice){
        .context = context, .family = problem->family, .demand = demand, .chosen = *chosen};
    memcpy(set[0].value, value, sizeof value);
    return &set[0].chosen;
}
