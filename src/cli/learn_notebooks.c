/*
 * learn_notebooks.c: 'lockstep learn notebooks DIR': the lessons as DIR/WEEK/DAY.ipynb. A notebook
 * that somebody changed or ran is not written again, or with --force only beside a copy of it.
 */
#include "cli/learn.h"
#include "host/files.h"
#include "learn/learner.h"
#include "learn/notebook.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum outcome { WRITTEN, SAME, KEPT, FAILED };

/* What lies at path: nothing, a notebook nobody touched, or something of the learner's. */
static bool is_of_the_learner(const char *path)
{
    if (access(path, F_OK) != 0)
        return false;
    json_t *notebook = json_load_file(path, 0, NULL);
    bool ours = notebook && learn_notebook_is_ours(notebook);
    json_decref(notebook);
    return !ours;
}

static bool is_same(const char *path, const json_t *notebook)
{
    json_t *there = json_load_file(path, 0, NULL);
    bool same = there && json_equal(there, notebook);
    json_decref(there);
    return same;
}

/* day4.ipynb becomes day4.1.ipynb, .2 ..: a name that Jupyter opens. NULL after an error. */
static const char *set_aside(struct learn_session *session, const char *path)
{
    const char *kept = NULL;
    int stem = (int)(strlen(path) - strlen(".ipynb"));
    for (unsigned i = 1; !kept || access(kept, F_OK) == 0; i++)
        kept = lk_arena_printf(session->arena, "%.*s.%u.ipynb", stem, path, i);
    if (rename(path, kept) == 0)
        return kept;
    host_error("%s: %s", path, strerror(errno));
    return NULL;
}

static bool write_whole(const char *path, const json_t *notebook)
{
    char *message = NULL, *text = json_dumps(notebook, JSON_INDENT(1));
    char *lines = lk_say("%s\n", text ? text : "");
    bool written = text && host_replace_file(path, lines, strlen(lines), &message);
    if (!written)
        host_error("%s", message ? message : "out of memory");
    free(message);
    free(lines);
    free(text);
    return written;
}

static enum outcome write_lesson(struct learn_session *session, const struct learn_lesson *lesson,
                                 const char *path, const char **aside)
{
    char *message = NULL;
    enum outcome outcome = FAILED;
    json_t *notebook = learn_notebook(lesson, session->solutions, &message);
    if (!notebook) {
        host_error("%s", message);
        free(message);
        return FAILED;
    }
    bool learners = is_of_the_learner(path);
    if (is_same(path, notebook))
        outcome = SAME;
    else if (learners && !session->force)
        outcome = KEPT;
    else if ((!learners || (*aside = set_aside(session, path))) && write_whole(path, notebook))
        outcome = WRITTEN;
    json_decref(notebook);
    return outcome;
}

/* Where the Python package is, to say it; NULL if it is not beside lockstep. */
static const char *package_folder(struct learn_session *session)
{
    static const char *const places[] = {"../python", "../share/lockstep/python"};
    static char folder[PATH_MAX];
    const char *self = session->grader.self;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *place = lk_arena_printf(session->arena, "%.*s%s/lockstep",
                                            (int)(strrchr(self, '/') + 1 - self), self, places[i]);
        if (realpath(place, folder)) {
            *strrchr(folder, '/') = 0;
            return folder;
        }
    }
    return NULL;
}

static void say_next(struct learn_session *session, const char *folder, size_t written)
{
    const char *package = package_folder(session);
    printf("%zu notebook%s written below %s\n", written, written == 1 ? "" : "s", folder);
    if (package)
        printf("Next:  PYTHONPATH=%s jupyter lab %s\n", package, folder);
}

static bool is_in_course(const struct learn_session *session, const char *folder)
{
    char real[PATH_MAX];
    size_t length = strlen(session->course.folder);
    return realpath(folder, real) && strncmp(real, session->course.folder, length) == 0 &&
           (real[length] == '/' || !real[length]);
}

int learn_notebooks(struct learn_session *session)
{
    if (session->word_count < 2) {
        host_error("notebooks needs a folder: 'lockstep learn notebooks ~/gpu-notebooks'");
        return CLI_USAGE;
    }
    const char *folder = session->words[1];
    if (is_in_course(session, folder)) {
        host_error("%s is the course itself; take a folder of your own", folder);
        return CLI_USAGE;
    }
    json_t *written = json_array(), *kept = json_array();
    enum outcome outcome = SAME;
    for (unsigned i = 0; i < session->course.count && outcome != FAILED; i++) {
        const struct learn_lesson *lesson = session->course.lesson[i];
        const char *aside = NULL;
        const char *path = lk_arena_printf(session->arena, "%s/%s.ipynb", folder, lesson->id);
        outcome = write_lesson(session, lesson, path, &aside);
        if (outcome == WRITTEN)
            json_array_append_new(written, json_string(path));
        if (outcome == KEPT) {
            json_array_append_new(kept, json_string(path));
            host_error("%s: you have changed or run it, so it stays as it is; --force writes it "
                       "anew and keeps yours beside it",
                       path);
        }
        if (aside && !session->json)
            printf("%s is written anew; yours is %s\n", path, aside);
    }
    int status = outcome == FAILED ? CLI_USAGE : json_array_size(kept) ? CLI_FINDINGS : CLI_OK;
    if (outcome != FAILED && session->json)
        learn_print_json(
            json_pack("{ss sO sO}", "folder", folder, "written", written, "kept", kept));
    else if (outcome != FAILED)
        say_next(session, folder, json_array_size(written));
    json_decref(written);
    json_decref(kept);
    return status;
}
