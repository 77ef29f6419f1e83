/*
 * fork.c: the child of a process that used the driver.
 * None of the machine's threads exist there, and any lock may be held by one of them. As with
 * NVIDIA's driver a child cannot use what its parent started: its calls fail, it can exit or exec.
 */
#include "driver/state.h"

#include <string.h>

bool drv_forked;

static void in_child(void)
{
    drv_forked = true;
    /* Held by nobody who is still there. Condition variables are not used again. */
    pthread_mutex_init(&drv_lock, NULL);
}

void drv_watch_forks(void)
{
    static bool watched;
    if (!watched)
        watched = pthread_atfork(NULL, NULL, in_child) == 0;
}

bool drv_fork_refuses(const char *name)
{
    static const char *const allowed[] = {"cuGetErrorString",    "cuGetErrorName",
                                          "cuDriverGetVersion",  "cuGetProcAddress",
                                          "cuGetProcAddress_v2", "cuGetExportTable"};
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (strcmp(name, allowed[i]) == 0)
            return false;
    return true;
}
