/*
 * progress.c: the progress file; see progress.h.
 */
#include "learn/progress.h"

#include "host/files.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Days are local ones: a streak follows the learner's own calendar. */
static const char schema[] =
    "CREATE TABLE IF NOT EXISTS words (key TEXT PRIMARY KEY, value TEXT);"
    "CREATE TABLE IF NOT EXISTS attempts (id INTEGER PRIMARY KEY, exercise TEXT,"
    " time TEXT DEFAULT (datetime('now')), day TEXT DEFAULT (date('now', 'localtime')),"
    " stage TEXT, text TEXT, counters TEXT, time_us REAL);"
    "CREATE TABLE IF NOT EXISTS messages (attempt INTEGER PRIMARY KEY, list TEXT);"
    "CREATE INDEX IF NOT EXISTS attempts_of ON attempts (exercise);"
    "CREATE TABLE IF NOT EXISTS looks (exercise TEXT, what TEXT, count INTEGER,"
    " PRIMARY KEY (exercise, what));"
    "CREATE TABLE IF NOT EXISTS answers (id INTEGER PRIMARY KEY, lesson TEXT, question INTEGER,"
    " choice INTEGER, right INTEGER, time TEXT DEFAULT (datetime('now')),"
    " day TEXT DEFAULT (date('now', 'localtime')));";

struct learn_progress {
    sqlite3 *db;
};

/* Opening ---------------------------------------------------------------------------------------*/

char *learn_progress_path(void)
{
    const char *path = getenv("LOCKSTEP_PROGRESS");
    return path && *path ? strdup(path) : host_data_path("progress.db");
}

struct learn_progress *learn_progress_open(const char *path, char **message)
{
    struct learn_progress *progress = lk_alloc_zeroed(sizeof *progress);
    host_make_parents(path, NULL); /* opening the file says what is wrong */
    *message = NULL;
    int status = sqlite3_open(path, &progress->db);
    if (status == SQLITE_OK) {
        sqlite3_busy_timeout(progress->db, 5000);
        status = sqlite3_exec(progress->db, schema, NULL, NULL, NULL);
    }
    if (status == SQLITE_OK)
        return progress;
    *message = lk_format("%s: %s", path, sqlite3_errmsg(progress->db));
    learn_progress_close(progress);
    return NULL;
}

void learn_progress_close(struct learn_progress *progress)
{
    if (!progress)
        return;
    sqlite3_close(progress->db);
    free(progress);
}

const char *learn_progress_error(const struct learn_progress *progress)
{
    return sqlite3_errmsg(progress->db);
}

const char *learn_progress_file(const struct learn_progress *progress)
{
    return sqlite3_db_filename(progress->db, "main");
}

/* Statements: values are bound by letters: s text, i whole number, d double ---------------------*/

static sqlite3_stmt *prepare(struct learn_progress *progress, const char *sql, const char *letters,
                             ...)
{
    sqlite3_stmt *statement = NULL;
    va_list values;
    if (sqlite3_prepare_v2(progress->db, sql, -1, &statement, NULL) != SQLITE_OK)
        return NULL;
    va_start(values, letters);
    for (int i = 0; letters[i]; i++)
        if (letters[i] == 's')
            sqlite3_bind_text(statement, i + 1, va_arg(values, const char *), -1, SQLITE_TRANSIENT);
        else if (letters[i] == 'd')
            sqlite3_bind_double(statement, i + 1, va_arg(values, double));
        else
            sqlite3_bind_int64(statement, i + 1, va_arg(values, int64_t));
    va_end(values);
    return statement;
}

static bool finish(sqlite3_stmt *statement)
{
    bool fine = statement && sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_finalize(statement);
    return fine;
}

/* The first column of the first row, or 0. */
static int64_t number(sqlite3_stmt *statement)
{
    int64_t value =
        statement && sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return value;
}

static const char *column(sqlite3_stmt *statement, int index)
{
    const char *text = (const char *)sqlite3_column_text(statement, index);
    return text ? text : "";
}

/* Words -----------------------------------------------------------------------------------------*/

char *learn_progress_get(struct learn_progress *progress, const char *key)
{
    sqlite3_stmt *statement = prepare(progress, "SELECT value FROM words WHERE key = ?", "s", key);
    char *value = NULL;
    if (statement && sqlite3_step(statement) == SQLITE_ROW)
        value = strdup(column(statement, 0));
    sqlite3_finalize(statement);
    return value;
}

bool learn_progress_set(struct learn_progress *progress, const char *key, const char *value)
{
    return finish(
        prepare(progress, "INSERT OR REPLACE INTO words VALUES (?, ?)", "ss", key, value));
}

/* Attempts --------------------------------------------------------------------------------------*/

const char *learn_key(const struct learn_exercise *exercise)
{
    return exercise->key;
}

bool learn_progress_attempt(struct learn_progress *progress, const struct learn_exercise *exercise,
                            const struct learn_verdict *verdict)
{
    json_t *counters = json_object();
    for (unsigned i = 0; i < verdict->counter_count; i++)
        json_object_set_new(counters, verdict->counter[i].name,
                            json_real(verdict->counter[i].value));
    if (verdict->totals.large_us > 0) /* the ladder of the first page */
        json_object_set_new(counters, "large_us", json_real(verdict->totals.large_us));
    char *text = json_dumps(counters, 0);
    bool fine = finish(prepare(progress,
                               "INSERT INTO attempts (exercise, stage, text, counters, time_us)"
                               " VALUES (?, ?, ?, ?, ?)",
                               "ssssd", learn_key(exercise), learn_stage_names[verdict->stage],
                               verdict->text, text, verdict->modelled_us));
    free(text);
    json_decref(counters);
    json_t *messages = learn_messages_json(verdict);
    text = json_dumps(messages, 0);
    fine = fine && finish(prepare(progress, "INSERT INTO messages VALUES (?, ?)", "is",
                                  (int64_t)sqlite3_last_insert_rowid(progress->db), text));
    free(text);
    json_decref(messages);
    return fine;
}

unsigned learn_progress_look(struct learn_progress *progress, const struct learn_exercise *exercise,
                             const char *what)
{
    const char *key = learn_key(exercise);
    int64_t before = number(prepare(
        progress, "SELECT count FROM looks WHERE exercise = ? AND what = ?", "ss", key, what));
    finish(prepare(progress, "INSERT OR REPLACE INTO looks VALUES (?, ?, ?)", "ssi", key, what,
                   before + 1));
    return (unsigned)before;
}

struct learn_state learn_progress_state(struct learn_progress *progress,
                                        const struct learn_exercise *exercise)
{
    const char *key = learn_key(exercise);
    return (struct learn_state){
        .attempts = (unsigned)number(
            prepare(progress, "SELECT count(*) FROM attempts WHERE exercise = ?", "s", key)),
        .passed = number(prepare(progress,
                                 "SELECT count(*) FROM attempts WHERE exercise = ? AND stage = "
                                 "'passed'",
                                 "s", key)) > 0,
        .hints = (unsigned)number(prepare(
            progress, "SELECT count FROM looks WHERE exercise = ? AND what = 'hint'", "s", key)),
        .saw_solution = number(prepare(progress,
                                       "SELECT count FROM looks WHERE exercise = ? AND what = "
                                       "'solution'",
                                       "s", key)) > 0};
}

int64_t learn_progress_attempts(struct learn_progress *progress,
                                const struct learn_exercise *exercise)
{
    return number(prepare(progress, "SELECT max(id) FROM attempts WHERE exercise = ?", "s",
                          learn_key(exercise)));
}

json_t *learn_progress_last(struct learn_progress *progress, const struct learn_exercise *exercise)
{
    sqlite3_stmt *statement = prepare(progress,
                                      "SELECT stage, text, counters, time, time_us, list"
                                      " FROM attempts LEFT JOIN messages ON attempt = id"
                                      " WHERE exercise = ? ORDER BY id DESC LIMIT 1",
                                      "s", learn_key(exercise));
    json_t *last = NULL;
    if (statement && sqlite3_step(statement) == SQLITE_ROW) {
        json_t *counters = json_loads(column(statement, 2), 0, NULL);
        json_t *messages = json_loads(column(statement, 5), 0, NULL);
        last = json_pack("{ss ss so so ss sf}", "stage", column(statement, 0), "text",
                         column(statement, 1), "messages", messages ? messages : json_array(),
                         "counters", counters ? counters : json_object(), "time",
                         column(statement, 3), "time_us", sqlite3_column_double(statement, 4));
    }
    sqlite3_finalize(statement);
    return last;
}

json_t *learn_progress_best(struct learn_progress *progress, const struct learn_exercise *exercise)
{
    sqlite3_stmt *statement =
        prepare(progress, "SELECT counters FROM attempts WHERE exercise = ? AND stage = 'passed'",
                "s", learn_key(exercise));
    json_t *best = json_object(), *value;
    const char *name;
    while (statement && sqlite3_step(statement) == SQLITE_ROW) {
        json_t *counters = json_loads(column(statement, 0), 0, NULL);
        json_object_foreach(counters, name, value)
        {
            json_t *known = json_object_get(best, name);
            if (!known || json_number_value(value) < json_number_value(known))
                json_object_set(best, name, value);
        }
        json_decref(counters);
    }
    sqlite3_finalize(statement);
    return best;
}

/* Quiz and streak -------------------------------------------------------------------------------*/

bool learn_progress_answer(struct learn_progress *progress, const struct learn_lesson *lesson,
                           unsigned question, unsigned choice, bool right)
{
    return finish(prepare(progress,
                          "INSERT INTO answers (lesson, question, choice, right)"
                          " VALUES (?, ?, ?, ?)",
                          "siii", lesson->id, (int64_t)question, (int64_t)choice, (int64_t)right));
}

void learn_progress_choices(struct learn_progress *progress, const struct learn_lesson *lesson,
                            unsigned *choices)
{
    sqlite3_stmt *statement =
        prepare(progress, "SELECT question, choice FROM answers WHERE lesson = ? ORDER BY id", "s",
                lesson->id);
    memset(choices, 0, lesson->question_count * sizeof *choices);
    while (statement && sqlite3_step(statement) == SQLITE_ROW) {
        int64_t question = sqlite3_column_int64(statement, 0);
        if (question >= 0 && question < (int64_t)lesson->question_count)
            choices[question] = (unsigned)sqlite3_column_int64(statement, 1);
    }
    sqlite3_finalize(statement);
}

unsigned learn_progress_right(struct learn_progress *progress, const struct learn_lesson *lesson)
{
    return (unsigned)number(prepare(
        progress,
        "SELECT count(*) FROM answers a WHERE lesson = ? AND right = 1 AND question < ? AND id ="
        " (SELECT max(id) FROM answers WHERE lesson = a.lesson AND question = a.question)",
        "si", lesson->id, (int64_t)lesson->question_count));
}

unsigned learn_progress_streak(struct learn_progress *progress)
{
    sqlite3_stmt *statement =
        prepare(progress,
                "SELECT CAST(julianday(date('now', 'localtime')) - julianday(day) AS INTEGER) FROM"
                " (SELECT day FROM attempts UNION SELECT day FROM answers) ORDER BY day DESC",
                "");
    int64_t next = -1;
    unsigned streak = 0;
    while (statement && sqlite3_step(statement) == SQLITE_ROW) {
        int64_t ago = sqlite3_column_int64(statement, 0);
        if (next < 0 && ago > 1)
            break;
        if (next >= 0 && ago != next)
            break;
        streak++;
        next = ago + 1;
    }
    sqlite3_finalize(statement);
    return streak;
}

unsigned learn_progress_days(struct learn_progress *progress)
{
    return (unsigned)number(prepare(
        progress, "SELECT count(*) FROM (SELECT day FROM attempts UNION SELECT day FROM answers)",
        ""));
}

/* Export ----------------------------------------------------------------------------------------*/

json_t *learn_progress_history(struct learn_progress *progress)
{
    sqlite3_stmt *statement = prepare(
        progress, "SELECT exercise, time, stage, counters, time_us FROM attempts ORDER BY id", "");
    json_t *list = json_array();
    while (statement && sqlite3_step(statement) == SQLITE_ROW) {
        json_t *counters = json_loads(column(statement, 3), 0, NULL);
        json_array_append_new(list,
                              json_pack("{ss ss ss so sf}", "exercise", column(statement, 0),
                                        "time", column(statement, 1), "stage", column(statement, 2),
                                        "counters", counters ? counters : json_object(), "time_us",
                                        sqlite3_column_double(statement, 4)));
    }
    sqlite3_finalize(statement);
    return list;
}

json_t *learn_progress_answers(struct learn_progress *progress)
{
    sqlite3_stmt *statement = prepare(
        progress, "SELECT lesson, question, choice, right, time FROM answers ORDER BY id", "");
    json_t *list = json_array();
    while (statement && sqlite3_step(statement) == SQLITE_ROW)
        json_array_append_new(
            list, json_pack("{ss sI sI sb ss}", "lesson", column(statement, 0), "question",
                            (json_int_t)sqlite3_column_int64(statement, 1) + 1, "choice",
                            (json_int_t)sqlite3_column_int64(statement, 2), "right",
                            sqlite3_column_int(statement, 3), "time", column(statement, 4)));
    sqlite3_finalize(statement);
    return list;
}
