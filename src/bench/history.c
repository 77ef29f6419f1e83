/*
 * history.c: the history's SQLite file; see history.h.
 */
#include "bench/history.h"

#include "bench/contest.h"
#include "host/files.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, name TEXT UNIQUE, date TEXT,"
    " gpu_name TEXT, driver TEXT, compiler TEXT, source TEXT, modelled INTEGER, copy_gb_s REAL);"
    "CREATE TABLE IF NOT EXISTS times (run INTEGER REFERENCES runs(id), family TEXT, problem TEXT,"
    " name TEXT, peer INTEGER, version TEXT, samples INTEGER, median REAL, q1 REAL, q3 REAL,"
    " low REAL, high REAL, gb_s REAL, gflop_s REAL, roof REAL, copy_roof REAL);"
    "CREATE INDEX IF NOT EXISTS times_of_family ON times (family, problem, name);"
    "CREATE INDEX IF NOT EXISTS times_of_run ON times (run);";

struct bench_history {
    sqlite3 *db;
    char *path;
};

/* Opening ---------------------------------------------------------------------------------------*/

/* malloc'd; NULL if no home is known. */
static char *history_path(void)
{
    const char *path = getenv("LOCKSTEP_HISTORY");
    return path && *path ? strdup(path) : host_data_path("history.db");
}

static char *failure(const struct bench_history *history)
{
    return lk_format("%s: %s", history->path, sqlite3_errmsg(history->db));
}

struct bench_history *bench_history_open(const char *path, bool writable, char **message)
{
    struct bench_history *history = lk_alloc_zeroed(sizeof *history);
    *message = NULL;
    if (!writable && access(path, F_OK) != 0) {
        *message = lk_format("nothing was measured yet: there is no %s", path);
        free(history);
        return NULL;
    }
    history->path = strdup(path);
    if (writable)
        host_make_parents(path, NULL); /* opening the file says what is wrong */
    int flags = writable ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    int status = sqlite3_open_v2(path, &history->db, flags, NULL);
    if (status == SQLITE_OK) {
        sqlite3_busy_timeout(history->db, 5000);
        /* Reading the schema finds out whether it is a database at all. */
        status = sqlite3_exec(history->db, writable ? schema : "SELECT id FROM runs LIMIT 1", NULL,
                              NULL, NULL);
    }
    if (status == SQLITE_OK)
        return history;
    *message = failure(history);
    bench_history_close(history);
    return NULL;
}

struct bench_history *bench_history_open_usual(bool writable, char **message)
{
    char *path = history_path();
    struct bench_history *history = NULL;
    *message = NULL;
    if (path)
        history = bench_history_open(path, writable, message);
    else
        *message = strdup("no home folder is known; set LOCKSTEP_HISTORY to a file");
    free(path);
    return history;
}

void bench_history_close(struct bench_history *history)
{
    if (!history)
        return;
    sqlite3_close(history->db);
    free(history->path);
    free(history);
}

/* Statements: values are bound by letters: s text, i whole number, d double
 * -----------------------*/

static sqlite3_stmt *prepare(struct bench_history *history, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(history->db, sql, -1, &statement, NULL) != SQLITE_OK)
        return NULL;
    return statement;
}

static void bind(sqlite3_stmt *statement, const char *letters, ...)
{
    va_list values;
    va_start(values, letters);
    for (int i = 0; letters[i]; i++)
        if (letters[i] == 's')
            sqlite3_bind_text(statement, i + 1, va_arg(values, const char *), -1, SQLITE_TRANSIENT);
        else if (letters[i] == 'i')
            sqlite3_bind_int64(statement, i + 1, va_arg(values, long long));
        else
            sqlite3_bind_double(statement, i + 1, va_arg(values, double));
    va_end(values);
}

static bool finish(sqlite3_stmt *statement)
{
    int status = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return status == SQLITE_DONE;
}

static char *column(sqlite3_stmt *statement, int number)
{
    const char *text = (const char *)sqlite3_column_text(statement, number);
    return strdup(text ? text : "");
}

/* Writing ---------------------------------------------------------------------------------------*/

static bool add_run(struct bench_history *history, const struct bench_report *report,
                    const char *name)
{
    const struct bench_place *place = report->place;
    sqlite3_stmt *statement = prepare(history, "UPDATE runs SET name = NULL WHERE name = ?");
    if (!statement)
        return false;
    bind(statement, "s", name);
    if (!finish(statement))
        return false;
    statement = prepare(history, "INSERT INTO runs (name, date, gpu_name, driver, compiler, source,"
                                 " modelled, copy_gb_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    if (!statement)
        return false;
    bind(statement, "ssssssid", name, report->date, place->name, place->driver, report->compiler,
         report->commit, (long long)place->modelled, place->copy_gb_s);
    return finish(statement);
}

static bool add_time(struct bench_history *history, long long run,
                     const struct bench_result *result, const struct bench_entry *entry)
{
    sqlite3_stmt *statement = prepare(
        history, "INSERT INTO times VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!statement)
        return false;
    const struct bench_summary *time = &entry->time;
    bind(statement, "isssisiddddddddd", run, result->family->name, result->text, entry->name,
         (long long)entry->peer, entry->version, (long long)time->count, time->median, time->q1,
         time->q3, time->low, time->high, entry->gb_s, entry->gflop_s, entry->roof,
         entry->copy_roof);
    return finish(statement);
}

bool bench_history_add(struct bench_history *history, const struct bench_report *report,
                       const char *name, char **message)
{
    *message = NULL;
    bool fine = sqlite3_exec(history->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
                add_run(history, report, name);
    long long run = sqlite3_last_insert_rowid(history->db);
    for (size_t i = 0; i < report->count && fine; i++)
        for (size_t k = 0; k < report->results[i].count && fine; k++)
            if (report->results[i].entries[k].state == BENCH_MEASURED)
                fine = add_time(history, run, &report->results[i], &report->results[i].entries[k]);
    fine = fine && sqlite3_exec(history->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    if (fine)
        return true;
    *message = failure(history);
    sqlite3_exec(history->db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

/* Reading ---------------------------------------------------------------------------------------*/

/* Which names there are, the newest first. */
static char *no_run(struct bench_history *history, const char *name)
{
    struct lk_buf text = {0};
    lk_buf_printf(&text, "no run was saved as '%s'", name);
    sqlite3_stmt *statement =
        prepare(history, "SELECT name FROM runs WHERE name IS NOT NULL ORDER BY id DESC LIMIT 8");
    bool any = false;
    while (statement && sqlite3_step(statement) == SQLITE_ROW) {
        lk_buf_printf(&text, "%s'%s'", any ? ", " : "; there are ",
                      (const char *)sqlite3_column_text(statement, 0));
        any = true;
    }
    sqlite3_finalize(statement);
    if (!any)
        lk_buf_printf(&text, "; save one with --save %s", name);
    return text.data;
}

static bool read_times(struct bench_history *history, long long run, struct bench_saved *saved)
{
    sqlite3_stmt *statement = prepare(history, "SELECT family, problem, name, samples, median, q1,"
                                               " q3, low, high FROM times WHERE run = ?");
    if (!statement)
        return false;
    bind(statement, "i", run);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        saved->times = lk_realloc(saved->times, (saved->count + 1) * sizeof *saved->times);
        struct bench_saved_time *time = &saved->times[saved->count++];
        time->family = column(statement, 0);
        time->problem = column(statement, 1);
        time->name = column(statement, 2);
        time->time = (struct bench_summary){.count = (size_t)sqlite3_column_int64(statement, 3),
                                            .median = sqlite3_column_double(statement, 4),
                                            .q1 = sqlite3_column_double(statement, 5),
                                            .q3 = sqlite3_column_double(statement, 6),
                                            .low = sqlite3_column_double(statement, 7),
                                            .high = sqlite3_column_double(statement, 8)};
    }
    sqlite3_finalize(statement);
    return true;
}

struct bench_saved *bench_history_find(struct bench_history *history, const char *name,
                                       char **message)
{
    struct bench_saved *saved = NULL;
    *message = NULL;
    sqlite3_stmt *statement =
        prepare(history, "SELECT id, gpu_name, source, date, modelled FROM runs WHERE name = ?");
    if (statement)
        bind(statement, "s", name);
    if (statement && sqlite3_step(statement) == SQLITE_ROW) {
        saved = lk_alloc_zeroed(sizeof *saved);
        saved->gpu_name = column(statement, 1);
        saved->commit = column(statement, 2);
        saved->date = column(statement, 3);
        saved->modelled = sqlite3_column_int(statement, 4) != 0;
        if (!read_times(history, sqlite3_column_int64(statement, 0), saved)) {
            *message = failure(history);
            bench_saved_free(saved);
            saved = NULL;
        }
    } else {
        *message = statement ? no_run(history, name) : failure(history);
    }
    sqlite3_finalize(statement);
    return saved;
}

/* The series that a row belongs to: rows of one come one after the other. */
static struct bench_series *series_of(struct bench_series **series, size_t *count,
                                      sqlite3_stmt *row)
{
    struct bench_series *last = *count ? &(*series)[*count - 1] : NULL;
    bool modelled = sqlite3_column_int(row, 4) != 0;
    if (last && last->modelled == modelled &&
        strcmp(last->gpu_name, (const char *)sqlite3_column_text(row, 0)) == 0 &&
        strcmp(last->problem, (const char *)sqlite3_column_text(row, 1)) == 0 &&
        strcmp(last->name, (const char *)sqlite3_column_text(row, 2)) == 0)
        return last;
    *series = lk_realloc(*series, (*count + 1) * sizeof **series);
    last = &(*series)[(*count)++];
    *last = (struct bench_series){.gpu_name = column(row, 0),
                                  .problem = column(row, 1),
                                  .name = column(row, 2),
                                  .peer = sqlite3_column_int(row, 3) != 0,
                                  .modelled = modelled};
    return last;
}

static void add_point(struct bench_series *series, sqlite3_stmt *row)
{
    series->points = lk_realloc(series->points, (series->count + 1) * sizeof *series->points);
    struct bench_point *point = &series->points[series->count++];
    *point = (struct bench_point){.seconds = sqlite3_column_double(row, 5),
                                  .gb_s = sqlite3_column_double(row, 6)};
    const char *date = (const char *)sqlite3_column_text(row, 7);
    const char *commit = (const char *)sqlite3_column_text(row, 8);
    const char *run = (const char *)sqlite3_column_text(row, 9);
    snprintf(point->date, sizeof point->date, "%s", date ? date : "");
    snprintf(point->commit, sizeof point->commit, "%s", commit ? commit : "");
    snprintf(point->run, sizeof point->run, "%s", run ? run : "");
}

bool bench_history_series(struct bench_history *history, const char *family, const char *variant,
                          struct bench_series **series, size_t *count, char **message)
{
    *series = NULL;
    *count = 0;
    *message = NULL;
    /* Contestants in the order in which they were first measured: from naive to the limit. */
    sqlite3_stmt *statement = prepare(
        history,
        "SELECT gpu_name, problem, times.name, peer, modelled, median, gb_s, date, source,"
        " runs.name, MIN(times.rowid) OVER (PARTITION BY gpu_name, modelled, problem, times.name)"
        " AS first, MIN(times.rowid) OVER (PARTITION BY gpu_name, modelled, problem) AS begin"
        " FROM times JOIN runs ON runs.id = run WHERE family = ?1"
        " AND (?2 IS NULL OR times.name = ?2)"
        " ORDER BY gpu_name, modelled, begin, first, runs.id");
    if (!statement) {
        *message = failure(history);
        return false;
    }
    bind(statement, "ss", family, variant);
    while (sqlite3_step(statement) == SQLITE_ROW)
        add_point(series_of(series, count, statement), statement);
    sqlite3_finalize(statement);
    return true;
}

void bench_series_free(struct bench_series *series, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(series[i].gpu_name);
        free(series[i].problem);
        free(series[i].name);
        free(series[i].points);
    }
    free(series);
}
