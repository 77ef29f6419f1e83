/*
 * counters.h: the counters of a launch and the classes of instructions, from counters.def and
 * classes.def.
 */
#ifndef LOCKSTEP_GPU_COUNTERS_H
#define LOCKSTEP_GPU_COUNTERS_H

#include "gpu/profile_columns.h"

#include <stddef.h>
#include <stdint.h>

enum gpu_class {
#define CLASS(name, words) GPU_CLASS_##name,
#include "gpu/classes.def"
#undef CLASS
    GPU_CLASS_COUNT
};

struct gpu_counters {
#define COUNTER(name, ncu, words, part) uint64_t name;
#include "gpu/counters.def"
#undef COUNTER
};

/* The accesses that add to a counter of memory. */
enum gpu_accesses {
    GPU_ACCESSES_ALL,
    GPU_ACCESSES_LOADS, /* with copies */
    GPU_ACCESSES_STORES,
    GPU_ACCESSES_ATOMICS,
    GPU_ACCESSES_COPIES,
    GPU_ACCESSES_BULKS
};

/* What of an instruction adds to a counter. */
struct gpu_counter_part {
    enum { GPU_OF_INSTS, GPU_OF_CLASS, GPU_OF_MEMORY } of;
    enum gpu_tally_column tally; /* OF_INSTS and OF_CLASS */
    enum gpu_class class;        /* OF_CLASS */
    enum gpu_space space;        /* OF_MEMORY, with the next two */
    enum gpu_accesses accesses;
    enum gpu_memory_column memory;
};

struct gpu_counter_info {
    const char *name, *ncu, *words;
    size_t offset; /* in struct gpu_counters */
    struct gpu_counter_part part;
};
extern const struct gpu_counter_info gpu_counter_infos[];
extern const unsigned gpu_counter_count;

static inline uint64_t *gpu_counter(struct gpu_counters *counters, unsigned index)
{
    return (uint64_t *)(void *)((char *)counters + gpu_counter_infos[index].offset);
}

#endif
