/*
 * learn_kata.c: lockstep learn kata: a small exercise for today, on an empty page. The date chooses
 * it among the katas of the days up to where the learner is. Its file is dated, so that the same
 * kata starts afresh when its turn comes again; it does not count for finishing a lesson.
 */
#include "cli/learn.h"
#include "learn/learner.h"

#include <unistd.h>

/* The one that was asked for, or today's. */
static bool choose(struct cli_learn_session *session, const struct learn_exercise **kata)
{
    if (session->word_count > 1) {
        if (!cli_learn_choose(session, kata))
            return false;
        if (!(*kata)->is_kata)
            host_error("%s is not a kata; 'lockstep learn start %s' goes there", (*kata)->name,
                       (*kata)->name);
        return (*kata)->is_kata;
    }
    *kata = learner_kata(&session->course, session->progress);
    if (!*kata)
        host_error("there is no kata in the lessons up to where you are; 'lockstep learn list' "
                   "names them all, and 'lockstep learn kata NAME' takes one");
    return *kata != NULL;
}

static void print_place(struct cli_learn_session *session, const struct learn_exercise *kata)
{
    struct learn_state state = learn_progress_state(session->progress, kata);
    const char *path = cli_learn_file(session, kata);
    if (session->json) {
        cli_print_json(json_pack("{ss ss ss sb sb si}", "exercise", learn_key(kata), "title",
                                 kata->title, "file", path, "kata", true, "passed", state.passed,
                                 "attempts", (int)state.attempts));
        return;
    }
    printf("kata   %s\n", kata->title);
    printf("write  %s\n", cli_learn_shown(session, path));
    host_say("then   lockstep learn check %s\n", kata->name);
}

int cli_learn_kata(struct cli_learn_session *session)
{
    const struct learn_exercise *kata;
    if (!cli_learn_need_folder(session) || !choose(session, &kata) ||
        !cli_learn_lay_out(session, kata))
        return CLI_USAGE;
    if (!session->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
        session->words[1] = learn_key(kata);
        session->word_count = 2;
        return kata->is_python || cli_learn_need_compiler(session) ? cli_learn_watch(session)
                                                                   : CLI_USAGE;
    }
    print_place(session, kata);
    return CLI_OK;
}

void cli_learn_print_katas(struct cli_learn_session *session)
{
    bool first = true;
    for (unsigned i = 0; i < session->course.count; i++) {
        const struct learn_lesson *lesson = session->course.lesson[i];
        for (unsigned j = 0; j < lesson->exercise_count; j++) {
            const struct learn_exercise *kata = &lesson->exercise[j];
            if (!kata->is_kata)
                continue;
            if (first)
                host_say("%skatas%s  small ones, to be written again and again; 'lockstep learn "
                         "kata' has today's\n",
                         host_style(stdout, HOST_BOLD), host_style(stdout, HOST_PLAIN));
            first = false;
            struct learn_state state = learn_progress_state(session->progress, kata);
            printf("  %s %-16s %s\n",
                   state.passed     ? "done  "
                   : state.attempts ? "tried "
                                    : "      ",
                   kata->name, kata->title);
        }
    }
}
