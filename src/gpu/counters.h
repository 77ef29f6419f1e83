/*
 * counters.h: the counters of a launch and the classes of instructions, from counters.def and
 * classes.def.
 */
#ifndef LOCKSTEP_GPU_COUNTERS_H
#define LOCKSTEP_GPU_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

enum gpu_class {
#define CLASS(name, key, words) GPU_CLASS_##name,
#include "gpu/classes.def"
#undef CLASS
    GPU_CLASS_COUNT
};
extern const char *const gpu_class_keys[GPU_CLASS_COUNT];

struct gpu_counters {
#define COUNTER(name, ncu, words) uint64_t name;
#include "gpu/counters.def"
#undef COUNTER
};

struct gpu_counter_info {
    const char *name, *ncu, *words;
    size_t offset; /* in struct gpu_counters */
};
extern const struct gpu_counter_info gpu_counter_infos[];
extern const unsigned gpu_counter_count;

static inline uint64_t *gpu_counter(struct gpu_counters *counters, unsigned index)
{
    return (uint64_t *)(void *)((char *)counters + gpu_counter_infos[index].offset);
}

#endif
