/*
 * learn_progress.c: lockstep learn progress: what the learner has done, and what comes next.
 */
#include "cli/learn.h"
#include "learn/learner.h"

#include <string.h>

static const char *style(enum host_style which)
{
    return host_style(stdout, which);
}

/* The counters that have limits, as low as they were in a verdict that passed. */
static void print_best(struct cli_learn_session *session, const struct learn_exercise *exercise)
{
    json_t *best = learn_progress_best(session->progress, exercise), *value;
    const char *name;
    json_object_foreach(best, name, value) printf("    %sbest %s %.6g%s\n", style(HOST_DIM), name,
                                                  json_number_value(value), style(HOST_PLAIN));
    json_decref(best);
}

static void print_progress(struct cli_learn_session *session)
{
    cli_learn_print_bar(session);
    unsigned streak = learn_progress_streak(session->progress);
    printf("days in a row: %u, of %u in all\n", streak, learn_progress_days(session->progress));
    for (unsigned i = 0; i < session->course.count; i++) {
        const struct learn_lesson *lesson = session->course.lesson[i];
        printf("%s%s%s  quiz %u of %u\n", style(HOST_BOLD), lesson->id, style(HOST_PLAIN),
               learn_progress_right(session->progress, lesson), lesson->question_count);
        for (unsigned j = 0; j < lesson->exercise_count; j++) {
            if (lesson->exercise[j].is_kata)
                continue;
            struct learn_state state =
                learn_progress_state(session->progress, &lesson->exercise[j]);
            printf("  %-16s %s, %u attempt%s, %u hint%s%s\n", lesson->exercise[j].name,
                   state.passed ? "solved" : "open", state.attempts, state.attempts == 1 ? "" : "s",
                   state.hints, state.hints == 1 ? "" : "s",
                   state.saw_solution ? ", solution seen" : "");
            print_best(session, &lesson->exercise[j]);
        }
    }
    cli_learn_print_katas(session);
}

int cli_learn_show_progress(struct cli_learn_session *session)
{
    const struct learn_exercise *next = learner_first_unsolved(&session->course, session->progress);
    if (session->json) {
        cli_print_json(learner_progress_json(&session->course, session->progress));
        return CLI_OK;
    }
    print_progress(session);
    if (next)
        host_say("next: lockstep learn start %s\n", next->name);
    else
        printf("All exercises are solved.\n");
    const struct learn_lesson *quiz = learner_open_quiz(&session->course, session->progress);
    if (quiz)
        host_say("open: lockstep learn quiz %s\n", strrchr(quiz->id, '/') + 1);
    return CLI_OK;
}
