/*
 * child.c: starts other programs; see child.h.
 *
 * Invariants:
 *  1. Nothing is allocated between fork and exec: other threads may hold the allocator's lock.
 *  2. A limited child is in a process group of its own, and the whole group is killed: nvcc starts
 *     other programs.
 *  3. A limited child does not outlive this process: the kernel kills it (PR_SET_PDEATHSIG), and
 *     RLIMIT_CPU ends what it has started.
 *
 * RLIMIT_AS cannot bound the simulated GPU: it reserves terabytes of addresses and uses few. So the
 * resident size is read every few milliseconds; a program that grows faster than that is past its
 * limit by some hundred MiB before it is killed.
 */
#include "host/child.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { TICK_MS = 10, LOUD_BYTES = 16 << 20 };
#define MIB ((rlim_t)1 << 20)

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
    const struct host_limits *limits; /* NULL: none */
    const char **environment;
    pid_t parent;
    int alive;  /* stays open as long as the child, and so tells the parent at once when it ends */
    int report; /* closed by exec; gets errno if it does not come to that */
};

static void set_limit(int resource, rlim_t most)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0)
        return;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most)
        limit.rlim_max = most;
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(resource, &limit); /* less than before is always allowed */
}

static bool limit_self(const struct launch *launch)
{
    const struct host_limits *limits = launch->limits;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launch->parent || dup(launch->alive) < 0)
        return false;
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_CPU, (rlim_t)(limits->seconds + 5) * (rlim_t)(cores > 0 ? cores : 1));
    if (!limits->reserves) {
        set_limit(RLIMIT_AS, (limits->mib + 1024) * MIB); /* libraries take addresses too */
        set_limit(RLIMIT_FSIZE, 256 * MIB);
    }
    return true;
}

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
    if (redirect_all(command) && (!launch->limits || limit_self(launch)) &&
        (!command->folder || chdir(command->folder) == 0)) {
        alarm(command->seconds); /* outlives exec */
        execve(command->path ? command->path : command->words[0], (char *const *)command->words,
               (char *const *)launch->environment);
    }
    int error = errno;
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

static pid_t start(const struct host_command *command, const struct host_limits *limits, int alive)
{
    int report[2], error = 0;
    if (pipe2(report, O_CLOEXEC) != 0)
        return -1;
    struct launch launch = {.command = command,
                            .limits = limits,
                            .environment = changed_environment(command->environment),
                            .parent = getpid(),
                            .alive = alive,
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

pid_t host_start(const struct host_command *command)
{
    return start(command, NULL, -1);
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

/* Limits ----------------------------------------------------------------------------------------*/

static unsigned long long resident_bytes(pid_t pid)
{
    char path[64], text[128];
    unsigned long long resident = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "re");
    if (file && fgets(text, sizeof text, file)) /* "SIZE RESIDENT ...", in pages */
        resident = strtoull(text + strcspn(text, " "), NULL, 10);
    if (file)
        fclose(file);
    return resident * (unsigned long long)sysconf(_SC_PAGESIZE);
}

/* HOST_ENDED while it keeps its limits. */
static enum host_end judge(const struct host_command *command, const struct host_limits *limits,
                           pid_t pid, double begin)
{
    struct stat output;
    if (limits->interrupted && *limits->interrupted)
        return HOST_INTERRUPTED;
    if (lk_seconds() - begin > limits->seconds)
        return HOST_TOO_SLOW;
    if (resident_bytes(pid) > limits->mib * MIB)
        return HOST_TOO_BIG;
    if (command->output && stat(command->output, &output) == 0 && output.st_size > LOUD_BYTES)
        return HOST_TOO_LOUD;
    return HOST_ENDED;
}

static enum host_end watch(const struct host_command *command, const struct host_limits *limits,
                           pid_t pid, int alive, int *status)
{
    struct pollfd end = {.fd = alive, .events = POLLIN};
    double begin = lk_seconds();
    enum host_end how = HOST_ENDED;
    for (;;) {
        pid_t ended = waitpid(pid, status, WNOHANG);
        if (ended == pid)
            break;
        if (ended < 0 && errno != EINTR)
            return HOST_NOT_STARTED;
        how = judge(command, limits, pid, begin);
        if (how != HOST_ENDED) {
            kill(-pid, SIGKILL);
            while (waitpid(pid, status, 0) < 0 && errno == EINTR)
                ;
            break;
        }
        if (poll(&end, 1, end.fd < 0 ? 1 : TICK_MS) > 0)
            end.fd = -1; /* closed: it is about to end, so look more often */
    }
    *status = exit_status(*status);
    return how;
}

enum host_end host_run_limited(const struct host_command *command, const struct host_limits *limits,
                               int *status)
{
    struct host_command own = *command;
    enum host_end how = HOST_NOT_STARTED;
    int alive[2];
    *status = 127;
    if (pipe2(alive, O_CLOEXEC) != 0)
        return how;
    own.own_group = true;
    own.input = "/dev/null";
    pid_t pid = start(&own, limits, alive[1]);
    close(alive[1]);
    if (pid > 0)
        how = watch(&own, limits, pid, alive[0], status);
    close(alive[0]);
    return how;
}
