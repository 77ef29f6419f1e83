/*
 * profile_columns.h: where the columns of profile_columns.def lie in their rows, and the memory
 * spaces and traits of instructions that they speak of.
 */
#ifndef LOCKSTEP_GPU_PROFILE_COLUMNS_H
#define LOCKSTEP_GPU_PROFILE_COLUMNS_H

enum gpu_code_column {
#define CODE(name) GPU_CODE_##name,
#include "gpu/profile_columns.def"
    GPU_CODE_TEXT,
    GPU_CODE_PLACES,
    GPU_CODE_COLUMNS
};

enum gpu_tally_column {
#define TALLY(name) GPU_TALLY_##name,
#include "gpu/profile_columns.def"
    GPU_TALLY_COLUMNS
};

enum gpu_memory_column {
#define MEMORY(name) GPU_MEMORY_##name,
#include "gpu/profile_columns.def"
    GPU_MEMORY_COLUMNS
};

enum gpu_trace_column {
#define TRACE(name) GPU_TRACE_##name,
#include "gpu/profile_columns.def"
    GPU_TRACE_COLUMNS
};

enum gpu_replay_column {
#define REPLAY(name) GPU_REPLAY_##name,
#include "gpu/profile_columns.def"
    GPU_REPLAY_COLUMNS
};

enum gpu_space {
#define SPACE(name, key) GPU_SPACE_##name,
#include "gpu/spaces.def"
#undef SPACE
    GPU_SPACES
};
extern const char *const gpu_space_keys[GPU_SPACES];

enum gpu_inst_trait {
#define TRAIT(name, number) GPU_TRAIT_##name = 1u << (number),
#include "gpu/inst_traits.def"
#undef TRAIT
};

#endif
