/*
 * save.c: writes files whole or not at all, and the learner's file only over the text that the
 * writer has seen.
 */
#include "learn/learner.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool learn_make_folders(const char *path, char **message)
{
    char *folder = lk_say("%s", path);
    bool fine = true;
    for (char *slash = folder; fine && (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        fine = mkdir(folder, 0777) == 0 || errno == EEXIST;
        if (!fine)
            *message = lk_say("%s: %s", folder, strerror(errno));
        *slash = '/';
    }
    free(folder);
    return fine;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    return remove(path);
}

void learn_remove_tree(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static bool write_all(int file, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t done = write(file, data, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        size -= (size_t)done;
    }
    return true;
}

/* Another file is written beside it and takes its place at once: what was there stays until then,
 * also on a full disk. */
bool learn_write_file(const char *path, const char *data, size_t size, char **message)
{
    static atomic_uint count;
    char real[PATH_MAX];
    struct stat before;
    if (!learn_make_folders(path, message))
        return false;
    if (realpath(path, real)) /* a link stays a link */
        path = real;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *other = lk_say("%.*s.%s.%d.%u", (int)(name - path), path, name, (int)getpid(), count++);
    int file = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool fine = file >= 0 && write_all(file, data, size) && fsync(file) == 0;
    if (fine && stat(path, &before) == 0)
        fine = fchmod(file, before.st_mode & 07777) == 0;
    fine = (file < 0 || close(file) == 0) && fine && rename(other, path) == 0;
    if (!fine) {
        *message = lk_say("%s: %s", path, strerror(errno));
        if (file >= 0)
            (void)unlink(other);
    }
    free(other);
    return fine;
}

char *learner_read(const char *path, char **message)
{
    struct stat status;
    char *text = learn_read_file(path, message);
    if (text && stat(path, &status) == 0 && (size_t)status.st_size > strlen(text)) {
        free(text);
        text = NULL;
        *message = lk_say("%s: is no text: it has a byte 0 in it", path);
    }
    return text;
}

/* 64-bit FNV-1a of the text, in hex. */
void learner_version(const char *text, char version[LEARNER_VERSION])
{
    uint64_t hash = 14695981039346656037u;
    if (!text) {
        strcpy(version, "none");
        return;
    }
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        hash = (hash ^ *at) * 1099511628211u;
    snprintf(version, LEARNER_VERSION, "%016llx", (unsigned long long)hash);
}

enum learner_saved learner_save(const char *folder, const struct learn_exercise *exercise,
                                const char *seen, const char *text, char **there, char **message)
{
    char version[LEARNER_VERSION], *path = learner_file(folder, exercise);
    enum learner_saved result = LEARNER_SAVED;
    *message = NULL;
    *there = access(path, F_OK) == 0 ? learner_read(path, message) : NULL;
    learner_version(*there, version);
    if (*message)
        result = LEARNER_FAILED;
    else if (*there && strcmp(*there, text) == 0)
        result = LEARNER_SAVED; /* nothing to write */
    else if (*there && strcmp(version, seen) != 0)
        result = LEARNER_CHANGED;
    else if (!learn_write_file(path, text, strlen(text), message))
        result = LEARNER_FAILED;
    free(path);
    return result;
}
