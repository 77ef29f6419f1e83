/*
 * limits.c: runs a child under limits; see host_run_limited in child.h.
 *
 * Invariants:
 *  1. The child is in a process group of its own, and the whole group is killed: nvcc starts other
 *     programs.
 *  2. The child does not outlive this process: the kernel kills it (PR_SET_PDEATHSIG), and
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

enum { TICK_MS = 10, LOUD_BYTES = 16 << 20 };
#define MIB ((rlim_t)1 << 20)

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

struct limited {
    const struct host_limits *limits;
    pid_t parent;
    int alive; /* stays open as long as the child, and so tells the parent at once when it ends */
};

/* Runs in the child. */
static bool limit_self(const void *context)
{
    const struct limited *limited = context;
    const struct host_limits *limits = limited->limits;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != limited->parent || dup(limited->alive) < 0)
        return false;
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_CPU, (rlim_t)(limits->seconds + 5) * (rlim_t)(cores > 0 ? cores : 1));
    if (!limits->reserves) {
        set_limit(RLIMIT_AS, (limits->mib + 1024) * MIB); /* libraries take addresses too */
        set_limit(RLIMIT_FSIZE, 256 * MIB);
    }
    return true;
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
        siginfo_t info = {0};
        int failed = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
        if (failed ? errno != EINTR : info.si_pid == pid)
            break;
        how = judge(command, limits, pid, begin);
        if (how != HOST_ENDED) {
            kill(-pid, SIGKILL);
            break;
        }
        if (poll(&end, 1, end.fd < 0 ? 1 : TICK_MS) > 0)
            end.fd = -1; /* closed: it is about to end, so look more often */
    }
    *status = host_wait(pid);
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
    struct limited limited = {.limits = limits, .parent = getpid(), .alive = alive[1]};
    own.own_group = true;
    own.input = "/dev/null";
    own.prepare = limit_self;
    own.context = &limited;
    pid_t pid = host_start(&own);
    close(alive[1]);
    if (pid > 0)
        how = watch(&own, limits, pid, alive[0], status);
    close(alive[0]);
    return how;
}
