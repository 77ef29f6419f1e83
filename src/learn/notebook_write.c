/*
 * notebook_write.c: a notebook into a file. One that was changed or run is not
 * overwritten, or only after it was set aside.
 */
#include "learn/notebook.h"

#include "base/buf.h"
#include "host/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Is there something at path that is not as we write it? */
static bool is_the_learners(const char *path)
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

/* day4.ipynb becomes day4.1.ipynb, .2 ..: a name that Jupyter opens. Malloc'd. */
static char *set_aside(const char *path, char **message)
{
    int stem = (int)(strlen(path) - strlen(".ipynb"));
    char *kept = NULL;
    for (unsigned i = 1; !kept || access(kept, F_OK) == 0; i++) {
        free(kept);
        kept = lk_format("%.*s.%u.ipynb", stem, path, i);
    }
    if (rename(path, kept) == 0)
        return kept;
    *message = lk_format("%s: %s", path, strerror(errno));
    free(kept);
    return NULL;
}

static bool write_whole(const char *path, const json_t *notebook, char **message)
{
    char *text = json_dumps(notebook, JSON_INDENT(1));
    char *lines = lk_format("%s\n", text ? text : "");
    bool written = text && host_replace_file(path, lines, strlen(lines), message);
    if (!text)
        *message = strdup("out of memory");
    free(lines);
    free(text);
    return written;
}

enum learn_notebook_end learn_notebook_write(const json_t *notebook, const char *path, bool force,
                                             char **aside, char **message)
{
    enum learn_notebook_end end = LEARN_NOTEBOOK_FAILED;
    *aside = *message = NULL;
    bool is_theirs = is_the_learners(path);
    if (is_same(path, notebook))
        end = LEARN_NOTEBOOK_SAME;
    else if (is_theirs && !force)
        end = LEARN_NOTEBOOK_KEPT;
    else if ((!is_theirs || (*aside = set_aside(path, message))) &&
             write_whole(path, notebook, message))
        end = LEARN_NOTEBOOK_WRITTEN;
    return end;
}
