/*
 * advice.h: what to do about a launch: one table of rules (advice.c), each a function that looks
 * at the launch and says where, what, and what the time model expects of it.
 */
#ifndef LOCKSTEP_REPORT_ADVICE_H
#define LOCKSTEP_REPORT_ADVICE_H

#include "report/profile.h"

/* Fills in launch->advice for every launch. */
void advice_find(struct profile *profile);

/* For the rules -----------------------------------------------------------------------------------
 */

struct advice_context {
    struct profile *profile;
    struct profile_launch *launch;
    unsigned repeats; /* launches of this kernel in the same shape */
    double warps;     /* of the launch */
    const char *rule; /* the one that runs */
    struct advice *found;
    unsigned count, capacity;
};

/* Counters and shape as they would be; starts as they are. */
struct advice_change {
    struct gpu_counters counters;
    struct gpu_shape shape;
};
struct advice_change advice_start(const struct advice_context *context);
double advice_gain(const struct advice_context *context, const struct advice_change *change);
void advice_take(uint64_t *counter, double amount); /* away from it, not below 0 */

/* Gives no advice if the gain is too small. */
void advice_say(struct advice_context *context, struct profile_source *source, unsigned line,
                double gain, const char *format, ...) __attribute__((format(printf, 5, 6)));
#define ADVICE_LEAST_GAIN 1.03

/* Without a gain to expect. */
void advice_note(struct advice_context *context, struct profile_source *source, unsigned line,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* What the instructions of some kinds did in one space, by line: [line_count], malloc'd. */
typedef bool advice_wanted(const struct profile_memory *memory);
struct advice_sum {
    struct profile_memory memory;
    uint64_t warps, threads;
    unsigned bytes; /* the widest access of a lane */
    bool repeated;  /* run more than once by a warp */
};
#define ADVICE_KIND(name) (1u << PROFILE_##name)
#define ADVICE_LOADS (ADVICE_KIND(LOAD))
#define ADVICE_STORES (ADVICE_KIND(STORE))
#define ADVICE_ATOMICS (ADVICE_KIND(RED) | ADVICE_KIND(ATOM))
struct advice_sum *advice_sums(const struct advice_context *context, enum gpu_space space,
                               unsigned kinds);
/* The same for selected instructions only. */
struct advice_sum *advice_sums_of(const struct advice_context *context, enum gpu_space space,
                                  unsigned kinds, advice_wanted *wanted);
/* All lines together; *most: index of the line with the most wavefronts. */
struct advice_sum advice_total(const struct advice_context *context, const struct advice_sum *sums,
                               unsigned *most);

/* Where the kernel begins: for advice about all of it. */
/* Is the kernel Triton's? Its words are programs, block sizes and num_warps then, not threads. */
bool advice_is_triton(const struct advice_context *context);
const struct profile_code *advice_kernel_place(const struct advice_context *context);

/* Executions of an instruction taken away: from its class, from issue, from what waits for loads.
 */
void advice_take_inst(struct gpu_counters *counters, const struct profile_code *code, double warps);

typedef void advice_rule(struct advice_context *context);
advice_rule advice_uncoalesced, advice_misaligned, advice_redundant, advice_narrow, advice_spills,
    advice_bank_conflicts, advice_atomics, advice_divergence, advice_occupancy, advice_few_blocks,
    advice_tail, advice_uneven, advice_f64, advice_tensor, advice_barriers, advice_launch;

#endif
