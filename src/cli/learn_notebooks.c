/*
 * learn_notebooks.c: 'lockstep learn notebooks DIR': the lessons as DIR/WEEK/DAY.ipynb. A notebook
 * that was changed or run is not overwritten; with --force, it is first copied.
 */
#include "cli/learn.h"
#include "host/files.h"
#include "learn/notebook.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the Python package is, to say it; NULL if it is not beside lockstep. */
static const char *package_folder(struct cli_learn_session *session)
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

static void print_next(struct cli_learn_session *session, const char *folder, size_t written)
{
    const char *package = package_folder(session);
    printf("%zu notebook%s written below %s\n", written, written == 1 ? "" : "s", folder);
    if (package)
        printf("Next:  PYTHONPATH=%s jupyter lab %s\n", package, folder);
}

static bool is_in_course(const struct cli_learn_session *session, const char *folder)
{
    char real[PATH_MAX];
    size_t length = strlen(session->course.folder);
    return realpath(folder, real) && strncmp(real, session->course.folder, length) == 0 &&
           (real[length] == '/' || !real[length]);
}

int cli_learn_notebooks(struct cli_learn_session *session)
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
    enum learn_notebook_end end = LEARN_NOTEBOOK_SAME;
    for (unsigned i = 0; i < session->course.count && end != LEARN_NOTEBOOK_FAILED; i++) {
        const struct learn_lesson *lesson = session->course.lesson[i];
        char *aside = NULL, *message = NULL;
        const char *path = lk_arena_printf(session->arena, "%s/%s.ipynb", folder, lesson->id);
        end = learn_notebook_write(lesson, path, session->solutions, session->force, &aside,
                                   &message);
        if (end == LEARN_NOTEBOOK_FAILED)
            host_error("%s", message);
        if (end == LEARN_NOTEBOOK_WRITTEN)
            json_array_append_new(written, json_string(path));
        if (end == LEARN_NOTEBOOK_KEPT) {
            json_array_append_new(kept, json_string(path));
            host_error("%s: you have changed or run it, so it stays as it is; --force writes it "
                       "again and keeps yours beside it",
                       path);
        }
        if (aside && !session->json)
            printf("%s was written again; yours is %s\n", path, aside);
        free(aside);
        free(message);
    }
    bool failed = end == LEARN_NOTEBOOK_FAILED;
    int status = failed ? CLI_USAGE : json_array_size(kept) ? CLI_FINDINGS : CLI_OK;
    if (!failed && session->json)
        cli_print_json(json_pack("{ss sO sO}", "folder", folder, "written", written, "kept", kept));
    else if (!failed)
        print_next(session, folder, json_array_size(written));
    json_decref(written);
    json_decref(kept);
    return status;
}
