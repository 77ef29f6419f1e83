/*
 * learn.h: what the commands of 'lockstep learn' share. A command, or a few that belong together,
 * is a file: learn_check.c, learn_course.c, learn_files.c, learn_kata.c, learn_list.c,
 * learn_notebooks.c, learn_progress.c, learn_quiz.c, learn_ready.c, learn_site.c, learn_strides.c,
 * learn_watch.c (the terminal). learn.c reads the command line, learn_session.c opens what the
 * commands need, learn_show.c and learn_verdict.c print.
 */
#ifndef LOCKSTEP_CLI_LEARN_H
#define LOCKSTEP_CLI_LEARN_H

#include "cli/cli.h"
#include "learn/audit.h"
#include "learn/progress.h"

struct cli_learn_session {
    struct lk_arena *arena;
    const char *gpu, *compiler; /* as given; compiler NULL: whichever is there */
    bool json;
    const char *words[4]; /* words that are not options */
    int word_count;
    const char *answers; /* --answer 2,1,3 or 3:2 */
    const char *file;    /* --file: graded in place of the learner's */
    bool keep;           /* --keep: with --file, the attempt counts */
    bool with_run;       /* --run: what --json prints of a verdict has its run too */
    bool force, solutions, figures, python;
    enum { CLI_LEARN_NO_MUTANTS, CLI_LEARN_SOME_MUTANTS, CLI_LEARN_ALL_MUTANTS } mutate;
    const char *folder; /* the learner's; NULL before 'init' */
    /* By cli_learn_open: */
    struct learn_course course;
    struct learn_progress *progress;
    struct learn_grader grader;
};

/* learn_session.c: false after printing an error. */
bool cli_learn_open(struct cli_learn_session *session);
void cli_learn_close(struct cli_learn_session *session); /* also where it did not open */
bool cli_learn_need_folder(const struct cli_learn_session *session);
bool cli_learn_need_compiler(struct cli_learn_session *session);
/* The exercise that the second word names, or the current one; a lesson's first unsolved one. */
bool cli_learn_choose(struct cli_learn_session *session, const struct learn_exercise **exercise);
/* The exercise after this one in the course, NULL after the last; after a kata, the current one. */
const struct learn_exercise *cli_learn_next(struct cli_learn_session *session,
                                            const struct learn_exercise *exercise);
/* A kata does not change where the learner is. */
void cli_learn_set_current(struct cli_learn_session *session,
                           const struct learn_exercise *exercise);

/* Commands: each returns the exit status. ------------------------------------------------------ */

int cli_learn_check(struct cli_learn_session *session);
int cli_learn_check_course(struct cli_learn_session *session);
int cli_learn_hint(struct cli_learn_session *session);
int cli_learn_init(struct cli_learn_session *session);
int cli_learn_language(struct cli_learn_session *session);
int cli_learn_kata(struct cli_learn_session *session);
int cli_learn_list(struct cli_learn_session *session);
int cli_learn_note(struct cli_learn_session *session);
int cli_learn_notebooks(struct cli_learn_session *session);
int cli_learn_site(struct cli_learn_session *session);
int cli_learn_picture(struct cli_learn_session *session);
int cli_learn_quiz(struct cli_learn_session *session);
int cli_learn_ready(struct cli_learn_session *session);
int cli_learn_reset(struct cli_learn_session *session);
int cli_learn_show_progress(struct cli_learn_session *session);
int cli_learn_solution(struct cli_learn_session *session);
int cli_learn_start(struct cli_learn_session *session);
int cli_learn_watch(struct cli_learn_session *session); /* the terminal, until the learner quits */
/* These have words of their own, and need neither course nor progress. */
int cli_learn_strides(int count, char **words);
int cli_learn_grade_worker(int count, char **words);

/* Shared between commands -------------------------------------------------------------------- */

/* Grades the learner's file, notes the attempt and prints the verdict. */
int cli_learn_check_one(struct cli_learn_session *session, const struct learn_exercise *exercise,
                        char **picture);
/* From now on Ctrl-C ends the verdict under way, which then cleans up. */
void cli_learn_catch_interrupts(struct cli_learn_session *session);

/* Files: paths are in the arena. */
const char *cli_learn_file(const struct cli_learn_session *session,
                           const struct learn_exercise *exercise);
const char *cli_learn_shown(struct cli_learn_session *session,
                            const char *path); /* as short as can be */
/* Copies the exercise's file and the lesson's text, if they are not there yet. */
bool cli_learn_lay_out(struct cli_learn_session *session, const struct learn_exercise *exercise);

/* Asks the questions on the terminal, or takes the answers of --answer, and keeps them. How many
 * were answered; -1 after printing an error. */
enum { CLI_LEARN_ANSWERS = 64 };
struct cli_learn_answer {
    unsigned question, choice; /* from 0 */
    bool right;
};
int cli_learn_quiz_take(struct cli_learn_session *session, const struct learn_lesson *lesson,
                        struct cli_learn_answer answers[CLI_LEARN_ANSWERS]);

/* Printing: a line that begins at a column is broken between words where a terminal would break it
 * anywhere; what goes on begins at that column again. */
unsigned cli_learn_rows(void); /* of the terminal; 0 if there is none */
void cli_learn_print_wrapped(const char *text, size_t length, size_t column);
void cli_learn_print_lines(const char *text); /* all lines of a text */
void cli_learn_print_verdict(struct cli_learn_session *session,
                             const struct learn_exercise *exercise, const char *path,
                             const struct learn_verdict *verdict);
void cli_learn_print_place(struct cli_learn_session *session,
                           const struct learn_exercise *exercise);
void cli_learn_print_bar(struct cli_learn_session *session);
void cli_learn_print_katas(struct cli_learn_session *session);
void cli_learn_print_hint(struct cli_learn_session *session, const struct learn_exercise *exercise);

#endif
