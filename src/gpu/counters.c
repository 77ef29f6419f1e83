/*
 * counters.c: names of counters and memory spaces, as tables.
 */
#include "gpu/counters.h"

const char *const gpu_space_keys[GPU_SPACES] = {
#define SPACE(name, key) key,
#include "gpu/spaces.def"
#undef SPACE
};

#define OF_INSTS(column)                                                                           \
    {                                                                                              \
        .of = GPU_OF_INSTS, .tally = GPU_TALLY_##column                                            \
    }
#define OF_CLASS(class_, column)                                                                   \
    {                                                                                              \
        .of = GPU_OF_CLASS, .class = GPU_CLASS_##class_, .tally = GPU_TALLY_##column               \
    }
#define OF_MEMORY(space_, who, column)                                                             \
    {                                                                                              \
        .of = GPU_OF_MEMORY, .space = GPU_SPACE_##space_, .accesses = GPU_ACCESSES_##who,          \
        .memory = GPU_MEMORY_##column                                                              \
    }
const struct gpu_counter_info gpu_counter_infos[] = {
#define COUNTER(name, ncu, words, part)                                                            \
    {#name, ncu, words, offsetof(struct gpu_counters, name), part},
#include "gpu/counters.def"
#undef COUNTER
};
const unsigned gpu_counter_count = sizeof(gpu_counter_infos) / sizeof(*gpu_counter_infos);
