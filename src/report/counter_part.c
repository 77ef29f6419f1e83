/*
 * counter_part.c: how much of a launch's counter is due to one instruction, by the last column of
 * counters.def.
 */
#include "report/profile.h"

static double tally_of(const struct profile_inst *inst, enum gpu_tally_column column)
{
    switch (column) {
    case GPU_TALLY_warps:
        return (double)inst->warps;
    case GPU_TALLY_threads:
        return (double)inst->threads;
    case GPU_TALLY_on:
        return (double)inst->on;
    case GPU_TALLY_divergent:
        return (double)inst->divergent;
    case GPU_TALLY_waits:
        return (double)inst->waits;
    case GPU_TALLY_idle:
        return (double)inst->idle;
    default:
        return 0;
    }
}

static double memory_of(const struct profile_memory *memory, enum gpu_memory_column column)
{
    switch (column) {
#define MEMORY(name)                                                                               \
    case GPU_MEMORY_##name:                                                                        \
        return (double)memory->name;
#include "gpu/profile_columns.def"
    default:
        return 0;
    }
}

static bool is_one(const struct profile_code *code, enum gpu_accesses accesses)
{
    bool atomic = code->kind == PROFILE_RED || code->kind == PROFILE_ATOM;
    bool copy = code->kind == PROFILE_COPY, bulk = code->kind == PROFILE_BULK;
    bool writes = code->traits & GPU_TRAIT_WRITES;
    switch (accesses) {
    case GPU_ACCESSES_LOADS:
        return copy || (!atomic && !bulk && !writes);
    case GPU_ACCESSES_STORES:
        return !copy && !atomic && !bulk && writes;
    case GPU_ACCESSES_ATOMICS:
        return atomic;
    case GPU_ACCESSES_COPIES:
        return copy;
    case GPU_ACCESSES_BULKS:
        return bulk;
    case GPU_ACCESSES_ALL:
        break;
    }
    return true;
}

double profile_part(const struct gpu_counter_part *part, const struct profile_inst *inst)
{
    const struct profile_memory *memory = inst->memory[part->space];
    switch (part->of) {
    case GPU_OF_CLASS:
        return inst->code->class == part->class ? tally_of(inst, part->tally) : 0;
    case GPU_OF_MEMORY:
        return memory && is_one(inst->code, part->accesses) ? memory_of(memory, part->memory) : 0;
    case GPU_OF_INSTS:
        break;
    }
    return tally_of(inst, part->tally);
}
