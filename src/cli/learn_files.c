/*
 * learn_files.c: the learner's folder: laying out exercises, putting one back, the notebook. A file
 * that is there is never overwritten.
 */
#include "cli/learn.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *learn_file(const struct learn_session *session, const struct learn_exercise *exercise)
{
    return lk_arena_printf(session->arena, "%s/%s/%s.%s", session->folder, exercise->lesson->id,
                           exercise->name, exercise->is_c ? "c" : "cu");
}

const char *learn_shown(struct learn_session *session, const char *path)
{
    char here[PATH_MAX];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    if (length && strncmp(path, here, length) == 0 && path[length] == '/')
        return path + length + 1;
    return path;
}

bool learn_make_folders(struct learn_session *session, const char *path)
{
    char *folder = lk_arena_printf(session->arena, "%s", path);
    for (char *slash = folder; (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
            cli_error("%s: %s", folder, strerror(errno));
            return false;
        }
        *slash = '/';
    }
    return true;
}

/* A file that is already there stays as it is. */
static bool copy_file(struct learn_session *session, const char *from, const char *to)
{
    char *message = NULL, *text;
    if (access(to, F_OK) == 0)
        return true;
    if (!learn_make_folders(session, to))
        return false;
    text = learn_read_file(from, &message);
    FILE *file = text ? fopen(to, "wxe") : NULL;
    bool written = file && fputs(text, file) >= 0;
    written = (!file || fclose(file) == 0) && written;
    if (!text)
        cli_error("%s", message);
    else if (!written)
        cli_error("%s: %s", to, strerror(errno));
    free(message);
    free(text);
    return written;
}

static bool copy_lesson(struct learn_session *session, const struct learn_lesson *lesson)
{
    return copy_file(session, lk_arena_printf(session->arena, "%s/lesson.md", lesson->folder),
                     lk_arena_printf(session->arena, "%s/%s/lesson.md", session->folder,
                                     lesson->id));
}

bool learn_lay_out(struct learn_session *session, const struct learn_exercise *exercise)
{
    const char *to = learn_file(session, exercise);
    return copy_lesson(session, exercise->lesson) &&
           copy_file(session, learn_path(exercise, learn_given(exercise)), to);
}

int learn_init(struct learn_session *session)
{
    char folder[PATH_MAX];
    if (session->word_count < 2) {
        cli_error("init needs a folder: 'lockstep learn init ~/gpu-course'");
        return CLI_USAGE;
    }
    session->folder = session->words[1];
    if (!learn_make_folders(session, lk_arena_printf(session->arena, "%s/.", session->folder)))
        return CLI_USAGE;
    if (!realpath(session->folder, folder)) {
        cli_error("%s: %s", session->folder, strerror(errno));
        return CLI_USAGE;
    }
    session->folder = folder;
    size_t length = strlen(session->course.folder);
    if (strncmp(folder, session->course.folder, length) == 0 &&
        (folder[length] == '/' || !folder[length])) {
        cli_error("%s is the course itself; take a folder of your own", folder);
        return CLI_USAGE;
    }
    for (unsigned i = 0; i < session->course.count; i++) {
        const struct learn_lesson *lesson = session->course.lesson[i];
        if (!copy_lesson(session, lesson))
            return CLI_USAGE;
        for (unsigned j = 0; j < lesson->exercise_count; j++)
            if (!learn_lay_out(session, &lesson->exercise[j]))
                return CLI_USAGE;
    }
    if (!learn_progress_set(session->progress, "folder", folder)) {
        cli_error("the folder is not kept in mind: %s", learn_progress_error(session->progress));
        return CLI_USAGE;
    }
    if (session->json)
        learn_print_json(json_pack("{ss si}", "folder", folder, "lessons",
                                   (int)session->course.count));
    else
        printf("Your exercises are in %s. They are broken on purpose: mending them is the course.\n"
               "Next:  lockstep learn\n",
               folder);
    return CLI_OK;
}

/* The learner's file becomes NAME.cu.1, .2 ..: nothing is lost. */
int learn_reset(struct learn_session *session)
{
    const struct learn_exercise *exercise;
    const char *kept = NULL;
    if (!learn_need_folder(session) || !learn_choose(session, &exercise))
        return CLI_USAGE;
    const char *path = learn_file(session, exercise);
    if (access(path, F_OK) == 0) {
        for (unsigned i = 1; !kept || access(kept, F_OK) == 0; i++)
            kept = lk_arena_printf(session->arena, "%s.%u", path, i);
        if (rename(path, kept) != 0) {
            cli_error("%s: %s", path, strerror(errno));
            return CLI_USAGE;
        }
    }
    if (!learn_lay_out(session, exercise))
        return CLI_USAGE;
    if (session->json)
        learn_print_json(json_pack("{ss ss*}", "file", path, "kept", kept));
    else if (kept)
        printf("%s is as it was given; yours is %s\n", learn_shown(session, path),
               learn_shown(session, kept));
    else
        printf("%s is back, as it was given\n", learn_shown(session, path));
    return CLI_OK;
}

/* Notebook --------------------------------------------------------------------------------------*/

static void write_note(struct learn_session *session, FILE *file,
                       const struct learn_exercise *exercise, const char *clock)
{
    json_t *last = learn_progress_last(session->progress, exercise), *value;
    const char *name;
    fprintf(file, "\n## %s %s\n\n", clock, learn_key(exercise));
    if (session->word_count > 1)
        fprintf(file, "%s\n\n", session->words[1]);
    if (last) {
        fprintf(file, "Last verdict: %s\n\n", json_string_value(json_object_get(last, "stage")));
        if (*json_string_value(json_object_get(last, "text")))
            fprintf(file, "```\n%s```\n\n", json_string_value(json_object_get(last, "text")));
        json_object_foreach(json_object_get(last, "counters"), name, value)
            fprintf(file, "- %s: %.6g\n", name, json_number_value(value));
    }
    json_decref(last);
}

int learn_note(struct learn_session *session)
{
    const struct learn_exercise *exercise;
    char day[32], clock[16];
    time_t now = time(NULL);
    struct tm here;
    const char *text = session->word_count > 1 ? session->words[1] : NULL;
    session->word_count = 1; /* the text names no exercise */
    if (!learn_need_folder(session) || !learn_choose(session, &exercise))
        return CLI_USAGE;
    session->word_count = text ? 2 : 1;
    localtime_r(&now, &here);
    strftime(day, sizeof day, "%Y-%m-%d", &here);
    strftime(clock, sizeof clock, "%H:%M", &here);
    const char *path = lk_arena_printf(session->arena, "%s/notes/%s.md", session->folder, day);
    if (!learn_make_folders(session, path))
        return CLI_USAGE;
    bool is_new = access(path, F_OK) != 0;
    FILE *file = fopen(path, "ae");
    if (file) {
        if (is_new)
            fprintf(file, "# %s\n", day);
        write_note(session, file, exercise, clock);
    }
    bool written = file && !ferror(file);
    if (!file || fclose(file) != 0 || !written) {
        cli_error("%s: %s", path, strerror(errno));
        return CLI_USAGE;
    }
    if (session->json)
        learn_print_json(json_pack("{ss}", "file", path));
    else
        printf("noted in %s\n", learn_shown(session, path));
    return CLI_OK;
}
