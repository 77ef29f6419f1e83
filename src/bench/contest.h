/*
 * contest.h: what it takes to measure contestants on one problem: the session, their memory, peers,
 * PyTorch. Only the files of src/bench include it.
 */
#ifndef LOCKSTEP_BENCH_CONTEST_H
#define LOCKSTEP_BENCH_CONTEST_H

#include "base/arena.h"
#include "base/buf.h"
#include "bench/bench.h"
#include "zoo/flush.h"
#include "zoo/instance.h"
#include "zoo/table.h"

#include "../../kernels/host/peer.h"

/* Clocks ----------------------------------------------------------------------------------------*/

struct bench_clocks; /* NVML; NULL where it is not */
struct bench_clocks *bench_clocks_open(const struct zoo_device *device);
void bench_clocks_close(struct bench_clocks *clocks);
unsigned bench_clocks_read(struct bench_clocks *clocks);      /* the SMs', in MHz; 0: not known */
const char *bench_clocks_driver(struct bench_clocks *clocks); /* "580.65.06" or "" */
double bench_now(void);                                       /* seconds of the CPU's clock */

/* Memory ----------------------------------------------------------------------------------------*/

/* All buffers of a problem in one allocation, several times: launches rotate through the copies, so
 * that each finds the L2 full of something else. Multiples of 2 MiB have an allocation of their
 * own, which is what another process can open. */
struct bench_slab {
    CUdeviceptr base;
    size_t bytes, stride;       /* of all; from one copy to the next */
    size_t offset[ZOO_BUFFERS]; /* of a buffer in its copy */
    unsigned copies, count;     /* count: buffers */
};
/* wanted: bytes that should lie between two uses of the same copy. */
bool bench_slab_open(struct bench_slab *slab, const struct zoo_device *device,
                     const struct zoo_instance *instance, size_t wanted, char **message);
void bench_slab_close(struct bench_slab *slab, const struct zoo_device *device);
/* Copy 0 to all others. */
CUresult bench_slab_spread(const struct bench_slab *slab, const struct zoo_device *device,
                           CUstream stream);
static inline CUdeviceptr bench_slab_buffer(const struct bench_slab *slab, unsigned copy,
                                            unsigned buffer)
{
    return slab->base + copy * slab->stride + slab->offset[buffer];
}

/* Peers -----------------------------------------------------------------------------------------*/

struct bench_peer_code {
    size_t (*workspace)(const struct lk_peer_call *call);
    int (*run)(const struct lk_peer_call *call);
    const char *(*version)(void);
};
/* The path of its library, malloc'd; NULL and a malloc'd message. */
char *bench_peer_build(const struct zoo_family *family, const struct zoo_peer *peer, int arch,
                       char **message);
/* Builds or opens what the peer needs; false and a malloc'd message if it is not here. */
bool bench_peer_load(struct bench_session *session, const struct zoo_family *family,
                     const struct zoo_peer *peer, struct bench_peer_code *code, char **message);

/* PyTorch in a process of its own, on our memory. All messages are malloc'd. */
struct bench_torch;
struct bench_torch *bench_torch_start(const struct zoo_device *device, char **message);
void bench_torch_stop(struct bench_torch *torch);
const char *bench_torch_version(const struct bench_torch *torch);
/* The next calls are about this expression on this memory; the slab stays until bench_torch_leave.
 */
bool bench_torch_enter(struct bench_torch *torch, const struct zoo_peer *peer,
                       const struct zoo_instance *instance, const struct bench_slab *slab,
                       char **message);
void bench_torch_leave(struct bench_torch *torch);
/* Evaluates on copy 0 and writes the results into its output buffers. */
bool bench_torch_check(struct bench_torch *torch, char **message);
/* Seconds of one evaluation, roughly. */
bool bench_torch_estimate(struct bench_torch *torch, double *seconds, char **message);
/* Prepares to time by *method, which becomes what is possible. */
bool bench_torch_prepare(struct bench_torch *torch, enum bench_method *method, unsigned launches,
                         size_t flush_bytes, char **message);
bool bench_torch_time(struct bench_torch *torch, unsigned samples, double *seconds, char **message);

/* Contestants -----------------------------------------------------------------------------------*/

struct bench_entrant {
    struct bench_entry *entry;
    const struct zoo_variant *variant; /* this, */
    const struct zoo_peer *peer;       /* or this */
    struct zoo_kernels *kernels;
    struct bench_peer_code code;
    struct zoo_call call;
    struct lk_peer_call peer_call;
    CUdeviceptr workspace;
    bool python;
    double estimate; /* seconds of one launch */
    CUgraphExec graph;
    unsigned launches; /* of one sample */
    double *samples;
    unsigned *clocks; /* MHz at each sample */
    size_t count, capacity;
    double spent;
    bool settled;
};

struct bench_session {
    struct bench_host host;
    struct bench_place place;
    struct zoo_device device; /* .cuda NULL: the CPU */
    struct zoo_table table;   /* what was tuned for this GPU */
    bool timed;               /* by events: a real GPU, or LOCKSTEP_BENCH_TIMED for tests */
    size_t l2_bytes;
    CUstream stream;
    struct zoo_flush flush;
    struct bench_clocks *clocks;
    unsigned most_mhz; /* seen so far */
    struct bench_torch *torch;
    char *no_torch; /* why not, once it was tried */
    struct bench_loaded {
        const struct zoo_peer *peer;
        struct bench_peer_code code;
        char *message; /* why it could not be loaded */
    } loaded[64];
    unsigned loaded_count;
    bool dead;
};

/* Puts one launch on this copy into the session's stream; entry->message says what is wrong. */
bool bench_entrant_launch(struct bench_session *session, struct bench_entrant *entrant,
                          const struct bench_slab *slab, unsigned copy);
void bench_entrant_add(struct bench_entrant *entrant, double seconds, unsigned mhz);
void bench_entrant_fail(struct bench_entrant *entrant, enum bench_state state, char *message);
void bench_remark(struct bench_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* timing.c: samples of all entrants that are still in the race, on a real GPU. */
bool bench_time(struct bench_session *session, struct bench_entrant *entrants, size_t count,
                const struct bench_slab *slab, double seconds, struct bench_result *result,
                char **message);
/* cpu.c */
bool bench_problem_cpu(struct bench_session *session, const struct bench_request *request,
                       struct bench_result *result, char **message);
double bench_cpu_copy(void); /* GB/s of memcpy, reads and writes */

/* problem.c */
struct bench_entry *bench_result_add(struct bench_result *result, const char *name, bool peer);
void bench_entry_finish(const struct bench_place *place, const struct bench_result *result,
                        struct bench_entry *entry);
bool bench_reference_is_slow(const struct zoo_problem *problem);

#endif
