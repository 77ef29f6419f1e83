/*
 * counters.c: names of counters and classes, as tables.
 */
#include "gpu/counters.h"

const char *const gpu_class_keys[GPU_CLASS_COUNT] = {
#define CLASS(name, key, words) key,
#include "gpu/classes.def"
#undef CLASS
};

const struct gpu_counter_info gpu_counter_infos[] = {
#define COUNTER(name, ncu, words) {#name, ncu, words, offsetof(struct gpu_counters, name)},
#include "gpu/counters.def"
#undef COUNTER
};
const unsigned gpu_counter_count = sizeof(gpu_counter_infos) / sizeof(*gpu_counter_infos);
