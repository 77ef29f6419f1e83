/*
 * shared_event.c: events that other processes see. Such an event is a page that the processes
 * share: how many records were asked for, and how many of them have been reached. Who waits, waits
 * for the number that was asked for last. The page is a sealed memory file, so that a process that
 * opens it can count on its size; a handle leads to it through /proc, as for memory (ipc.c).
 */
#include "driver/shared_event.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x6c6f636b65766e74ull
enum { PAGE = 4096 };

struct page {
    uint64_t magic;
    _Atomic uint64_t asked, reached;
    _Atomic int recorder; /* the process that asked last */
};

struct drv_shared_event {
    unsigned references; /* the event's, and one a piece of work; drv_lock guards it */
    int file;
    struct page *page;
    bool is_opened; /* another process's */
};

struct handle {
    uint64_t magic;
    int process, file;
};
_Static_assert(sizeof(struct handle) <= sizeof(CUipcEventHandle), "a handle has 64 bytes");

static struct drv_shared_event *map(int file)
{
    struct page *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED)
        return NULL;
    struct drv_shared_event *shared = lk_alloc_zeroed(sizeof *shared);
    *shared = (struct drv_shared_event){.references = 1, .file = file, .page = page};
    return shared;
}

struct drv_shared_event *drv_shared_new(void)
{
    int file = memfd_create("lockstep-event", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct drv_shared_event *shared = NULL;
    if (file >= 0 && ftruncate(file, PAGE) == 0 &&
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        shared = map(file);
    if (shared)
        shared->page->magic = MAGIC;
    else if (file >= 0)
        close(file);
    return shared;
}

void drv_shared_release(struct drv_shared_event *shared)
{
    if (!shared || --shared->references)
        return;
    munmap(shared->page, PAGE);
    close(shared->file);
    free(shared);
}

/* Records and waits ---------------------------------------------------------------------------- */

struct drv_work drv_shared_record(struct drv_shared_event *shared)
{
    shared->references++;
    shared->page->recorder = getpid();
    return (struct drv_work){.kind = DRV_WORK_SHARED_RECORD,
                             .shared = {shared, ++shared->page->asked}};
}

struct drv_work drv_shared_wait(struct drv_shared_event *shared)
{
    shared->references++;
    return (struct drv_work){.kind = DRV_WORK_SHARED_WAIT, .shared = {shared, shared->page->asked}};
}

/* What a process that has ended asked for never comes: then nothing is left to wait for. */
static bool recorder_is_gone(const struct page *page)
{
    int process = page->recorder;
    return process > 0 && kill(process, 0) != 0 && errno == ESRCH;
}

void drv_shared_run(const struct drv_work *work)
{
    struct page *page = work->shared.event->page;
    uint64_t number = work->shared.number;
    if (work->kind == DRV_WORK_SHARED_RECORD) {
        uint64_t reached = page->reached;
        while (reached < number && !atomic_compare_exchange_weak(&page->reached, &reached, number))
            ;
        return;
    }
    for (unsigned turn = 0; page->reached < number; turn++) {
        if (turn % 1000 == 999 && recorder_is_gone(page))
            return;
        usleep(turn < 100 ? 20 : 200);
    }
}

bool drv_shared_done(const struct drv_shared_event *shared)
{
    return shared->page->reached >= shared->page->asked || recorder_is_gone(shared->page);
}

/* Handles -------------------------------------------------------------------------------------- */

CUresult drv_cuIpcGetEventHandle(CUipcEventHandle *result, CUevent event)
{
    CUcontext context;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    if (!result)
        return CUDA_ERROR_INVALID_VALUE;
    if (!drv_alive(event, DRV_EVENT) || !event->shared || event->shared->is_opened)
        return CUDA_ERROR_INVALID_HANDLE;
    struct handle handle = {MAGIC, getpid(), event->shared->file};
    memset(result, 0, sizeof *result);
    memcpy(result, &handle, sizeof handle);
    return CUDA_SUCCESS;
}

/* A handle may say anything: the file must be one of ours, and as large as it was. */
static struct drv_shared_event *open_shared(const struct handle *handle)
{
    char path[64];
    struct stat facts;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", handle->process, handle->file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return NULL;
    int seals = fcntl(file, F_GET_SEALS);
    bool fine =
        seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(file, &facts) == 0 && facts.st_size == PAGE;
    struct drv_shared_event *shared = fine ? map(file) : NULL;
    if (!shared)
        close(file);
    if (shared && shared->page->magic != MAGIC) {
        drv_shared_release(shared);
        return NULL;
    }
    return shared;
}

CUresult drv_cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle ipc)
{
    CUcontext context;
    struct handle handle;
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    memcpy(&handle, &ipc, sizeof handle);
    if (!event)
        return CUDA_ERROR_INVALID_VALUE;
    if (handle.magic != MAGIC)
        return CUDA_ERROR_MAP_FAILED;
    if (handle.process == getpid()) /* only other processes may */
        return CUDA_ERROR_INVALID_CONTEXT;
    struct drv_shared_event *shared = open_shared(&handle);
    if (!shared)
        return CUDA_ERROR_MAP_FAILED;
    shared->is_opened = true;
    drv_enter_lock();
    *event = drv_event_new(context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    (*event)->shared = shared;
    drv_leave_lock();
    return CUDA_SUCCESS;
}
