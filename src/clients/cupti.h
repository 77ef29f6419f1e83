/*
 * cupti.h: of CUPTI's ABI what the drop-in has: numbers and layouts as in NVIDIA's public headers.
 */
#ifndef LOCKSTEP_CLIENTS_CUPTI_H
#define LOCKSTEP_CLIENTS_CUPTI_H

#include "cuda/abi.h"

#include <stddef.h>
#include <stdint.h>

enum {
    CUPTI_OK = 0,
    CUPTI_INVALID_PARAMETER = 1,
    CUPTI_NOT_IMPLEMENTED = 11,
    CUPTI_MAX_LIMIT_REACHED = 12,
    CUPTI_QUEUE_EMPTY = 18,
    CUPTI_INVALID_KIND = 21,
    CUPTI_MULTIPLE_SUBSCRIBERS = 39
};

enum { CUPTI_DRIVER_API = 1, CUPTI_DOMAINS = 8 };
enum { CUPTI_ENTER, CUPTI_EXIT };

enum {
    CUPTI_KIND_MEMCPY = 1,
    CUPTI_KIND_MEMSET = 2,
    CUPTI_KIND_KERNEL = 3,
    CUPTI_KIND_DRIVER = 4,
    CUPTI_KIND_CONCURRENT_KERNEL = 10,
    CUPTI_KIND_EXTERNAL_CORRELATION = 39,
    CUPTI_KINDS = 64
};

enum { CUPTI_COPY_TO_DEVICE = 1, CUPTI_COPY_FROM_DEVICE = 2, CUPTI_COPY_INSIDE = 8 };
enum { CUPTI_MEMORY_PAGEABLE = 1, CUPTI_MEMORY_DEVICE = 3 };

#define PACKED __attribute__((packed, aligned(8)))

struct cupti_kernel { /* CUpti_ActivityKernel11, whose older forms begin like it */
    uint32_t kind;
    uint8_t cache_config, shared_config;
    uint16_t registers;
    uint32_t cache_requested, cache_executed;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3], static_shared, shared;
    uint32_t local, local_total, correlation;
    int64_t number;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t launch_type, carveout_requested, carveout, padding;
    uint32_t shared_executed;
    uint64_t node;
    uint32_t shared_limit, graph;
    void *access_policy;
    uint32_t channel, channel_type, cluster[3], cluster_policy;
    uint64_t local_total_wide;
    uint32_t max_cluster, active_clusters;
    uint8_t device_launched, padding3[7];
    int32_t priority;
    uint32_t padding4;
} PACKED;

struct cupti_memcpy { /* CUpti_ActivityMemcpy6 */
    uint32_t kind;
    uint8_t way, from, to, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation, runtime_correlation, padding;
    void *reserved;
    uint64_t node;
    uint32_t graph, channel, channel_type;
    uint8_t device_launched, padding2[3];
    uint64_t count;
} PACKED;

struct cupti_memset { /* CUpti_ActivityMemset4 */
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory;
    uint32_t padding;
    void *reserved;
    uint64_t node;
    uint32_t graph, channel, channel_type;
    uint8_t device_launched, padding2[3];
} PACKED;

struct cupti_api { /* CUpti_ActivityAPI */
    uint32_t kind, call;
    uint64_t start, end;
    uint32_t process, thread, correlation, status;
} PACKED;

struct cupti_external { /* CUpti_ActivityExternalCorrelation */
    uint32_t kind, external_kind;
    uint64_t external;
    uint32_t correlation, reserved;
} PACKED;

struct cupti_callback_data { /* CUpti_CallbackData */
    int site;
    const char *name;
    const void *params;
    void *result;
    const char *symbol;
    CUcontext context;
    uint32_t context_number;
    uint64_t *own;
    uint32_t correlation;
};

#define API(name, ...)                                                                             \
    __attribute__((visibility("default"))) int name(__VA_ARGS__);                                  \
    __attribute__((visibility("default"))) int name(__VA_ARGS__)

static inline uint32_t context_number(CUcontext context)
{
    return (uint32_t)((uintptr_t)context >> 4);
}

/* Handles are unique as long as they live; a graph of 0 would mean that there is none. */
static inline uint32_t handle_number(const void *handle)
{
    return handle ? (uint32_t)((uintptr_t)handle >> 4) | 1 : 0;
}

/* The calling thread, by the kind of number that the tool wants. */
uint32_t cupti_thread(void);

typedef void cupti_callback(void *user, int domain, uint32_t call, const void *data);
typedef void cupti_request(uint8_t **buffer, size_t *size, size_t *most);
typedef void cupti_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                            size_t valid);
typedef uint64_t cupti_clock(void);

#endif
