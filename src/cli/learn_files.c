/*
 * learn_files.c: the learner's folder on the command line: init, reset, note. learn/learner.c does
 * it.
 */
#include "cli/learn.h"

#include "learn/learner.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A malloc'd text, in the arena from now on. */
static const char *keep(const struct cli_learn_session *session, char *text)
{
    const char *kept = lk_arena_printf(session->arena, "%s", text);
    free(text);
    return kept;
}

static int fail(char *message)
{
    host_error("%s", message);
    free(message);
    return CLI_USAGE;
}

const char *cli_learn_file(const struct cli_learn_session *session,
                           const struct learn_exercise *exercise)
{
    return keep(session, learner_file(session->folder, exercise));
}

const char *cli_learn_shown(struct cli_learn_session *session, const char *path)
{
    char here[PATH_MAX];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    if (length && strncmp(path, here, length) == 0 && path[length] == '/')
        return path + length + 1;
    return path;
}

bool cli_learn_lay_out(struct cli_learn_session *session, const struct learn_exercise *exercise)
{
    char *message;
    return learner_lay_out(session->folder, exercise, &message) || fail(message) == CLI_OK;
}

int cli_learn_init(struct cli_learn_session *session)
{
    char *message;
    if (session->word_count < 2) {
        host_error("init needs a folder: 'lockstep learn init ~/gpu-course'");
        return CLI_USAGE;
    }
    char *folder = learner_begin(&session->course, session->progress, session->words[1], &message);
    if (!folder)
        return fail(message);
    session->folder = keep(session, folder);
    if (session->json)
        cli_print_json(
            json_pack("{ss si}", "folder", session->folder, "lessons", (int)session->course.count));
    else
        host_say(
            "Your exercises are in %s. They are broken on purpose: fixing them is the course.\n"
            "Next:  lockstep learn\n",
            session->folder);
    return CLI_OK;
}

/* The files in the new language appear beside those in the old one, which stay. */
static bool lay_out_in(struct cli_learn_session *session, bool python)
{
    char *message;
    learn_course_speak(&session->course, python);
    return !session->folder || learner_lay_out_all(session->folder, &session->course, &message) ||
           fail(message) == CLI_OK;
}

/* Which language the exercises are in; with a word, from now on. */
int cli_learn_language(struct cli_learn_session *session)
{
    const char *word = session->word_count > 1 ? session->words[1] : NULL;
    bool known = word && (strcmp(word, "python") == 0 || strcmp(word, "c") == 0);
    if (word && !known) {
        host_error("exercises are in c or python, not '%s'", word);
        return CLI_USAGE;
    }
    char *was = learn_progress_get(session->progress, "language");
    const char *now = word ? word : was ? was : "c";
    bool python = strcmp(now, "python") == 0;
    int status = CLI_OK;
    if (word && !learn_progress_set(session->progress, "language", word)) {
        host_error("your choice was not saved: %s", learn_progress_error(session->progress));
        status = CLI_USAGE;
    } else if (word && !lay_out_in(session, python)) {
        status = CLI_USAGE;
    } else if (session->json) {
        cli_print_json(json_pack("{ss}", "language", now));
    } else {
        printf("Exercises are in %s. 'lockstep learn language %s' changes that, any day.\n",
               python ? "Python (NumPy, CuPy, and from week 1 day 4 on Triton): files NAME.py"
                      : "C and CUDA C: files NAME.c and NAME.cu",
               python ? "c" : "python");
    }
    free(was);
    return status;
}

int cli_learn_reset(struct cli_learn_session *session)
{
    const struct learn_exercise *exercise;
    char *kept, *message;
    if (!cli_learn_need_folder(session) || !cli_learn_choose(session, &exercise))
        return CLI_USAGE;
    const char *path = cli_learn_file(session, exercise);
    if (!learner_reset(session->folder, exercise, &kept, &message))
        return fail(message);
    if (session->json)
        cli_print_json(json_pack("{ss ss*}", "file", path, "kept", kept));
    else if (kept)
        printf("%s is as it was given; yours is %s\n", cli_learn_shown(session, path),
               cli_learn_shown(session, kept));
    else
        printf("%s is back, as it was given\n", cli_learn_shown(session, path));
    free(kept);
    return CLI_OK;
}

int cli_learn_note(struct cli_learn_session *session)
{
    const struct learn_exercise *exercise;
    char *message;
    const char *text = session->word_count > 1 ? session->words[1] : NULL;
    session->word_count = 1; /* the text names no exercise */
    if (!cli_learn_need_folder(session) || !cli_learn_choose(session, &exercise))
        return CLI_USAGE;
    char *path = learner_note(session->folder, session->progress, exercise, text, &message);
    if (!path)
        return fail(message);
    if (session->json)
        cli_print_json(json_pack("{ss}", "file", path));
    else
        printf("noted in %s\n", cli_learn_shown(session, path));
    free(path);
    return CLI_OK;
}
