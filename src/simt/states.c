/*
 * states.c: writes what states.h describes. Only whole launches are compared: the machine holds its
 * launch lock meanwhile, so no other launch changes the bytes; the host may, in managed memory.
 */
#include "simt/states.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct region {
    uint32_t number;  /* of an allocation; 0: */
    const char *name; /* a variable */
    uint64_t address, size;
    const uint8_t *bytes;
    uint64_t before;
};

struct simt_states {
    FILE *file;
    struct region *regions; /* of the launch that runs */
    size_t count, capacity;
    char *dump_what, *dump_path; /* NULL: nothing */
    uint64_t dump_launch;
    bool dump_after;
};

/* MACHINE:LAUNCH:before|after:WHAT:PATH */
static void read_dump(struct simt_states *states, unsigned machine, const char *text)
{
    char wanted[12], launch[24], when[8], what[256];
    int used = 0;
    if (!text ||
        sscanf(text, "%11[0-9]:%23[0-9]:%7[a-z]:%255[^:]:%n", wanted, launch, when, what, &used) !=
            4 ||
        !used || strtoul(wanted, NULL, 10) != machine)
        return;
    states->dump_launch = strtoull(launch, NULL, 10);
    states->dump_after = strcmp(when, "after") == 0;
    states->dump_what = strdup(what);
    states->dump_path = strdup(text + used);
}

void simt_states_open(struct simt_machine *machine)
{
    const char *path = getenv("LOCKSTEP_STATES");
    if (!path || !*path)
        return;
    FILE *file = fopen(path, "ae");
    if (!file) {
        fprintf(stderr, "lockstep: %s: %s\n", path, strerror(errno));
        return;
    }
    machine->states = lk_alloc_zeroed(sizeof(*machine->states));
    machine->states->file = file;
    read_dump(machine->states, machine->index, getenv("LOCKSTEP_STATES_DUMP"));
}

void simt_states_close(struct simt_machine *machine)
{
    if (!machine->states)
        return;
    fclose(machine->states->file);
    free(machine->states->regions);
    free(machine->states->dump_what);
    free(machine->states->dump_path);
    free(machine->states);
    machine->states = NULL;
}

/* Regions ---------------------------------------------------------------------------------------*/

static void add(struct simt_states *states, struct region region)
{
    if (states->count == states->capacity) {
        states->capacity = states->capacity * 2 + 64;
        states->regions = lk_realloc(states->regions, states->capacity * sizeof(*states->regions));
    }
    states->regions[states->count++] = region;
}

static void collect(struct simt_launch_state *launch)
{
    struct simt_memory *memory = &launch->machine->memory;
    struct simt_states *states = launch->machine->states;
    const struct simt_module *module = launch->kernel->module;
    states->count = 0;
    pthread_mutex_lock(&memory->lock);
    for (size_t i = 0; i < memory->live.count; i++) {
        const struct simt_allocation *item = &memory->live.items[i];
        if (item->owner != SIMT_OWNER_USER || !item->number)
            continue;
        uint64_t at = item->registered ? item->address : item->address + SIMT_BACKING;
        add(states, (struct region){.number = item->number,
                                    .address = item->address,
                                    .size = item->size,
                                    .bytes = (const uint8_t *)(uintptr_t)at});
    }
    pthread_mutex_unlock(&memory->lock);
    for (uint32_t i = 0; i < module->ptx->var_count; i++) {
        const struct ptx_var *var = module->ptx->vars[i];
        uint64_t at = module->var_addresses[i];
        if (at && var->space == PTX_SPACE_GLOBAL)
            add(states, (struct region){.name = var->name,
                                        .address = at,
                                        .size = var->size,
                                        .bytes = simt_memory_host(memory, at, var->size)});
    }
}

enum { PIECE = 1 << 20 };

/* Pages that nobody has touched are zeros, and are not touched here either. */
static bool is_untouched(const uint8_t *bytes, size_t size)
{
    unsigned char resident[PIECE / 4096 + 2];
    uintptr_t first = (uintptr_t)bytes & ~(uintptr_t)4095, end = (uintptr_t)bytes + size;
    size_t pages = (end - first + 4095) / 4096;
    if (mincore((void *)first, end - first, resident) != 0)
        return false;
    for (size_t i = 0; i < pages; i++)
        if (resident[i] & 1)
            return false;
    return true;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    size_t i = 0;
    uint64_t any = 0, word;
    for (; i + sizeof word <= size; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        any |= word;
    }
    for (; i < size; i++)
        any |= bytes[i];
    return any == 0;
}

/* Four lanes of words: as fast as memory. */
static uint64_t mix(uint64_t hash, const uint8_t *bytes, size_t size)
{
    uint64_t lanes[4] = {hash, hash ^ 1, hash ^ 2, hash ^ 3}, words[4];
    for (; size >= sizeof words; bytes += sizeof words, size -= sizeof words) {
        memcpy(words, bytes, sizeof words);
        for (int i = 0; i < 4; i++) {
            lanes[i] = (lanes[i] ^ words[i]) * 0x9e3779b97f4a7c15u;
            lanes[i] ^= lanes[i] >> 29;
        }
    }
    memset(words, 0, sizeof words);
    memcpy(words, bytes, size);
    for (int i = 0; i < 4; i++) {
        hash = (hash ^ lanes[i] ^ words[i]) * 0xbf58476d1ce4e5b9u;
        hash ^= hash >> 32;
    }
    return hash;
}

static uint64_t hash_of(const struct region *region)
{
    uint64_t hash = 1;
    for (uint64_t at = 0; region->bytes && at < region->size; at += PIECE) {
        size_t size = region->size - at < PIECE ? (size_t)(region->size - at) : PIECE;
        const uint8_t *bytes = region->bytes + at;
        if (is_untouched(bytes, size) || is_zero(bytes, size))
            hash = hash * 31 + 1;
        else
            hash = mix(hash, bytes, size);
    }
    return hash;
}

/* Records ---------------------------------------------------------------------------------------*/

/* The type of the kernel's floating-point atomics, which round in the order in which they come. */
static const char *float_atomics(const struct simt_code *code)
{
    for (uint32_t i = 0; i < code->inst_count; i++) {
        const struct ptx_inst *ptx = code->insts[i].ptx;
        if (code->insts[i].flags & SIMT_FLAG_HIDDEN || !ptx_has(ptx, PTX_MOD_ADD) ||
            ptx_op_infos[ptx->op].group != PTX_GROUP_ATOMIC)
            continue;
        enum ptx_type type = ptx->type_count ? ptx->types[ptx->type_count - 1] : PTX_TYPE_NONE;
        switch (type) {
        case PTX_F64:
            return "f64";
        case PTX_F32:
            return "f32";
        case PTX_F16:
        case PTX_F16X2:
            return "f16";
        case PTX_BF16:
        case PTX_BF16X2:
            return "bf16";
        default:
            break;
        }
    }
    return "-";
}

static void dump(struct simt_launch_state *launch, const struct region *region, bool after)
{
    const struct simt_states *states = launch->machine->states;
    char number[16];
    snprintf(number, sizeof number, "%u", region->number);
    if (!states->dump_what || states->dump_launch != launch->grid_number ||
        states->dump_after != after || !region->bytes ||
        strcmp(states->dump_what, region->name ? region->name : number) != 0)
        return;
    FILE *file = fopen(states->dump_path, "we");
    if (!file || fwrite(region->bytes, 1, region->size, file) != region->size)
        fprintf(stderr, "lockstep: %s: %s\n", states->dump_path, strerror(errno));
    if (file)
        fclose(file);
}

void simt_states_record(struct simt_launch_state *launch, bool after)
{
    struct simt_states *states = launch->machine->states;
    const uint32_t *grid = launch->launch->grid, *block = launch->launch->block;
    if (!after)
        collect(launch);
    else
        fprintf(states->file, "launch %u %" PRIu64 " %s %u,%u,%u %u,%u,%u %s\n",
                launch->machine->index, launch->grid_number, float_atomics(launch->code), grid[0],
                grid[1], grid[2], block[0], block[1], block[2], launch->kernel->ptx->name);
    for (size_t i = 0; i < states->count; i++) {
        struct region *region = &states->regions[i];
        uint64_t hash = hash_of(region);
        dump(launch, region, after);
        if (!after)
            region->before = hash;
        else if (region->name)
            fprintf(states->file, "variable %s %" PRIu64 " %016" PRIx64 " %016" PRIx64 "\n",
                    region->name, region->size, region->before, hash);
        else
            fprintf(states->file, "memory %u %" PRIu64 " %016" PRIx64 " %016" PRIx64 "\n",
                    region->number, region->size, region->before, hash);
    }
    fflush(states->file);
}
