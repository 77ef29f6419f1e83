/*
 * ask.c: host_ask, for libraries inside a program that is not ours: see child.h.
 * posix_spawn runs no fork handlers and copies no memory, and what the program preloads is not
 * loaded into the tool.
 */
#include "host/child.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static char **environment_without_preloads(void)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **made = lk_alloc((count + 1) * sizeof *made);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
            made[kept++] = environ[i];
    made[kept] = NULL;
    return made;
}

static pid_t start(const char *const *words, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t child = -1;
    char **environment = environment_without_preloads();
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (posix_spawn(&child, words[0], &actions, &attributes, (char *const *)words, environment))
        child = -1;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return child;
}

/* False if its time is up. */
static bool read_all(int from, double deadline, struct lk_buf *output)
{
    char part[4096];
    for (;;) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        double left = deadline - lk_seconds();
        if (left <= 0 || (poll(&ready, 1, (int)(left * 1000) + 1) < 0 && errno != EINTR))
            return false;
        if (!ready.revents)
            continue;
        ssize_t got = read(from, part, sizeof part);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        lk_buf_add(output, part, (size_t)got);
    }
}

int host_ask(const char *const *words, unsigned seconds, struct lk_buf *output)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return 127;
    pid_t child = start(words, ends[1]);
    close(ends[1]);
    if (child > 0 && !read_all(ends[0], lk_seconds() + seconds, output))
        kill(child, SIGKILL);
    close(ends[0]);
    return host_wait(child);
}
