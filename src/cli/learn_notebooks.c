/*
 * learn_notebooks.c: 'lockstep learn notebooks DIR': the lessons as DIR/WEEK/DAY.ipynb, in the
 * learner's language, and DIR/00_ready_check.ipynb. A notebook that was changed or run is not
 * overwritten; with --force, it is first copied.
 */
#include "cli/learn.h"
#include "host/files.h"
#include "learn/notebook.h"
#include "learn/ready.h"

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

struct notebooks {
    struct cli_learn_session *session;
    const char *folder;
    json_t *written, *kept;
};

/* Takes the notebook, and message if it is NULL. False if it cannot be made or written. */
static bool write_one(struct notebooks *all, const char *id, json_t *notebook, char *message)
{
    struct cli_learn_session *session = all->session;
    char *aside = NULL;
    const char *path = lk_arena_printf(session->arena, "%s/%s.ipynb", all->folder, id);
    enum learn_notebook_end end = LEARN_NOTEBOOK_FAILED;
    if (notebook)
        end = learn_notebook_write(notebook, path, session->force, &aside, &message);
    json_decref(notebook);
    if (end == LEARN_NOTEBOOK_FAILED)
        host_error("%s", message);
    if (end == LEARN_NOTEBOOK_WRITTEN)
        json_array_append_new(all->written, json_string(path));
    if (end == LEARN_NOTEBOOK_KEPT) {
        json_array_append_new(all->kept, json_string(path));
        host_error("%s: you have changed or run it, so it stays as it is; --force writes it "
                   "again and keeps yours beside it",
                   path);
    }
    if (aside && !session->json)
        printf("%s was written again; yours is %s\n", path, aside);
    free(aside);
    free(message);
    return end != LEARN_NOTEBOOK_FAILED;
}

/* A course may be without questions. */
static bool write_ready(struct notebooks *all)
{
    struct cli_learn_session *session = all->session;
    char *message = NULL;
    if (access(lk_arena_printf(session->arena, "%s/ready.json", session->course.folder), F_OK) != 0)
        return true;
    struct learn_ready *ready = learn_ready_read(&session->course, &message);
    json_t *notebook = ready ? learn_notebook_ready(ready, session->solutions) : NULL;
    bool fine = write_one(all, "00_ready_check", notebook, message);
    if (ready)
        learn_ready_free(ready);
    return fine;
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
    struct notebooks all = {session, folder, json_array(), json_array()};
    bool fine = write_ready(&all);
    for (unsigned i = 0; i < session->course.count && fine; i++) {
        const struct learn_lesson *lesson = session->course.lesson[i];
        char *message = NULL;
        json_t *notebook = learn_notebook(lesson, session->solutions, &message);
        fine = write_one(&all, lesson->id, notebook, message);
    }
    int status = !fine ? CLI_USAGE : json_array_size(all.kept) ? CLI_FINDINGS : CLI_OK;
    if (fine && session->json)
        cli_print_json(
            json_pack("{ss sO sO}", "folder", folder, "written", all.written, "kept", all.kept));
    else if (fine)
        print_next(session, folder, json_array_size(all.written));
    json_decref(all.written);
    json_decref(all.kept);
    return status;
}
