/*
 * limits.c: runs a child under limits; see host_run_limited in child.h.
 *
 * Invariants:
 *  1. The child is in a process group of its own, and the whole group is killed: nvcc starts other
 *     programs.
 *  2. The child does not outlive this process: the kernel kills it (PR_SET_PDEATHSIG), and
 *     RLIMIT_CPU ends what it has started.
 *  3. A busy machine is not the child's fault: when its seconds are over, it goes on while the
 * group has had less processor time than that and gets more, but not beyond PATIENCE times as long.
 *
 * RLIMIT_AS cannot bound the simulated GPU: it reserves terabytes of addresses and uses few. So the
 * resident size is read every few milliseconds; a program that grows faster than that is past its
 * limit by some hundred MiB before it is killed.
 */
#include "host/child.h"

#include "base/clock.h"

#include <dirent.h>
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

enum { TICK_MS = 10, LOUD_BYTES = 16 << 20, PATIENCE = 5 };
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

/* Processor time of a process of the group, and of the children that it has waited for; else 0. */
static double process_seconds(const char *id, pid_t group)
{
    enum { GROUP = 5, FIRST_TIME = 14, LAST_TIME = 17 }; /* as proc(5) counts: the name is 2 */
    char path[300], text[1024];
    unsigned long long ticks = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", id);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    char *at = strrchr(text, ')'); /* a name may have brackets and blanks; then " S ", the state */
    if (!at || strlen(at) < 4)
        return 0;
    at += 3;
    for (int field = 4; field <= LAST_TIME; field++) {
        unsigned long long value = strtoull(at, &at, 10);
        if (field == GROUP && value != (unsigned long long)group)
            return 0;
        if (field >= FIRST_TIME)
            ticks += value;
    }
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static double group_seconds(pid_t group)
{
    double seconds = 0;
    DIR *processes = opendir("/proc");
    for (struct dirent *each; processes && (each = readdir(processes));)
        if (each->d_name[0] >= '1' && each->d_name[0] <= '9')
            seconds += process_seconds(each->d_name, group);
    if (processes)
        closedir(processes);
    return seconds;
}

struct watched {
    pid_t pid;
    double begin, looked, used; /* used: processor time when it was looked at last, in overtime */
};

static bool is_too_slow(struct watched *child, unsigned limit)
{
    double now = lk_seconds(), spent = now - child->begin;
    if (spent <= limit || (child->looked > 0 && now - child->looked < 1))
        return spent > (double)limit * PATIENCE;
    double used = group_seconds(child->pid);
    bool waits = child->looked > 0 && used - child->used < 0.01;
    child->looked = now;
    child->used = used;
    return waits || used >= limit;
}

/* HOST_ENDED while it keeps its limits. */
static enum host_end judge(const struct host_command *command, const struct host_limits *limits,
                           struct watched *child)
{
    struct stat output;
    if (limits->interrupted && *limits->interrupted)
        return HOST_INTERRUPTED;
    if (is_too_slow(child, limits->seconds))
        return HOST_TOO_SLOW;
    if (resident_bytes(child->pid) > limits->mib * MIB)
        return HOST_TOO_BIG;
    if (command->output && stat(command->output, &output) == 0 && output.st_size > LOUD_BYTES)
        return HOST_TOO_LOUD;
    return HOST_ENDED;
}

static enum host_end watch(const struct host_command *command, const struct host_limits *limits,
                           pid_t pid, int alive, int *status)
{
    struct pollfd end = {.fd = alive, .events = POLLIN};
    struct watched child = {.pid = pid, .begin = lk_seconds()};
    enum host_end how = HOST_ENDED;
    for (;;) {
        siginfo_t info = {0};
        int failed = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
        if (failed ? errno != EINTR : info.si_pid == pid)
            break;
        how = judge(command, limits, &child);
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
