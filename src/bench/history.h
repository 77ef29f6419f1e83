/*
 * history.h: what was measured before: every run in an SQLite file, some under a name, and the
 * comparison of a run with one of them.
 */
#ifndef LOCKSTEP_BENCH_HISTORY_H
#define LOCKSTEP_BENCH_HISTORY_H

#include "bench/results.h"

/* An earlier run, from the history or from a file that --json wrote. */
struct bench_saved_time {
    char *family, *problem, *name;
    struct bench_summary time;
};
struct bench_saved {
    char *gpu_name, *commit, *date;
    bool modelled;
    struct bench_saved_time *times;
    size_t count;
};
void bench_saved_free(struct bench_saved *saved);

struct bench_history;
/* NULL and a malloc'd message. writable: the file and its folder are made if needed. */
struct bench_history *bench_history_open(const char *path, bool writable, char **message);
/* The same for LOCKSTEP_HISTORY, or ${XDG_DATA_HOME:-~/.local/share}/lockstep/history.db. */
struct bench_history *bench_history_open_usual(bool writable, char **message);
void bench_history_close(struct bench_history *history);
/* Stores the report, whole or not at all. name NULL: without a name; a run that had the name loses
 * it.
 */
bool bench_history_add(struct bench_history *history, const struct bench_report *report,
                       const char *name, char **message);
/* The run of that name; NULL and a message that says which there are. */
struct bench_saved *bench_history_find(struct bench_history *history, const char *name,
                                       char **message);

/* The median times of one contestant on one problem and GPU, oldest first. */
struct bench_series {
    char *gpu_name, *problem, *name;
    bool peer, modelled;
    struct bench_point {
        char date[32], commit[64], run[64];
        double seconds, gb_s;
    } * points;
    size_t count;
};
/* All series of a family, in display order; variant NULL: all contestants. */
bool bench_history_series(struct bench_history *history, const char *family, const char *variant,
                          struct bench_series **series, size_t *count, char **message);
void bench_series_free(struct bench_series *series, size_t count);
/* plot: with a drawing of each. */
void bench_print_series(FILE *out, const struct report_paint *paint,
                        const struct bench_series *series, size_t count, bool plot);
json_t *bench_series_json(const struct bench_series *series, size_t count);

/* A run from a file of 'lockstep bench --json'. */
struct bench_saved *bench_saved_read(const char *path, char **message);
/* A file if there is one of that name, or it looks like one; else a name in the history. */
struct bench_saved *bench_saved_find(const char *name, char **message);

/* Comparing: our variants, not the peers. -------------------------------------------------------*/

struct bench_change {
    const struct bench_result *result;
    const struct bench_entry *entry;
    const struct bench_saved_time *before; /* NULL: it was not there */
    enum bench_verdict verdict;
};
/* Times of different places are not compared; false and a malloc'd message if they are different.
 */
bool bench_comparable(const struct bench_place *place, const struct bench_saved *saved,
                      char **message);
/* malloc'd, one for each variant that was measured now. */
struct bench_change *bench_changes(const struct bench_report *report,
                                   const struct bench_saved *saved, size_t *count);
void bench_print_changes(FILE *out, const struct report_paint *paint,
                         const struct bench_change *changes, size_t count,
                         const struct bench_saved *saved, const char *name);
json_t *bench_changes_json(const struct bench_change *changes, size_t count);

#define BENCH_THRESHOLD 0.01 /* what changes by less is the same */

#endif
