/*
 * files.c: whole files and folders; see files.h.
 */
#include "host/files.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Notes why path could not be used, from errno. Always false. */
static bool fail(const char *path, char **message)
{
    if (message)
        *message = lk_format("%s: %s", path, strerror(errno));
    return false;
}

/* Reading ---------------------------------------------------------------------------------------*/

static bool read_up_to(const char *path, size_t most, struct lk_buf *content, char **message)
{
    struct lk_buf text = {0};
    char part[65536];
    int file = open(path, O_RDONLY | O_CLOEXEC), error = file < 0 ? errno : 0;
    for (ssize_t got = 1; !error && got != 0;) {
        got = read(file, part, sizeof part);
        if (got < 0 && errno != EINTR)
            error = errno;
        lk_buf_add(&text, part, got > 0 ? (size_t)got : 0);
        if (text.size > most)
            error = EFBIG;
    }
    if (file >= 0)
        close(file);
    errno = error;
    if (!error && content->data)
        lk_buf_add(content, text.data, text.size);
    else if (!error)
        *content = text;
    if (error || content->data != text.data)
        lk_buf_free(&text);
    return !error || fail(path, message);
}

bool host_read_file(const char *path, struct lk_buf *content, char **message)
{
    return read_up_to(path, SIZE_MAX, content, message);
}

char *host_read_text(const char *path, char **message)
{
    struct lk_buf content = {0};
    if (read_up_to(path, (size_t)4 << 20, &content, message))
        return content.data;
    lk_buf_free(&content);
    return NULL;
}

char *host_read_line(const char *path, unsigned long long number)
{
    FILE *file = number ? fopen(path, "re") : NULL;
    char *line = NULL;
    size_t capacity = 0;
    bool found = file != NULL;
    for (unsigned long long i = 0; found && i < number; i++)
        found = getline(&line, &capacity, file) >= 0;
    if (file)
        fclose(file);
    if (found) {
        line[strcspn(line, "\r\n")] = 0;
        return line;
    }
    free(line);
    return NULL;
}

/* Writing ---------------------------------------------------------------------------------------*/

bool host_write_all(int file, const void *data, size_t size)
{
    for (const char *at = data, *end = at + size; at < end;) {
        ssize_t done = write(file, at, (size_t)(end - at));
        if (done < 0 && errno != EINTR)
            return false;
        at += done > 0 ? done : 0;
    }
    return true;
}

bool host_write_file(const char *path, const void *data, size_t size, char **message)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool fine = file >= 0 && host_write_all(file, data, size);
    fine = (file < 0 || close(file) == 0) && fine;
    return fine || fail(path, message);
}

/* Another file is written beside it and takes its place at once: what was there stays until then.
 */
bool host_replace_file(const char *path, const void *data, size_t size, char **message)
{
    static atomic_uint count;
    char real[PATH_MAX];
    struct stat before;
    if (!host_make_parents(path, message))
        return false;
    if (realpath(path, real)) /* a link stays a link */
        path = real;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *other =
        lk_format("%.*s.%s.%d.%u", (int)(name - path), path, name, (int)getpid(), count++);
    int file = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool fine = file >= 0 && host_write_all(file, data, size) && fsync(file) == 0;
    if (fine && stat(path, &before) == 0)
        fine = fchmod(file, before.st_mode & 07777) == 0;
    fine = (file < 0 || close(file) == 0) && fine && rename(other, path) == 0;
    if (!fine)
        fail(path, message);
    if (!fine && file >= 0)
        (void)unlink(other);
    free(other);
    return fine;
}

/* Folders ---------------------------------------------------------------------------------------*/

bool host_make_parents(const char *path, char **message)
{
    char *folder = lk_format("%s", path);
    bool fine = true;
    for (char *slash = folder; fine && *slash && (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        fine = mkdir(folder, 0777) == 0 || errno == EEXIST || fail(folder, message);
        *slash = '/';
    }
    free(folder);
    return fine;
}

bool host_make_folder(const char *path, char **message)
{
    struct stat status;
    if (!host_make_parents(path, message))
        return false;
    if (mkdir(path, 0777) == 0)
        return true;
    if (errno == EEXIST && stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
        errno = ENOTDIR;
    return errno == EEXIST || fail(path, message);
}

int host_lock_parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? lk_format("%.*s/", (int)(slash - path), path) : lk_format(".");
    int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    while (lock >= 0 && flock(lock, LOCK_EX) != 0 && errno == EINTR)
        ;
    return lock;
}

void host_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    return remove(path);
}

void host_remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

char *host_temporary_folder(const char *name, char **message)
{
    const char *chosen = getenv("TMPDIR");
    char *folder = lk_format("%s/lockstep-%s-XXXXXX", chosen && *chosen ? chosen : "/tmp", name);
    if (mkdtemp(folder))
        return folder;
    if (message)
        *message = lk_format("%s: %s; set TMPDIR to a folder that can be written", folder,
                             strerror(errno));
    free(folder);
    return NULL;
}

/* Places ----------------------------------------------------------------------------------------*/

/* Paths that are not absolute do not count, as the XDG specification has it. */
static char *home_path(const char *variable, const char *otherwise, const char *name)
{
    const char *chosen = getenv(variable), *home = getenv("HOME");
    if (chosen && *chosen == '/')
        return lk_format("%s/lockstep/%s", chosen, name);
    if (home && *home == '/')
        return lk_format("%s/%s/lockstep/%s", home, otherwise, name);
    return NULL;
}

char *host_data_path(const char *name)
{
    return home_path("XDG_DATA_HOME", ".local/share", name);
}

char *host_cache_path(const char *name)
{
    return home_path("XDG_CACHE_HOME", ".cache", name);
}

static char program[PATH_MAX], program_folder[PATH_MAX];

static void find_program(void)
{
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    const char *slash = strrchr(program, '/');
    if (slash)
        memcpy(program_folder, program, (size_t)(slash - program));
}

const char *host_program(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_program);
    return program;
}

const char *host_program_folder(void)
{
    (void)host_program();
    return program_folder;
}
