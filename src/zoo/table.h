/*
 * table.h: which variant solves a problem best on a GPU. Tables come from
 * kernels/FAMILY/tuned.json, which lie in the library, and from the file that 'lockstep tune'
 * writes for this GPU; the latter go first: the first table that has a row that fits decides.
 *
 *   {"format": "lockstep tuned 1",
 *    "tables": [{"family": "reduction", "gpu": "NVIDIA H200", "time": "measured", "date": ..,
 *                "rows": [{"where": "op=sum bytes=..64K", "variant": "vectorised", ..}]}]}
 *
 * where: conditions as in problems: a word or several (op=sum,max), a number or a range of them
 * (n=1K..16K, bins=..256). bytes is the least that the problem moves, so that one row can speak of
 * several types. problem: what was measured; of several rows that fit, the one whose sizes are
 * nearest is taken (by their ratio, and none that is further off than a factor of 32 in all).
 * A row without a problem counts as exactly right, and the first of equals is taken.
 * A table of modelled times is for simulated GPUs only, "gpu": "any" for all. The library's tables
 * that were measured on other GPUs come last: better than nothing.
 */
#ifndef LOCKSTEP_ZOO_TABLE_H
#define LOCKSTEP_ZOO_TABLE_H

#include "base/buf.h"
#include "zoo/device.h"

#define ZOO_TABLE_FORMAT "lockstep tuned 1"
#define ZOO_CONDITIONS 8

struct zoo_condition {
    int parameter;       /* index of the family's; -1 is bytes */
    uint64_t words;      /* of an enumeration: a bit for each */
    int64_t least, most; /* of a number */
};

struct zoo_row {
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    struct zoo_condition condition[ZOO_CONDITIONS];
    unsigned condition_count;
    struct zoo_tuning tuning;
    char *where;
    char *ptx;      /* a file made with that tuning; NULL: the built-in one */
    char *origin;   /* "measured on NVIDIA H200, 2026-01-05; FILE": for people */
    double seconds; /* of the problem that was measured; 0: not measured */
    char *measured; /* that problem, "" if none was; near has its sizes */
    struct zoo_problem near;
    size_t table; /* which table it came from */
    bool broken;  /* its PTX did not load */
};

struct zoo_table {
    struct zoo_row *rows;
    size_t count, tables;
    struct lk_buf remarks; /* a line for each row or file that was ignored, and why */
};

/* Everything that is known for this GPU. */
void zoo_table_read(struct zoo_table *table, const struct zoo_device *device);
/* Adds the rows of one JSON text that are for this GPU, or those that were measured on others;
 * folder has its PTX files, NULL if it can have none. name is for messages. */
enum zoo_table_gpu { ZOO_THIS_GPU, ZOO_OTHER_GPUS };
void zoo_table_add(struct zoo_table *table, const struct zoo_device *device,
                   enum zoo_table_gpu gpus, const char *text, size_t size, const char *name,
                   const char *folder);
void zoo_table_free(struct zoo_table *table);

struct zoo_choice {
    const struct zoo_variant *variant;
    struct zoo_tuning tuning;
    const struct zoo_row *row; /* NULL: no row fits; the last variant that takes the problem */
};

/* Of which variants. */
struct zoo_demand {
    bool deterministic; /* the same bits in every run */
    bool aligned_too;   /* also those that take aligned buffers alone: the caller's are */
};
/* False if no variant on this GPU takes the problem. */
bool zoo_choose(const struct zoo_table *table, const struct zoo_device *device,
                const struct zoo_problem *problem, struct zoo_demand demand,
                struct zoo_choice *choice);

/* What is chosen at launch for a variant: as in the nearest row that names it and was measured on a
 * problem whose sizes together differ by at most a factor of 1.2. Everything else is normal. */
struct zoo_tuning zoo_tuning_at_launch(const struct zoo_table *table,
                                       const struct zoo_variant *variant,
                                       const struct zoo_problem *problem);
#define ZOO_VERY_NEAR 0.25 /* that factor, as zoo_row_distance has it */

/* Conditions of text; false and a message in *wrong. */
bool zoo_parse_where(struct zoo_row *row, const char *text, struct lk_buf *wrong);
/* How far the problem is from the row's, as a power of two; negative if it does not fit. */
double zoo_row_distance(const struct zoo_row *row, const struct zoo_problem *problem);

/* This GPU's file in ${XDG_DATA_HOME:-~/.local/share}/lockstep/tuned: "nvidia-h200.json",
 * "sim-nvidia-h200.json". Nothing is added where there is no home folder. */
void zoo_tuned_file(const struct zoo_device *device, struct lk_buf *path);

#endif
