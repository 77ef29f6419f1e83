/*
 * timeline.h: what a program did on a simulated GPU, from when to when in modelled time: copies,
 * kernels, memsets, events, and what the host issued and waited for. Read from the counters' file
 * (driver/timeline.c writes it), one timeline a process and device.
 */
#ifndef LOCKSTEP_REPORT_TIMELINE_H
#define LOCKSTEP_REPORT_TIMELINE_H

#include "base/arena.h"
#include "base/buf.h"
#include "gpu/gpu.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum timeline_kind {
    TIMELINE_KERNEL,
    TIMELINE_TO,     /* copies to the device, */
    TIMELINE_FROM,   /* from it, */
    TIMELINE_INSIDE, /* and inside it */
    TIMELINE_MEMSET,
    TIMELINE_HOST,  /* a host function in a stream */
    TIMELINE_EVENT, /* a record: takes no time */
    TIMELINE_STALL, /* a stream waits for an event or a value */
    TIMELINE_GRAPH, /* the launch of one; its nodes are operations of their own */
    TIMELINE_WAIT,  /* of the host */
    TIMELINE_KINDS
};
extern const char *const timeline_kind_words[TIMELINE_KINDS];

/* Seconds, from the beginning of the timeline. */
struct timeline_op {
    enum timeline_kind kind;
    uint64_t stream;
    uint64_t graph; /* 0: not of a graph, else which launch */
    unsigned row;   /* of the drawing; by timeline_evaluate */
    double asked, issued, begin, end;
    const char *call; /* the API call that asked for it, or that waited; "" if not known */
    const char *name; /* of a kernel; else "" */
    unsigned grid[3], block[3];
    double bytes;
};

/* A call of cuBLAS, cuFFT or cuRAND: counts as a kernel, and has no grid. */
static inline bool timeline_is_library(const struct timeline_op *op)
{
    return op->kind == TIMELINE_KERNEL && !op->grid[0];
}

/* A row of the drawing: a stream, or what runs beside its first row inside a graph. */
struct timeline_row {
    uint64_t stream;
    unsigned lane; /* 0: the stream itself */
};

enum timeline_engine { TIMELINE_COMPUTE, TIMELINE_COPY_TO, TIMELINE_COPY_FROM, TIMELINE_ENGINES };
extern const char *const timeline_engine_words[TIMELINE_ENGINES];

struct timeline_engine_sum {
    unsigned operations;
    double busy, bytes; /* busy: seconds in which anything runs on it */
};

/* A time in which no kernel runs, and what the next one (or the end) waits for. */
struct timeline_gap {
    double begin, end;
    const char *reason;
};
enum { TIMELINE_GAPS = 5 };

struct timeline {
    long process; /* of the program, from 0 */
    int device;
    const struct gpu_info *gpu;
    struct timeline_op *ops; /* by begin; those of TIMELINE_WAIT too */
    size_t count, capacity;
    struct { /* beyond what the file holds: sums only */
        uint64_t operations, kernels, copies;
        double kernel_seconds, copy_seconds, until;
    } more;
    /* By timeline_evaluate: */
    double seconds; /* from the first call to the last end */
    struct timeline_row *rows;
    unsigned row_count, stream_count;
    struct timeline_engine_sum engines[TIMELINE_ENGINES];
    double copy_busy, both_busy; /* copies to or from; copies and kernels */
    double overlap;              /* both over the shorter of copies and kernels; 0 without one */
    unsigned calls, waits;
    double issuing, waiting;                 /* of the host */
    double launching;                        /* launch overhead inside the kernels' time */
    struct timeline_gap gaps[TIMELINE_GAPS]; /* largest first */
    unsigned gap_count;
};

struct timelines {
    struct timeline **items; /* most operations first, after timelines_evaluate */
    size_t count;
};

/* A line with the key "timeline". False if it makes no sense. */
bool timeline_read(struct timelines *timelines, struct lk_arena *arena, const json_t *line);
void timelines_evaluate(struct timelines *timelines, struct lk_arena *arena);
void timelines_free(struct timelines *timelines);

/* "copy to the device, 4 MiB" or "saxpy <<<132, 256>>>". */
const char *timeline_op_words(char *buf, size_t size, const struct timeline_op *op);
/* "stream 13", "stream 13, beside" */
const char *timeline_row_words(char *buf, size_t size, const struct timeline_row *row);

json_t *timelines_json(const struct timelines *timelines);
/* Chrome's trace format, which Perfetto and chrome://tracing open. */
json_t *timelines_chrome(const struct timelines *timelines);
void timeline_svg(struct lk_buf *out, const struct timeline *timeline);

#endif
