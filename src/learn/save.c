/*
 * save.c: writes the learner's file, but only over the text that the writer has seen. The folder is
 * locked while the two are compared, so that of two studios that save at once only one does.
 */
#include "learn/learner.h"

#include "base/hash.h"
#include "host/files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *learner_read(const char *path, char **message)
{
    struct stat status;
    char *text = host_read_text(path, message);
    if (text && stat(path, &status) == 0 && (size_t)status.st_size > strlen(text)) {
        free(text);
        text = NULL;
        *message = lk_format("%s: not text: it contains a zero byte", path);
    }
    return text;
}

/* 64-bit FNV-1a of the text, in hex. */
void learner_version(const char *text, char version[LEARNER_VERSION])
{
    if (text)
        snprintf(version, LEARNER_VERSION, "%016" PRIx64, lk_hash64(LK_HASH64, text, strlen(text)));
    else
        strcpy(version, "none");
}

static enum learner_saved save(const char *path, const char *seen, const char *text, char **there,
                               char **message)
{
    char version[LEARNER_VERSION];
    *there = access(path, F_OK) == 0 ? learner_read(path, message) : NULL;
    if (*message)
        return LEARNER_FAILED;
    if (*there && strcmp(*there, text) == 0)
        return LEARNER_SAVED; /* nothing to write */
    learner_version(*there, version);
    if (*there && strcmp(version, seen) != 0)
        return LEARNER_CHANGED;
    return host_replace_file(path, text, strlen(text), message) ? LEARNER_SAVED : LEARNER_FAILED;
}

enum learner_saved learner_save(const char *folder, const struct learn_exercise *exercise,
                                const char *seen, const char *text, char **there, char **message)
{
    enum learner_saved result = LEARNER_FAILED;
    char *path = learner_file(folder, exercise);
    *there = *message = NULL;
    if (host_make_parents(path, message)) {
        int lock = host_lock_parent(path);
        result = save(path, seen, text, there, message);
        host_unlock(lock);
    }
    free(path);
    return result;
}
