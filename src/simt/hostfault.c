/*
 * hostfault.c: explains the crash when a host program dereferences a device pointer.
 * It crashes as it does with a GPU; the message is ours. A program that handles SIGSEGV itself is
 * left alone.
 */
#include "simt/core.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic unsigned machines_open;

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    uint64_t offset = address - SIMT_ARENA_BASE;
    if (offset < machines_open * SIMT_ARENA_STEP && offset % SIMT_ARENA_STEP < SIMT_ARENA_HALF) {
        char text[200];
        int length =
            snprintf(text, sizeof(text),
                     "lockstep: the host touched device memory (0x%llx): only kernels can; "
                     "copy with cudaMemcpy, or use cudaMallocManaged\n",
                     (unsigned long long)address);
        if (length > 0 && write(STDERR_FILENO, text, (size_t)length) < 0)
            return;
    }
    signal(signal_number, SIG_DFL); /* the access happens again, and ends the program */
}

void simt_watch_host_faults(void)
{
    struct sigaction old, action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    if (machines_open++ == 0 && sigaction(SIGSEGV, NULL, &old) == 0 &&
        !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
        sigaction(SIGSEGV, &action, NULL);
}

bool simt_is_host_fault_handler(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_fault;
}
