/*
 * learn.h: what the parts of 'lockstep learn' share: learn.c (words and commands), learn_files.c
 * (the learner's folder), learn_show.c (what is printed), learn_quiz.c, learn_ready.c,
 * learn_strides.c, learn_kata.c, learn_notebooks.c, learn_watch.c (the terminal), learn_course.c (the
 * lessons' own proof).
 */
#ifndef LOCKSTEP_CLI_LEARN_H
#define LOCKSTEP_CLI_LEARN_H

#include "cli/cli.h"
#include "learn/audit.h"
#include "learn/progress.h"

struct learn_session {
    struct lk_arena *arena;
    bool json;
    const char *words[4]; /* what is no option */
    int word_count;
    const char *answers; /* --answer 2,1,3 or 3:2 */
    const char *file;    /* --file: graded in place of the learner's */
    bool with_run;       /* --run: what --json prints of a verdict has its run too */
    bool force, solutions;
    enum { LEARN_NO_MUTANTS, LEARN_SOME_MUTANTS, LEARN_ALL_MUTANTS } mutate;
    struct learn_course course;
    struct learn_progress *progress;
    struct learn_grader grader;
    const char *folder; /* the learner's; NULL before 'init' */
};

/* False after an error was said. */
bool learn_open(struct learn_session *session, const char *gpu, const char *compiler);
bool learn_need_folder(const struct learn_session *session);
bool learn_need_compiler(struct learn_session *session);
/* The exercise that the first word names, or the current one; a lesson's first unsolved one. */
bool learn_choose(struct learn_session *session, const struct learn_exercise **exercise);
/* The exercise after this one in the course, NULL after the last; after a kata, the current one. */
const struct learn_exercise *learn_next(struct learn_session *session,
                                        const struct learn_exercise *exercise);
/* A kata does not change where the learner is. */
void learn_set_current(struct learn_session *session, const struct learn_exercise *exercise);
/* Grades the learner's file, notes the attempt and prints the verdict. */
int learn_check_one(struct learn_session *session, const struct learn_exercise *exercise,
                    char **picture);

/* Files: paths are in the arena. */
const char *learn_file(const struct learn_session *session, const struct learn_exercise *exercise);
const char *learn_shown(struct learn_session *session, const char *path); /* as short as can be */
int learn_init(struct learn_session *session);
int learn_check_course(struct learn_session *session);
int learn_reset(struct learn_session *session);
int learn_note(struct learn_session *session);
/* Copies the exercise's file and the lesson's text, if they are not there yet. */
bool learn_lay_out(struct learn_session *session, const struct learn_exercise *exercise);
int learn_notebooks(struct learn_session *session);

/* The day's kata. */
int learn_kata(struct learn_session *session);
/* Katas are listed behind the lessons. */
void learn_print_katas(struct learn_session *session);

/* Printing */
void learn_print_json(json_t *object); /* takes it */
/* A line that begins at a column, broken between words where a terminal would break it anywhere;
 * what goes on begins at that column again. And all lines of a text. */
void learn_print_wrapped(const char *text, size_t length, size_t column);
void learn_print_lines(const char *text);
void learn_print_verdict(struct learn_session *session, const struct learn_exercise *exercise,
                         const char *path, const struct learn_verdict *verdict);
void learn_print_place(struct learn_session *session, const struct learn_exercise *exercise);
void learn_print_bar(struct learn_session *session);
int learn_list(struct learn_session *session);
int learn_hint(struct learn_session *session);
int learn_show_progress(struct learn_session *session);
int learn_quiz(struct learn_session *session);
int learn_ready(struct learn_session *session);
/* Asks the questions on the terminal, or takes the answers of --answer, and keeps them. How many
 * were answered; -1 after an error was said. */
enum { LEARN_QUIZ_MOST = 64 };
struct learn_answer {
    unsigned question, choice; /* from 0 */
    bool right;
};
int learn_quiz_take(struct learn_session *session, const struct learn_lesson *lesson,
                    struct learn_answer answers[LEARN_QUIZ_MOST]);
json_t *learn_quiz_json(const struct learn_lesson *lesson); /* without the answers */
void learn_say_hint(struct learn_session *session, const struct learn_exercise *exercise);

/* From now on Ctrl-C ends the verdict that is on its way, which then cleans up. */
void learn_catch_interrupts(struct learn_session *session);
/* lockstep learn strides: by its words alone, without course and progress. */
int learn_strides(int count, char **words);

/* The terminal: until the learner quits. */
int learn_watch(struct learn_session *session);

#endif
