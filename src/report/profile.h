/*
 * profile.h: what a program's launches did, read from the counters' file that the machine writes
 * with LOCKSTEP_PROFILE (watch/count_write.c), and what the time model makes of it.
 * read -> registers from elsewhere, if wanted -> profile_evaluate -> advice -> text, JSON, HTML.
 */
#ifndef LOCKSTEP_REPORT_PROFILE_H
#define LOCKSTEP_REPORT_PROFILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "gpu/counters.h"
#include "gpu/model.h"
#include "report/timeline.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum profile_kind {
#define KIND(name) PROFILE_##name,
#include "gpu/access_kinds.def"
#undef KIND
    PROFILE_KINDS
};

/* What an instruction, or a line, did in one space; profile_columns.def says what each is. */
struct profile_memory {
#define MEMORY(name) int64_t name;
#include "gpu/profile_columns.def"
};

/* Whose file it is; a later one is the better place to point to. */
enum profile_owner { PROFILE_SYSTEM, PROFILE_LIBRARY, PROFILE_PROGRAM };

struct profile_source {
    const char *path;
    const char *shown; /* as a reader would name it: relative where that is shorter */
    enum profile_owner owner;
    const char **lines; /* [line_count]; NULL if it cannot be read */
    unsigned line_count;
};

/* An instruction of a kernel. */
struct profile_code {
    unsigned ptx_line, bytes;            /* bytes per lane */
    unsigned slots;                      /* machine instructions that it becomes */
    unsigned load_phases, shared_phases; /* of the basic block that it begins: loads that wait for
                                            one another */
    enum gpu_class class;
    enum profile_kind kind;
    unsigned traits;               /* bits of enum gpu_inst_trait */
    const char *text;              /* "ld.global.f32"; NULL: not the program's own */
    struct profile_source *source; /* NULL if not known, */
    unsigned line;                 /* and then 0 */
};

struct profile_kernel {
    const char *name, *mangled;
    unsigned registers, static_shared, local_bytes, target;
    char target_suffix;         /* 'a', 'f' or 0 */
    const char *registers_from; /* "ptxas" or "estimated" */
    unsigned spill_bytes;       /* per thread, if ptxas reported it */
    struct profile_code *code;  /* [code_count] */
    unsigned code_count;
};

/* An instruction in one launch. */
struct profile_inst {
    const struct profile_code *code;
    uint64_t warps, threads, on, divergent, waits;
    uint64_t idle; /* barriers: instructions that others ran while warps waited here */
    struct profile_memory *memory[GPU_SPACES]; /* NULL: none */
    unsigned line;                             /* index in the launch's lines */
};

/* A line of the source in one launch. */
struct profile_line {
    struct profile_source *source;
    unsigned line;
    uint64_t warps, threads, on, divergent, waits, idle;
    uint64_t issued; /* machine instructions of warps */
    struct profile_memory memory[GPU_SPACES];
    double issue, traffic, heat; /* shares of the launch: issue, L2 traffic, what it is bound by */
};

struct advice {
    const char *rule;
    struct profile_source *source; /* NULL if not known */
    unsigned line;
    const char *text;
    double gain; /* time now / time then */
};

/* An access or a branch of a warp that was traced. */
struct profile_record {
    uint64_t block;
    unsigned warp;
    const struct profile_code *code;
    uint32_t active, mask;
    const char *kind, *space; /* space: NULL for a branch */
    unsigned bytes;
    int64_t addresses[32];
};

struct profile_launch {
    struct profile_kernel *kernel;
    unsigned number; /* of the program's launches, from 0 */
    const struct gpu_info *gpu;
    unsigned grid[3], block[3], dynamic_shared;
    struct gpu_counters counters;
    struct profile_inst *insts;
    unsigned inst_count;
    const char *fault;            /* NULL if it ran to its end */
    struct profile_record *trace; /* [trace_count] */
    size_t trace_count;
    uint64_t trace_dropped;
    json_t *replay; /* its line of the counters' file, for replay_json.c; NULL: none */
    /* By profile_evaluate: */
    struct gpu_shape shape;
    struct gpu_model model;
    struct profile_line *lines; /* hottest first */
    unsigned line_count;
    /* By advice_find: */
    struct advice *advice; /* most gain first */
    unsigned advice_count;
};

/* The text of a source that is not to be read from a file; NULL if this is not one. */
typedef const char *profile_text(const char *path, size_t *size);

struct profile {
    struct lk_arena *arena; /* owns everything but the two lists */
    struct profile_launch **launches;
    unsigned launch_count, launch_capacity;
    struct profile_kernel **kernels;
    unsigned kernel_count, kernel_capacity;
    struct lk_map kernels_by_id, sources_by_path;
    profile_text *text_of;
    struct timelines timelines;
};

/* Which launches are wanted, and where their sources are. */
struct profile_filter {
    const char *kernel;    /* a part of the name, or NULL */
    long launch;           /* a number, or -1 */
    long also;             /* beside launch: those from this number on; 0: none */
    profile_text *text_of; /* NULL: all sources are files */
};

/* NULL with a message (malloc'd) if the file cannot be read or is not what it should be. A file
 * that ends in the middle of a line is read up to there. */
struct profile *profile_read(const char *path, const struct profile_filter *filter, char **message);
void profile_free(struct profile *profile);
void profile_evaluate(struct profile *profile);

/* The line's text without its newline; NULL if it is not there. */
const char *profile_source_line(const struct profile_source *source, unsigned line);

/* Is it an access to this space? */
bool profile_is_in(const struct profile_record *record, enum gpu_space space);

/* How much of a counter is due to an instruction. */
double profile_part(const struct gpu_counter_part *part, const struct profile_inst *inst);

/* Adds the columns; of two strides the more frequent is kept. */
void profile_add_memory(struct profile_memory *sum, const struct profile_memory *more);

/* Does it have lines of a kernel in a .py file? */
bool profile_is_python(const struct profile_launch *launch);
/* Same kernel and shape as the one before it: shown once. */
bool profile_same(const struct profile_launch *a, const struct profile_launch *b);

#endif
