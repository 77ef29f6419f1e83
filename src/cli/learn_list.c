/*
 * learn_list.c: lockstep learn list: lessons and exercises, and what is solved.
 */
#include "cli/learn.h"
#include "learn/learner.h"

#include <stdlib.h>
#include <string.h>

static const char *style(enum host_style which)
{
    return host_style(stdout, which);
}

static void print_lesson(const struct learn_lesson *lesson, unsigned right)
{
    char *text = lk_format("%s, about %u minutes; quiz %u of %u", lesson->title, lesson->minutes,
                           right, lesson->question_count);
    printf("%s%s%s  ", style(HOST_BOLD), lesson->id, style(HOST_PLAIN));
    cli_learn_print_wrapped(text, strlen(text), strlen(lesson->id) + 2);
    free(text);
}

static void print_exercise(const struct learn_exercise *exercise, const struct learn_state *state)
{
    enum { COLUMN = 26 };
    printf("  %s%s%s %-16s ", style(state->passed ? HOST_GREEN : HOST_DIM),
           state->passed     ? "solved"
           : state->attempts ? "tried "
                             : "      ",
           style(HOST_PLAIN), exercise->name);
    char *text = lk_format("%s%s", exercise->title,
                           !exercise->is_aside ? ""
                           : exercise->is_c    ? " (in C)"
                                               : " (in CUDA C)");
    cli_learn_print_wrapped(text, strlen(text), COLUMN);
    free(text);
}

int cli_learn_list(struct cli_learn_session *session)
{
    if (session->json) {
        cli_print_json(learner_list_json(&session->course, session->progress));
        return CLI_OK;
    }
    for (unsigned i = 0; i < session->course.count; i++) {
        const struct learn_lesson *lesson = session->course.lesson[i];
        print_lesson(lesson, learn_progress_right(session->progress, lesson));
        for (unsigned j = 0; j < lesson->exercise_count; j++) {
            struct learn_state state =
                learn_progress_state(session->progress, &lesson->exercise[j]);
            if (!lesson->exercise[j].is_kata)
                print_exercise(&lesson->exercise[j], &state);
        }
    }
    cli_learn_print_katas(session);
    return CLI_OK;
}
