/*
 * child.c: starts other programs; see child.h. Between fork and exec nothing is allocated: other
 * threads may hold the allocator's lock.
 */
#include "host/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Finding ---------------------------------------------------------------------------------------*/

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

char *host_find_program(struct lk_arena *arena, const char *name)
{
    if (strchr(name, '/'))
        return is_program(name) ? lk_arena_strndup(arena, name, strlen(name)) : NULL;
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        char *candidate =
            lk_arena_printf(arena, "%.*s/%s", length ? (int)length : 1, length ? path : ".", name);
        if (is_program(candidate))
            return candidate;
        path += length + (path[length] == ':');
    }
    return NULL;
}

/* Environment -----------------------------------------------------------------------------------*/

static bool is_named(const char *entry, const char *name)
{
    size_t length = strcspn(name, "=");
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* Our environment with the changes, for execve; free() it. The words in it are not copied. */
static const char **changed_environment(const char *const *changes)
{
    size_t count = 0, kept = 0;
    for (char **at = environ; *at; at++)
        count++;
    for (const char *const *at = changes; at && *at; at++)
        count++;
    const char **made = lk_alloc((count + 1) * sizeof *made);
    for (char **at = environ; *at; at++) {
        bool changed = false;
        for (const char *const *change = changes; change && *change; change++)
            changed = changed || is_named(*at, *change);
        if (!changed)
            made[kept++] = *at;
    }
    for (const char *const *change = changes; change && *change; change++)
        if (strchr(*change, '='))
            made[kept++] = *change;
    made[kept] = NULL;
    return made;
}

/* The child's side ------------------------------------------------------------------------------*/

struct launch {
    const struct host_command *command;
    const char **environment;
    int report; /* closed by exec; gets errno if it does not come to that */
};

/* Puts fd, or else the file, in the place of stream. */
static bool redirect(int stream, int fd, const char *file, int flags)
{
    bool opened = fd == 0 && file;
    if (opened)
        fd = open(file, flags, 0600);
    bool fine = fd == 0 || (fd > 0 && dup2(fd, stream) >= 0);
    if (opened && fd > STDERR_FILENO)
        close(fd);
    return fine;
}

static bool redirect_all(const struct host_command *command)
{
    const int writing = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND;
    return redirect(STDIN_FILENO, command->input_fd, command->input, O_RDONLY) &&
           redirect(STDOUT_FILENO, command->output_fd, command->output, writing) &&
           redirect(STDERR_FILENO, command->joined ? STDOUT_FILENO : 0, command->errors, writing);
}

static void become(const struct launch *launch)
{
    const struct host_command *command = launch->command;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (command->own_group)
        setpgid(0, 0);
    if (redirect_all(command) && (!command->prepare || command->prepare(command->context)) &&
        (!command->folder || chdir(command->folder) == 0)) {
        alarm(command->seconds); /* outlives exec */
        execve(command->path ? command->path : command->words[0], (char *const *)command->words,
               (char *const *)launch->environment);
    }
    int error = errno ? errno : ECANCELED;
    ssize_t sent = write(launch->report, &error, sizeof error);
    _exit(sent == sizeof error ? 127 : 126);
}

/* The parent's side -----------------------------------------------------------------------------*/

static int exit_status(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int host_wait(pid_t child)
{
    int status = 0;
    if (child <= 0)
        return 127;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 127;
    return exit_status(status);
}

pid_t host_start(const struct host_command *command)
{
    int report[2], error = 0;
    if (pipe2(report, O_CLOEXEC) != 0)
        return -1;
    struct launch launch = {.command = command,
                            .environment = changed_environment(command->environment),
                            .report = report[1]};
    if (!command->output && !command->output_fd)
        fflush(stdout); /* what we printed comes before what it prints */
    pid_t child = fork();
    if (child == 0)
        become(&launch);
    if (child < 0)
        error = errno;
    else if (command->own_group)
        setpgid(child, child); /* whichever of the two comes first */
    close(report[1]);
    while (child > 0 && read(report[0], &error, sizeof error) < 0 && errno == EINTR)
        ;
    close(report[0]);
    free(launch.environment);
    if (!error)
        return child;
    host_wait(child);
    errno = error;
    return -1;
}

int host_run(const struct host_command *command)
{
    return host_wait(host_start(command));
}

int host_capture(const struct host_command *command, struct lk_buf *output)
{
    struct host_command piped = *command;
    char part[4096];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return 127;
    piped.output_fd = ends[1];
    pid_t child = host_start(&piped);
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], part, sizeof part)) != 0;) {
        if (got < 0 && errno != EINTR)
            break;
        lk_buf_add(output, part, got > 0 ? (size_t)got : 0);
    }
    close(ends[0]);
    return host_wait(child);
}
