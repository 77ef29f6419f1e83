/*
 * progress.h: what a learner has done, in an SQLite file: attempts with their verdicts and
 * counters, hints that were looked at, quiz answers, and where the learner is. Several programs may
 * use it at the same time.
 */
#ifndef LOCKSTEP_LEARN_PROGRESS_H
#define LOCKSTEP_LEARN_PROGRESS_H

#include "learn/grade.h"

struct learn_progress;

/* $LOCKSTEP_PROGRESS, or lockstep/progress.db in $XDG_DATA_HOME or ~/.local/share; malloc'd, NULL
 * if there is no home. */
char *learn_progress_path(void);
/* NULL and a malloc'd message. */
struct learn_progress *learn_progress_open(const char *path, char **message);
void learn_progress_close(struct learn_progress *progress);
const char *learn_progress_error(const struct learn_progress *progress);
const char *learn_progress_file(const struct learn_progress *progress); /* its path */

/* Words kept for later: "folder", "current". Malloc'd; NULL if there is none. */
char *learn_progress_get(struct learn_progress *progress, const char *key);
bool learn_progress_set(struct learn_progress *progress, const char *key, const char *value);

/* An exercise's key: "week1/day4_first_kernel/add". */
const char *learn_key(const struct learn_exercise *exercise);

bool learn_progress_attempt(struct learn_progress *progress, const struct learn_exercise *exercise,
                            const struct learn_verdict *verdict);
/* what: "hint" or "solution". Returns how often it was looked at before. */
unsigned learn_progress_look(struct learn_progress *progress, const struct learn_exercise *exercise,
                             const char *what);

/* For the export: every attempt [{"exercise", "time", "stage", "counters", "time_us"}], and every
 * answer to a quiz [{"lesson", "question", "choice", "right", "time"}], both counted from 1; oldest
 * first. */
json_t *learn_progress_history(struct learn_progress *progress);
json_t *learn_progress_answers(struct learn_progress *progress);

struct learn_state {
    unsigned attempts, hints;
    bool passed, saw_solution;
};
struct learn_state learn_progress_state(struct learn_progress *progress,
                                        const struct learn_exercise *exercise);
/* The number of the last attempt, which grows with each; 0 if there is none. */
int64_t learn_progress_attempts(struct learn_progress *progress,
                                const struct learn_exercise *exercise);
/* The last verdict: {"stage", "text", "messages", "counters", "time", "time_us"}; NULL if there is
 * none. */
json_t *learn_progress_last(struct learn_progress *progress, const struct learn_exercise *exercise);
/* The least value of each counter among attempts that passed: {"name": value}. */
json_t *learn_progress_best(struct learn_progress *progress, const struct learn_exercise *exercise);

bool learn_progress_answer(struct learn_progress *progress, const struct learn_lesson *lesson,
                           unsigned question, unsigned choice, bool right);
/* The last answer to each question, [question_count], from 1; 0: none. */
void learn_progress_choices(struct learn_progress *progress, const struct learn_lesson *lesson,
                            unsigned *choices);
/* Questions of the lesson whose last answer was right. */
unsigned learn_progress_right(struct learn_progress *progress, const struct learn_lesson *lesson);

/* Days on which something was tried: in all, and in a row, up to today or yesterday. */
unsigned learn_progress_days(struct learn_progress *progress);
unsigned learn_progress_streak(struct learn_progress *progress);

#endif
