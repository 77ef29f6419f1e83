/*
 * bench.h: how long variants and peers take on the same problem, side by side.
 *
 *   bench_open -> bench_problem for each problem -> bench_close
 *
 * A contestant that does not match the reference is not timed. On a real GPU times come from
 * events, and all contestants take turns launch by launch; on a simulated one they are modelled;
 * with no device they are variants of the CPU, timed by its clock.
 */
#ifndef LOCKSTEP_BENCH_BENCH_H
#define LOCKSTEP_BENCH_BENCH_H

#include "base/buf.h"
#include "bench/stats.h"
#include "gpu/gpu.h"
#include "zoo/device.h"

/* How a time was taken; the same for all contestants of a problem that share our process. */
enum bench_method {
    BENCH_SINGLE, /* one launch between two events */
    BENCH_GRAPH,  /* a captured graph of many launches between two events */
    BENCH_QUEUE,  /* many launches in a row between two events */
    BENCH_MODEL,  /* modelled, on a simulated GPU */
    BENCH_CLOCK,  /* of the CPU, by its clock */
};
extern const char *const bench_method_names[];

enum bench_state { BENCH_MEASURED, BENCH_WRONG, BENCH_SKIPPED };

/* One contestant of one problem. */
struct bench_entry {
    const char *name;
    bool peer;
    enum bench_state state;
    char *message; /* why it is wrong or was skipped */
    char *version; /* of a peer */
    enum bench_method method;
    unsigned launches;         /* of one sample */
    struct bench_summary time; /* seconds of one launch */
    size_t discarded;          /* samples at a low clock */
    size_t workspace_bytes;
    int registers, lines; /* 0: not known */
    double gb_s, gflop_s; /* by the family's floor in bytes and operations */
    double roof;          /* the datasheet's least time over this one's; 0: not known */
    double copy_roof;     /* the same with the bandwidth of a measured copy */
};

struct bench_result {
    const struct zoo_family *family;
    struct zoo_problem problem;
    char *text; /* "n=1M op=sum" */
    double bytes, flops;
    const char *unit;    /* that makes the operations: "f32", "tensor-bf16" */
    size_t buffer_bytes; /* of device memory, one copy */
    unsigned copies;
    char *verified_on; /* another problem, if the reference would take too long on this one */
    char *remarks;     /* lines, or NULL */
    struct bench_entry *entries;
    size_t count;
};

/* What the times depend on. */
struct bench_place {
    const char *gpu; /* "cuda:0", "sim:h200", "cpu" */
    char name[128];  /* "NVIDIA H200" */
    bool modelled;
    char driver[96];             /* "CUDA 13.0, 580.65.06" */
    const struct gpu_info *info; /* NULL: not in our table */
    double copy_gb_s;            /* measured; 0: not known */
};

/* What the caller lends. */
struct bench_host {
    void *context;
    /* Where things stand: fraction in [0, 1] of this problem. NULL: not reported. */
    void (*progress)(void *context, const char *what, double fraction);
};

struct bench_request {
    struct zoo_problem problem;
    uint64_t chosen; /* a bit for each of the family's variants; 0: all that run here */
    double seconds;  /* for this problem */
    bool variants, peers;
};

struct bench_session;

/* gpu as for zoo_device_open, or "cpu". NULL and a malloc'd message on failure. */
struct bench_session *bench_open(const char *gpu, const struct bench_host *host, char **message);
void bench_close(struct bench_session *session);
const struct bench_place *bench_place(const struct bench_session *session);
/* False and a malloc'd message if the problem cannot be set up; a contestant that fails becomes an
 * entry with its message. */
bool bench_problem(struct bench_session *session, const struct bench_request *request,
                   struct bench_result *result, char **message);
/* After an error that the device does not recover from, nothing more can be measured. */
bool bench_is_dead(const struct bench_session *session);
void bench_result_free(struct bench_result *result);

#endif
