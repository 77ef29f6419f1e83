/*
 * cupti.c: the drop-in libcupti for simulated GPUs, for tools that ask it what ran and when:
 * Proton, torch.profiler. It has the activity API (records of kernels, copies and fills, of
 * launching calls, and of external correlation) and callbacks for the driver's launching calls. A
 * record begins when the operation was asked for, or when the one before it in its stream ended,
 * and lasts as long as the model says. Everything else (events, metrics, sampling) is found and is
 * not implemented.
 */
#include "clients/cupti.h"

#include "driver/activity.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 1024, STREAMS = 4096, EXTERNAL_KINDS = 6, EXTERNAL_DEPTH = 64 };

/* The driver's calls that tools hear of: their numbers, and those of their _ptsz forms. */
static const struct named {
    const char *name;
    uint32_t number, per_thread;
} calls[] = {{"cuLaunchKernel", 307, 442},
             {"cuLaunchKernelEx", 652, 653},
             {"cuLaunchCooperativeKernel", 477, 478},
             {"cuGraphLaunch", 514, 515},
             {"cuStreamBeginCapture", 539, 540},
             {"cuStreamEndCapture", 497, 498}};

union record {
    uint32_t kind;
    struct cupti_kernel kernel;
    struct cupti_memcpy copy;
    struct cupti_memset fill;
    struct cupti_api api;
    struct cupti_external external;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool enabled[CUPTI_KINDS], enabled_calls[CALLS]; /* calls: as records of their own */
static union record *records;
static size_t record_count, record_capacity;
static cupti_request *request;
static cupti_complete *complete;
static cupti_clock *own_clock;
/* Tools flush only if they were asked for a buffer. */
static struct buffer {
    uint8_t *bytes;
    size_t size, most;
} held;

static struct {
    bool exists;
    cupti_callback *function;
    void *user;
    bool wants[CUPTI_DOMAINS][CALLS];
} subscriber;

static __thread struct {
    uint64_t ids[EXTERNAL_KINDS][EXTERNAL_DEPTH];
    unsigned depths[EXTERNAL_KINDS];
    uint64_t began; /* the call that is heard */
} thread;

/* When the last operation of a stream ended; tools see nothing run at the same time in one. */
static struct stream_end {
    CUcontext context;
    uint32_t stream;
    uint64_t end;
} ends[STREAMS];

static uint64_t realtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The tool's clock may count ticks: it is compared with ours, over the longest time there is. */
static struct {
    uint64_t ticks, ns;
} since;

static double ticks_of(double ns)
{
    double passed = (double)(realtime() - since.ns);
    return own_clock ? ns * (double)(own_clock() - since.ticks) / passed : ns;
}

static uint64_t timestamp(void)
{
    return own_clock ? own_clock() : realtime();
}

static uint32_t size_of(uint32_t kind)
{
    switch (kind) {
    case CUPTI_KIND_KERNEL:
    case CUPTI_KIND_CONCURRENT_KERNEL:
        return sizeof(struct cupti_kernel);
    case CUPTI_KIND_MEMCPY:
        return sizeof(struct cupti_memcpy);
    case CUPTI_KIND_MEMSET:
        return sizeof(struct cupti_memset);
    case CUPTI_KIND_EXTERNAL_CORRELATION:
        return sizeof(struct cupti_external);
    default:
        return sizeof(struct cupti_api);
    }
}

static void add(const union record *record)
{
    if (record_count == record_capacity) {
        record_capacity = record_capacity ? 2 * record_capacity : 1024;
        records = realloc(records, record_capacity * sizeof *records);
        if (!records)
            abort();
    }
    records[record_count++] = *record;
}

static void set_clock(cupti_clock *clock)
{
    own_clock = clock;
    memset(ends, 0, sizeof ends);
    since.ns = realtime();
    since.ticks = clock ? clock() : 0;
    while (clock && realtime() - since.ns < 1000000) /* enough for a first comparison */
        ;
}

/* Names live as long as the process: tools keep the pointers. */
static const char *kept_name(const char *name)
{
    static struct kept {
        struct kept *next;
        char text[];
    } * buckets[1024];
    unsigned hash = 5381;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    struct kept **bucket = &buckets[hash % 1024];
    for (struct kept *each = *bucket; each; each = each->next)
        if (strcmp(each->text, name) == 0)
            return each->text;
    struct kept *kept = malloc(sizeof *kept + strlen(name) + 1);
    if (!kept)
        abort();
    strcpy(kept->text, name);
    kept->next = *bucket;
    *bucket = kept;
    return kept->text;
}

/* What the driver tells ------------------------------------------------------------------------ */

static uint32_t number_of(const struct lk_activity_call *call)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, call->name) == 0)
            return call->per_thread ? calls[i].per_thread : calls[i].number;
    return 0;
}

static void tell(struct lk_activity_call *call, int site)
{
    uint32_t number = number_of(call);
    pthread_mutex_lock(&lock);
    bool wanted = subscriber.exists && subscriber.wants[CUPTI_DRIVER_API][number];
    cupti_callback *function = subscriber.function;
    void *user = subscriber.user;
    pthread_mutex_unlock(&lock);
    struct cupti_callback_data data = {.site = site,
                                       .name = call->name,
                                       .params = call->params,
                                       .result = site == CUPTI_EXIT ? &call->status : NULL,
                                       .symbol = call->symbol,
                                       .context = call->context,
                                       .context_number = context_number(call->context),
                                       .own = &call->own,
                                       .correlation = call->correlation};
    if (wanted)
        function(user, CUPTI_DRIVER_API, number, &data);
}

static void begins(struct lk_activity_call *call)
{
    thread.began = timestamp();
    tell(call, CUPTI_ENTER);
}

static void call_ends(struct lk_activity_call *call)
{
    uint32_t number = number_of(call);
    tell(call, CUPTI_EXIT);
    pthread_mutex_lock(&lock);
    if (enabled[CUPTI_KIND_DRIVER] || enabled_calls[number]) {
        union record record = {.api = {.kind = CUPTI_KIND_DRIVER,
                                       .call = number,
                                       .start = thread.began,
                                       .end = timestamp(),
                                       .process = (uint32_t)getpid(),
                                       .thread = cupti_thread(),
                                       .correlation = call->correlation,
                                       .status = (uint32_t)call->status}};
        add(&record);
    }
    pthread_mutex_unlock(&lock);
}

static void asked(uint32_t correlation)
{
    pthread_mutex_lock(&lock);
    for (uint32_t kind = 0; enabled[CUPTI_KIND_EXTERNAL_CORRELATION] && kind < EXTERNAL_KINDS;
         kind++) {
        unsigned depth = thread.depths[kind];
        if (!depth)
            continue;
        union record record = {.external = {.kind = CUPTI_KIND_EXTERNAL_CORRELATION,
                                            .external_kind = kind,
                                            .external = thread.ids[kind][depth - 1],
                                            .correlation = correlation}};
        add(&record);
    }
    pthread_mutex_unlock(&lock);
}

static uint64_t *end_of(CUcontext context, uint32_t stream)
{
    size_t first = (context_number(context) * 31u + stream) % STREAMS;
    for (size_t i = 0; i < STREAMS; i++) {
        struct stream_end *each = &ends[(first + i) % STREAMS];
        if (!each->context)
            *each = (struct stream_end){.context = context, .stream = stream};
        if (each->context == context && each->stream == stream)
            return &each->end;
    }
    return &ends[first].end;
}

static void put_kernel(const struct lk_activity *activity, uint64_t start, uint64_t end)
{
    bool concurrent = enabled[CUPTI_KIND_CONCURRENT_KERNEL];
    union record record = {
        .kernel = {.kind = concurrent ? CUPTI_KIND_CONCURRENT_KERNEL : CUPTI_KIND_KERNEL,
                   .registers = (uint16_t)activity->registers,
                   .start = start,
                   .end = end,
                   .completed = end,
                   .device = (uint32_t)activity->device,
                   .context = context_number(activity->context),
                   .stream = activity->stream,
                   .static_shared = (int32_t)activity->static_shared,
                   .shared = (int32_t)activity->shared,
                   .shared_executed = activity->static_shared + activity->shared,
                   .local = activity->local,
                   .correlation = activity->correlation,
                   .number = activity->correlation,
                   .name = kept_name(activity->name),
                   .graph = handle_number(activity->exec),
                   .node = activity->exec ? (uintptr_t)activity->node : 0}};
    for (int i = 0; i < 3; i++) {
        record.kernel.grid[i] = (int32_t)activity->grid[i];
        record.kernel.block[i] = (int32_t)activity->block[i];
        record.kernel.cluster[i] = activity->cluster[i];
    }
    if (concurrent || enabled[CUPTI_KIND_KERNEL])
        add(&record);
}

static void put_copy(const struct lk_activity *activity, uint64_t start, uint64_t end)
{
    bool from = activity->from_device, to = activity->to_device;
    union record record = {.copy = {.kind = CUPTI_KIND_MEMCPY,
                                    .way = from && to ? CUPTI_COPY_INSIDE
                                           : to       ? CUPTI_COPY_TO_DEVICE
                                                      : CUPTI_COPY_FROM_DEVICE,
                                    .from = from ? CUPTI_MEMORY_DEVICE : CUPTI_MEMORY_PAGEABLE,
                                    .to = to ? CUPTI_MEMORY_DEVICE : CUPTI_MEMORY_PAGEABLE,
                                    .bytes = activity->bytes,
                                    .start = start,
                                    .end = end,
                                    .device = (uint32_t)activity->device,
                                    .context = context_number(activity->context),
                                    .stream = activity->stream,
                                    .correlation = activity->correlation,
                                    .graph = handle_number(activity->exec),
                                    .node = activity->exec ? (uintptr_t)activity->node : 0,
                                    .count = 1}};
    if (enabled[CUPTI_KIND_MEMCPY])
        add(&record);
}

static void put_fill(const struct lk_activity *activity, uint64_t start, uint64_t end)
{
    union record record = {.fill = {.kind = CUPTI_KIND_MEMSET,
                                    .bytes = activity->bytes,
                                    .start = start,
                                    .end = end,
                                    .device = (uint32_t)activity->device,
                                    .context = context_number(activity->context),
                                    .stream = activity->stream,
                                    .correlation = activity->correlation,
                                    .memory = CUPTI_MEMORY_DEVICE,
                                    .graph = handle_number(activity->exec),
                                    .node = activity->exec ? (uintptr_t)activity->node : 0}};
    if (enabled[CUPTI_KIND_MEMSET])
        add(&record);
}

static void hold_buffer(void)
{
    struct buffer buffer = {0};
    request(&buffer.bytes, &buffer.size, &buffer.most);
    pthread_mutex_lock(&lock);
    bool is_first = !held.bytes;
    if (is_first)
        held = buffer;
    pthread_mutex_unlock(&lock);
    if (!is_first && buffer.bytes)
        complete(NULL, 0, buffer.bytes, buffer.size, 0);
}

static void ran(const struct lk_activity *activity)
{
    pthread_mutex_lock(&lock);
    uint64_t asked_at = activity->asked;
    if (own_clock)
        asked_at = own_clock() - (uint64_t)ticks_of((double)(realtime() - asked_at));
    uint64_t *last = end_of(activity->context, activity->stream);
    uint64_t start = asked_at > *last ? asked_at : *last;
    uint64_t lasts = (uint64_t)ticks_of((double)activity->duration);
    uint64_t end = start + (lasts ? lasts : 1);
    *last = end;
    if (activity->kind == LK_ACTIVITY_KERNEL)
        put_kernel(activity, start, end);
    else if (activity->kind == LK_ACTIVITY_COPY)
        put_copy(activity, start, end);
    else
        put_fill(activity, start, end);
    bool asks = record_count && !held.bytes && request;
    pthread_mutex_unlock(&lock);
    if (asks)
        hold_buffer();
}

/* Listens while anybody wants to know. */
static void listen_as_wanted(void)
{
    static const struct lk_activity_listener listener = {
        .begins = begins, .ends = call_ends, .asked = asked, .ran = ran};
    static const bool none[CUPTI_KINDS];
    bool wanted = subscriber.exists || memcmp(enabled, none, sizeof none) != 0;
    lk_driver_listen(wanted ? &listener : NULL);
}

/* Activities ----------------------------------------------------------------------------------- */

static int enable(uint32_t kind, bool on)
{
    if (kind >= CUPTI_KINDS)
        return CUPTI_INVALID_KIND;
    pthread_mutex_lock(&lock);
    enabled[kind] = on;
    listen_as_wanted();
    pthread_mutex_unlock(&lock);
    return CUPTI_OK;
}

API(cuptiActivityEnable, uint32_t kind)
{
    return enable(kind, true);
}
API(cuptiActivityDisable, uint32_t kind)
{
    return enable(kind, false);
}
API(cuptiActivityEnableContext, CUcontext context, uint32_t kind)
{
    return enable(kind, true);
}
API(cuptiActivityDisableContext, CUcontext context, uint32_t kind)
{
    return enable(kind, false);
}
API(cuptiActivityEnableDriverApi, uint32_t call, uint8_t on)
{
    if (call >= CALLS)
        return CUPTI_INVALID_PARAMETER;
    enabled_calls[call] = on != 0;
    return CUPTI_OK;
}
/* The runtime's calls are not heard: the driver's are, which it makes. */
API(cuptiActivityEnableRuntimeApi, uint32_t call, uint8_t on)
{
    return CUPTI_OK;
}
API(cuptiActivityEnableCudaEventDeviceTimestamps, uint8_t on)
{
    return CUPTI_OK;
}
API(cuptiActivitySetAttribute, int attribute, size_t *size, void *value)
{
    return size && value ? CUPTI_OK : CUPTI_INVALID_PARAMETER;
}
API(cuptiActivityRegisterCallbacks, cupti_request *requests, cupti_complete *completes)
{
    if (!requests || !completes)
        return CUPTI_INVALID_PARAMETER;
    request = requests;
    complete = completes;
    return CUPTI_OK;
}
API(cuptiActivityRegisterTimestampCallback, cupti_clock *clock)
{
    pthread_mutex_lock(&lock);
    set_clock(clock);
    pthread_mutex_unlock(&lock);
    return CUPTI_OK;
}

/* Hands records over, as many as fit the buffer that the tool gives; returns how many. */
static size_t hand_over(struct buffer buffer, const union record *from, size_t count)
{
    size_t used = 0, done = 0;
    for (; done < count && (!buffer.most || done < buffer.most); done++) {
        uint32_t bytes = size_of(from[done].kind);
        if (used + bytes > buffer.size)
            break;
        memcpy(buffer.bytes + used, &from[done], bytes);
        used += bytes;
    }
    complete(NULL, 0, buffer.bytes, buffer.size, used);
    return done;
}

API(cuptiActivityFlushAll, uint32_t flag)
{
    pthread_mutex_lock(&lock);
    union record *mine = records;
    struct buffer buffer = held;
    size_t count = record_count, done = 0, some = 1;
    records = NULL;
    record_count = record_capacity = 0;
    held = (struct buffer){0};
    pthread_mutex_unlock(&lock);
    while (request && some && (buffer.bytes || done < count)) {
        if (!buffer.bytes)
            request(&buffer.bytes, &buffer.size, &buffer.most);
        some = buffer.bytes ? hand_over(buffer, mine + done, count - done) : 0;
        done += some;
        buffer = (struct buffer){0};
    }
    free(mine);
    return CUPTI_OK;
}
API(cuptiActivityFlush, CUcontext context, uint32_t stream, uint32_t flag)
{
    return cuptiActivityFlushAll(flag);
}

API(cuptiActivityGetNextRecord, uint8_t *buffer, size_t valid, uint8_t **record)
{
    if (!buffer || !record)
        return CUPTI_INVALID_PARAMETER;
    uint8_t *next = buffer;
    if (*record) {
        uint32_t kind;
        memcpy(&kind, *record, sizeof kind);
        next = *record + size_of(kind);
    }
    if (next >= buffer + valid)
        return CUPTI_MAX_LIMIT_REACHED;
    *record = next;
    return CUPTI_OK;
}
API(cuptiActivityGetNumDroppedRecords, CUcontext context, uint32_t stream, size_t *count)
{
    if (!count)
        return CUPTI_INVALID_PARAMETER;
    *count = 0;
    return CUPTI_OK;
}

API(cuptiActivityPushExternalCorrelationId, uint32_t kind, uint64_t id)
{
    if (kind >= EXTERNAL_KINDS || thread.depths[kind] == EXTERNAL_DEPTH)
        return CUPTI_INVALID_PARAMETER;
    thread.ids[kind][thread.depths[kind]++] = id;
    return CUPTI_OK;
}
API(cuptiActivityPopExternalCorrelationId, uint32_t kind, uint64_t *id)
{
    if (kind >= EXTERNAL_KINDS)
        return CUPTI_INVALID_PARAMETER;
    if (!thread.depths[kind])
        return CUPTI_QUEUE_EMPTY;
    uint64_t last = thread.ids[kind][--thread.depths[kind]];
    if (id)
        *id = last;
    return CUPTI_OK;
}

/* Callbacks ------------------------------------------------------------------------------------ */

API(cuptiSubscribe, void **handle, cupti_callback *function, void *user)
{
    if (!handle || !function)
        return CUPTI_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    bool free_to_use = !subscriber.exists;
    if (free_to_use) {
        memset(&subscriber, 0, sizeof subscriber);
        subscriber.exists = true;
        subscriber.function = function;
        subscriber.user = user;
        set_clock(NULL); /* that of a tool before it */
        *handle = &subscriber;
        listen_as_wanted();
    }
    pthread_mutex_unlock(&lock);
    return free_to_use ? CUPTI_OK : CUPTI_MULTIPLE_SUBSCRIBERS;
}
API(cuptiUnsubscribe, void *handle)
{
    if (handle != &subscriber)
        return CUPTI_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    subscriber.exists = false;
    listen_as_wanted();
    pthread_mutex_unlock(&lock);
    return CUPTI_OK;
}
API(cuptiEnableCallback, uint32_t on, void *handle, uint32_t domain, uint32_t call)
{
    if (handle != &subscriber || domain >= CUPTI_DOMAINS)
        return CUPTI_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    if (call < CALLS)
        subscriber.wants[domain][call] = on != 0;
    pthread_mutex_unlock(&lock);
    return CUPTI_OK;
}
API(cuptiEnableDomain, uint32_t on, void *handle, uint32_t domain)
{
    if (handle != &subscriber || domain >= CUPTI_DOMAINS)
        return CUPTI_INVALID_PARAMETER;
    for (uint32_t call = 0; call < CALLS; call++)
        cuptiEnableCallback(on, handle, domain, call);
    return CUPTI_OK;
}
API(cuptiEnableAllDomains, uint32_t on, void *handle)
{
    for (uint32_t domain = 1; domain < CUPTI_DOMAINS; domain++)
        if (cuptiEnableDomain(on, handle, domain) != CUPTI_OK)
            return CUPTI_INVALID_PARAMETER;
    return CUPTI_OK;
}
API(cuptiGetCallbackName, uint32_t domain, uint32_t call, const char **name)
{
    if (!name)
        return CUPTI_INVALID_PARAMETER;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (domain == CUPTI_DRIVER_API &&
            (calls[i].number == call || calls[i].per_thread == call)) {
            *name = calls[i].name;
            return CUPTI_OK;
        }
    *name = NULL;
    return CUPTI_INVALID_PARAMETER;
}
API(cuptiFinalize, void)
{
    pthread_mutex_lock(&lock);
    subscriber.exists = false;
    memset(enabled, 0, sizeof enabled);
    memset(enabled_calls, 0, sizeof enabled_calls);
    listen_as_wanted();
    pthread_mutex_unlock(&lock);
    return CUPTI_OK;
}

API(cuptiGetTimestamp, uint64_t *now)
{
    if (!now)
        return CUPTI_INVALID_PARAMETER;
    *now = timestamp();
    return CUPTI_OK;
}
