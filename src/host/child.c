/*
 * child.c: runs another program under limits; see child.h.
 *
 * Invariants:
 *  1. The child is in a process group of its own, and the whole group is killed: nvcc starts
 * others.
 *  2. A learner who closes the terminal or kills this program leaves nothing that runs on: the
 * kernel kills the child (PR_SET_PDEATHSIG), and RLIMIT_CPU ends what the child has started.
 *  3. Nothing is allocated between fork and exec: other threads may hold the allocator's lock.
 *
 * RLIMIT_AS cannot bound the worker: the machine reserves terabytes of addresses for the GPU's
 * memory and uses few. So what is resident is read every few milliseconds; what grows faster than
 * that is past the limit by some hundred MiB before it is stopped.
 */
#include "host/child.h"

#include "base/arena.h"
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

enum { TICK_MS = 10, LOG_BYTES = 16 << 20 };
#define MIB ((rlim_t)1 << 20)

/* Environment -----------------------------------------------------------------------------------*/

static bool is_named(const char *entry, const char *name)
{
    size_t length = strcspn(name, "=");
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

const char **learn_environment(const char *const *changes)
{
    static const char *const none[] = {NULL};
    size_t count = 0, kept = 0;
    changes = changes ? changes : none;
    for (char **at = environ; *at; at++)
        count++;
    for (const char *const *at = changes; *at; at++)
        count++;
    const char **made = lk_alloc((count + 1) * sizeof *made);
    for (char **at = environ; *at; at++) {
        bool changed = false;
        for (const char *const *change = changes; *change; change++)
            changed = changed || is_named(*at, *change);
        if (!changed)
            made[kept++] = *at;
    }
    for (const char *const *change = changes; *change; change++)
        if (strchr(*change, '='))
            made[kept++] = *change;
    made[kept] = NULL;
    return made;
}

/* The child's side ------------------------------------------------------------------------------*/

static void set_limit(unsigned resource, rlim_t most)
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

/* alive: stays open as long as the child, and so tells the parent at once when it ends. */
static void become(const struct learn_child *child, const char **environment, pid_t parent,
                   int alive)
{
    sigset_t none;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int out = open(child->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    int in = open("/dev/null", O_RDONLY);
    if (out < 0 || in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(out, STDERR_FILENO) < 0 || dup(alive) < 0)
        _exit(127);
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_CPU, (rlim_t)(child->seconds + 5) * (rlim_t)(cores > 0 ? cores : 1));
    if (!child->reserves) {
        set_limit(RLIMIT_AS, (child->mib + 1024) * MIB); /* libraries take addresses too */
        set_limit(RLIMIT_FSIZE, 256 * MIB);
    }
    execve(child->words[0], (char *const *)child->words, (char *const *)environment);
    _exit(127);
}

/* The parent's side -----------------------------------------------------------------------------*/

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

static enum learn_end judge(const struct learn_child *child, pid_t pid, double begin)
{
    struct stat log;
    if (child->interrupted && *child->interrupted)
        return LEARN_INTERRUPTED;
    if (lk_seconds() - begin > child->seconds)
        return LEARN_SLOW;
    if (resident_bytes(pid) > child->mib * MIB)
        return LEARN_BIG;
    if (stat(child->log, &log) == 0 && log.st_size > LOG_BYTES)
        return LEARN_LOUD;
    return LEARN_ENDED;
}

static enum learn_end wait_for(const struct learn_child *child, pid_t pid, int alive, int *status)
{
    struct pollfd end = {.fd = alive, .events = POLLIN};
    double begin = lk_seconds();
    enum learn_end how = LEARN_ENDED;
    for (;;) {
        pid_t ended = waitpid(pid, status, WNOHANG);
        if (ended == pid)
            break;
        if (ended < 0 && errno != EINTR)
            return LEARN_NOT_STARTED;
        how = judge(child, pid, begin);
        if (how != LEARN_ENDED) {
            kill(-pid, SIGKILL);
            kill(pid, SIGKILL); /* should it not have made its group yet */
            while (waitpid(pid, status, 0) < 0 && errno == EINTR)
                ;
            break;
        }
        if (poll(&end, 1, end.fd < 0 ? 1 : TICK_MS) > 0)
            end.fd = -1; /* closed: it ends, or will be looked at more often */
    }
    *status = WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
    return how;
}

enum learn_end learn_child_run(const struct learn_child *child, int *status)
{
    int alive[2];
    pid_t parent = getpid();
    enum learn_end how = LEARN_NOT_STARTED;
    *status = 127;
    if (pipe2(alive, O_CLOEXEC) != 0)
        return how;
    const char **environment = learn_environment(child->environment);
    pid_t pid = fork();
    if (pid == 0)
        become(child, environment, parent, alive[1]);
    close(alive[1]);
    if (pid > 0)
        how = wait_for(child, pid, alive[0], status);
    close(alive[0]);
    free(environment);
    return how == LEARN_ENDED && *status == 127 ? LEARN_NOT_STARTED : how;
}
