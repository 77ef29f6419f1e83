/*
 * learn_check.c: lockstep learn check, start, picture and solution: an exercise graded, begun,
 * drawn, solved; and the worker, in which the grader runs a kernel.
 */
#include "cli/learn.h"
#include "host/files.h"
#include "learn/learner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *graded_file(const struct cli_learn_session *session,
                               const struct learn_exercise *exercise)
{
    return session->file ? session->file : cli_learn_file(session, exercise);
}

/* A file's own name says what it is in, whichever language the learner has chosen. */
static const struct learn_exercise *in_language_of(const struct learn_exercise *exercise,
                                                   const char *file)
{
    const char *dot = file ? strrchr(file, '.') : NULL;
    bool python = dot && strcmp(dot, ".py") == 0;
    return dot && exercise->twin && python != exercise->is_python ? exercise->twin : exercise;
}

/* A file or a folder to grade from, an exercise, a compiler. */
static bool ready_to_grade(struct cli_learn_session *session,
                           const struct learn_exercise **exercise)
{
    if (session->file && access(session->file, R_OK) != 0) {
        host_error("%s: %s", session->file, strerror(errno));
        return false;
    }
    if ((!session->file && !cli_learn_need_folder(session)) || !cli_learn_choose(session, exercise))
        return false;
    *exercise = in_language_of(*exercise, session->file);
    const char *dot = session->file ? strrchr(session->file, '.') : NULL;
    if (dot && strcmp(dot, ".py") == 0 && !(*exercise)->is_python) {
        host_error("%s is not given in Python: its file is %s.%s", (*exercise)->name,
                   (*exercise)->name, learn_extension(*exercise));
        return false;
    }
    return (*exercise)->is_python || cli_learn_need_compiler(session);
}

int cli_learn_check_one(struct cli_learn_session *session, const struct learn_exercise *exercise,
                        char **picture)
{
    struct learn_verdict verdict;
    const char *path = graded_file(session, exercise);
    char *remark = NULL;
    if (session->file && !session->keep) /* someone's file: not the learner's work */
        learn_grade(&session->grader, exercise, path, cli_learn_shown(session, path), &verdict);
    else
        learner_check(&session->grader, session->progress, exercise, path,
                      cli_learn_shown(session, path), &verdict, &remark);
    if (remark)
        host_error("remark: %s", remark);
    free(remark);
    if (picture) {
        *picture = verdict.picture;
        verdict.picture = NULL;
    }
    cli_learn_print_verdict(session, exercise, path, &verdict);
    int status = verdict.stage == LEARN_PASSED ? CLI_OK : CLI_FINDINGS;
    learn_verdict_free(&verdict);
    return status;
}

int cli_learn_check(struct cli_learn_session *session)
{
    const struct learn_exercise *exercise;
    if (!ready_to_grade(session, &exercise))
        return CLI_USAGE;
    if (!session->file)
        cli_learn_set_current(session, exercise);
    cli_learn_catch_interrupts(session);
    return cli_learn_check_one(session, exercise, NULL);
}

int cli_learn_start(struct cli_learn_session *session)
{
    const struct learn_exercise *exercise;
    if (!cli_learn_need_folder(session) || !cli_learn_choose(session, &exercise) ||
        !cli_learn_lay_out(session, exercise))
        return CLI_USAGE;
    cli_learn_set_current(session, exercise);
    cli_learn_print_place(session, exercise);
    return CLI_OK;
}

int cli_learn_picture(struct cli_learn_session *session)
{
    const struct learn_exercise *exercise;
    struct learn_verdict verdict;
    if (!ready_to_grade(session, &exercise))
        return CLI_USAGE;
    if (exercise->package) {
        host_error("%s has no kernel of yours: the picture is of what a warp of it touches",
                   exercise->name);
        return CLI_USAGE;
    }
    const char *path = graded_file(session, exercise);
    learn_grade(&session->grader, exercise, path, cli_learn_shown(session, path), &verdict);
    if (session->json)
        cli_learn_print_verdict(session, exercise, path, &verdict);
    else
        fputs(verdict.picture ? verdict.picture : verdict.text, stdout);
    int status = verdict.picture ? CLI_OK : CLI_FINDINGS;
    learn_verdict_free(&verdict);
    return status;
}

int cli_learn_solution(struct cli_learn_session *session)
{
    const struct learn_exercise *exercise;
    char *message;
    if (!cli_learn_choose(session, &exercise))
        return CLI_USAGE;
    char *text = host_read_text(learn_path(exercise, learn_solution(exercise)), &message);
    if (!text) {
        host_error("%s", message);
        free(message);
        return CLI_USAGE;
    }
    learn_progress_look(session->progress, exercise, "solution");
    if (session->json)
        cli_print_json(json_pack("{ss ss}", "exercise", learn_key(exercise), "solution", text));
    else
        fputs(text, stdout);
    free(text);
    return CLI_OK;
}

/* LESSON_FOLDER EXERCISE PTX GPU RESULT SEED: the grader's own, see learn/worker.c. */
int cli_learn_grade_worker(int count, char **words)
{
    char *message = NULL;
    int status = CLI_USAGE;
    if (count != 6)
        return CLI_USAGE;
    struct learn_lesson *lesson = learn_lesson_read(words[0], "lesson", &message);
    if (!lesson) {
        host_error("%s", message);
        free(message);
        return CLI_USAGE;
    }
    for (unsigned i = 0; i < lesson->exercise_count; i++) {
        const struct learn_exercise *exercise = &lesson->exercise[i];
        if (exercise->twin && strcmp(learn_figures_name(exercise->twin), words[1]) == 0)
            exercise = exercise->twin;
        if (strcmp(learn_figures_name(exercise), words[1]) == 0 &&
            learn_worker(exercise, &(struct learn_worker_files){words[2], words[3], words[4]},
                         strtoull(words[5], NULL, 10)))
            status = CLI_OK;
    }
    learn_lesson_free(lesson);
    return status;
}
