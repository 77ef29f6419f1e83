/*
 * learn_course.c: lockstep learn check-course: proves the lessons, and that mistakes in their
 * solutions are caught.
 */
#include "cli/learn.h"
#include "learn/ready.h"

#include "learn/mutate.h"

#include <stdlib.h>
#include <string.h>

static void note_audit(void *context, const char *what, const char *why)
{
    struct cli_learn_session *session = context;
    if (session->json)
        return;
    printf("%s%s%s %s\n", host_style(stdout, why ? HOST_RED : HOST_GREEN), why ? "not ok" : "ok",
           host_style(stdout, HOST_PLAIN), what);
    if (why)
        printf("    %s%s", why, *why && why[strlen(why) - 1] == '\n' ? "" : "\n");
    fflush(stdout);
}

static unsigned check_lesson(struct cli_learn_session *session, const struct learn_lesson *lesson,
                             struct mutant_counts *counts)
{
    if (session->figures)
        return learn_write_figures(&session->grader, lesson, note_audit, session);
    if (session->mutate == CLI_LEARN_NO_MUTANTS)
        return learn_audit(&session->grader, lesson, note_audit, session);
    return learn_audit_mutants(&session->grader, lesson, session->mutate == CLI_LEARN_SOME_MUTANTS,
                               note_audit, session, counts);
}

static void print_result(const struct cli_learn_session *session, unsigned lessons, unsigned bad,
                         const struct mutant_counts *counts)
{
    if (session->json) {
        json_t *result = json_pack("{sb si}", "sound", bad == 0, "failed", (int)bad);
        if (session->mutate)
            json_object_set_new(result, "mutants",
                                json_pack("{si si si si}", "caught", (int)counts->caught,
                                          "equivalent", (int)counts->equivalent, "survived",
                                          (int)counts->survived, "not_compiled",
                                          (int)counts->not_compiled));
        cli_print_json(result);
        return;
    }
    if (session->mutate)
        printf("mutants: %u caught, %u equivalent, %u survived; %u do not compile\n",
               counts->caught, counts->equivalent, counts->survived, counts->not_compiled);
    printf("%u lesson%s, %u thing%s to fix\n", lessons, lessons == 1 ? "" : "s", bad,
           bad == 1 ? "" : "s");
}

int cli_learn_check_course(struct cli_learn_session *session)
{
    const struct learn_lesson *only = NULL;
    const struct learn_exercise *exercise;
    struct mutant_counts counts = {0};
    unsigned bad = 0;
    char *message;
    if (!session->python && !cli_learn_need_compiler(session))
        return CLI_USAGE;
    if (!session->grader.seed)
        session->grader.seed = 1; /* an audit gets the same result every time */
    if (session->word_count > 1 &&
        !learn_course_find(&session->course, session->words[1], &only, &exercise, &message)) {
        host_error("%s", message);
        free(message);
        return CLI_USAGE;
    }
    learn_course_speak(&session->course, session->python);
    for (unsigned i = 0; i < session->course.count; i++)
        if ((!only || only == session->course.lesson[i]) &&
            (!session->python || session->course.lesson[i]->python))
            bad += check_lesson(session, session->course.lesson[i], &counts);
    if (!only && !session->mutate && !session->figures)
        bad += learn_ready_audit(&session->course, note_audit, session);
    print_result(session, only ? 1 : session->course.count, bad, &counts);
    return bad ? CLI_FINDINGS : CLI_OK;
}
