/*
 * virtual.c: physical memory, and its mapping to reserved addresses.
 * Physical memory is a stretch of a file: the machine's, where it begins behind the host-visible
 * half and is never used twice (files are sparse, and what is released is cut out of them), or one
 * of its own, which can be passed to another process. A mapping puts these bytes where the bytes of
 * the device address lie (address + SIMT_BACKING), in the place of private, untouched ones.
 */
#include "simt/virtual.h"
#include "simt/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name of a file of its own says what it is to a process that gets its descriptor. */
#define FILE_NAME "lockstep memory of "
#define DEVICE_NAME FILE_NAME "device "
#define HOST_NAME FILE_NAME "host "
#define EXPORT_NAME FILE_NAME "allocations"

static bool map_file(uint64_t place, size_t size, const struct simt_physical *physical,
                     int protection)
{
    return mmap((void *)(uintptr_t)place, size, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                physical->file, (off_t)physical->offset) != MAP_FAILED;
}

/* As map_views of memory.c leaves it. */
static bool map_nothing(uint64_t place, size_t size, int protection)
{
    return mmap((void *)(uintptr_t)place, size, protection,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

static bool open_own(struct simt_physical *physical, enum simt_memory_kind kind, unsigned index)
{
    char name[64];
    snprintf(name, sizeof name, "%s%u", kind == SIMT_MEMORY_PINNED ? HOST_NAME : DEVICE_NAME,
             index);
    physical->file = memfd_create(name, MFD_CLOEXEC);
    if (physical->file < 0)
        return false;
    if (ftruncate(physical->file, (off_t)physical->size) == 0)
        return true;
    close(physical->file);
    return false;
}

bool simt_physical_open(struct simt_machine *machine, struct simt_physical *physical, size_t size,
                        enum simt_memory_kind kind, bool own_file)
{
    struct simt_memory *memory = &machine->memory;
    *physical = (struct simt_physical){
        .size = size, .own_file = own_file, .counts = kind != SIMT_MEMORY_PINNED};
    if (own_file && !open_own(physical, kind, machine->index))
        return false;
    pthread_mutex_lock(&memory->lock);
    uint64_t most = physical->counts ? memory->limit - memory->used : memory->limit;
    bool fits = memory->used <= memory->limit && size <= most;
    if (fits && !own_file) {
        physical->file = memory->file;
        physical->offset = memory->file_end;
        fits = ftruncate(memory->file, (off_t)(memory->file_end + size)) == 0;
        memory->file_end += fits ? size : 0;
    }
    if (fits && physical->counts)
        memory->used += size;
    pthread_mutex_unlock(&memory->lock);
    if (!fits && own_file)
        close(physical->file);
    return fits;
}

static bool file_name(int file, char *name, size_t size)
{
    char link[64];
    memset(name, 0, size);
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    return readlink(link, name, size - 1) >= 0;
}

/* name is /memfd:KIND, a number, and what the system writes behind it. */
static bool is_memory_of(const char *name, const char *kind, unsigned *number)
{
    size_t before = strlen("/memfd:"), length = strlen(kind);
    if (strncmp(name, "/memfd:", before) != 0 || strncmp(name + before, kind, length) != 0)
        return false;
    const char *digits = name + before + length;
    char *end;
    *number = (unsigned)strtoul(digits, &end, 10);
    return end != digits;
}

bool simt_physical_import(struct simt_physical *physical, int file, unsigned *device, bool *host)
{
    char name[128];
    struct stat facts;
    if (!file_name(file, name, sizeof name) || fstat(file, &facts) != 0)
        return false;
    *host = is_memory_of(name, HOST_NAME, device);
    if (!*host && !is_memory_of(name, DEVICE_NAME, device))
        return false;
    *physical = (struct simt_physical){.size = (size_t)facts.st_size,
                                       .file = fcntl(file, F_DUPFD_CLOEXEC, 0),
                                       .own_file = true,
                                       .was_seen = true};
    return physical->file >= 0;
}

void simt_physical_close(struct simt_machine *machine, struct simt_physical *physical)
{
    struct simt_memory *memory = &machine->memory;
    pthread_mutex_lock(&memory->lock);
    if (physical->counts)
        memory->used -= physical->size;
    pthread_mutex_unlock(&memory->lock);
    if (physical->own_file)
        close(physical->file);
    else
        fallocate(physical->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)physical->offset, (off_t)physical->size);
}

/* Allocations of other processes ------------------------------------------------------------------
 */

int simt_export_file(struct simt_machine *machine)
{
    struct simt_memory *memory = &machine->memory;
    pthread_mutex_lock(&memory->lock);
    if (!memory->shared) {
        int file = memfd_create(EXPORT_NAME, MFD_CLOEXEC);
        if (file >= 0 && ftruncate(file, (off_t)SIMT_ARENA_HALF) == 0)
            memory->shared = file;
        else if (file >= 0)
            close(file);
    }
    pthread_mutex_unlock(&memory->lock);
    return memory->shared ? memory->shared : -1;
}

bool simt_is_export_file(int file)
{
    char name[128];
    return file_name(file, name, sizeof name) &&
           strncmp(name, "/memfd:" EXPORT_NAME, sizeof "/memfd:" EXPORT_NAME - 1) == 0;
}

static bool is_zero(const char *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Pages that are in the file already are written to themselves. Nothing else may run. */
bool simt_export(struct simt_machine *machine, uint64_t address, size_t size, uint64_t *offset)
{
    enum { PAGE = 4096, PIECE = 1 << 20 };
    struct simt_memory *memory = &machine->memory;
    uint64_t first = address & ~(uint64_t)(PAGE - 1);
    uint64_t end = (address + size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    struct simt_physical there = {.file = simt_export_file(machine),
                                  .offset = first - memory->base};
    if (there.file < 0)
        return false;
    for (uint64_t at = first; at < end; at += PIECE) {
        const char *bytes = (const char *)(uintptr_t)(at + SIMT_BACKING);
        size_t piece = end - at < PIECE ? end - at : PIECE;
        if (!is_zero(bytes, piece) &&
            pwrite(there.file, bytes, piece, (off_t)(at - memory->base)) != (ssize_t)piece)
            return false;
    }
    if (!map_file(first + SIMT_BACKING, end - first, &there, PROT_READ | PROT_WRITE))
        return false;
    simt_memory_exported(memory, address);
    *offset = address - memory->base;
    return true;
}

/* Mappings ---------------------------------------------------------------------------------------
 */

uint64_t simt_reserve(struct simt_machine *machine, size_t size, uint64_t align, uint64_t wanted)
{
    return simt_memory_reserve(&machine->memory, size, align, wanted);
}

void simt_unreserve(struct simt_machine *machine, uint64_t address)
{
    simt_memory_unreserve(&machine->memory, address);
}

bool simt_map(struct simt_machine *machine, uint64_t address, size_t size,
              const struct simt_physical *physical)
{
    uint64_t bytes = address + SIMT_BACKING;
    if (!map_file(bytes, size, physical, PROT_READ | PROT_WRITE))
        return false;
    if (machine->memory.poison && physical->counts && !physical->was_seen)
        memset((void *)(uintptr_t)bytes, machine->memory.poison, size);
    if (physical->own_file)
        machine->memory.is_shared = true;
    return true;
}

void simt_unmap(uint64_t address, size_t size)
{
    if (!map_nothing(address + SIMT_BACKING, size, PROT_READ | PROT_WRITE))
        fprintf(stderr, "lockstep: memory cannot be unmapped: %s\n", strerror(errno));
}

void simt_show(struct simt_machine *machine, uint64_t address, size_t size, bool was_seen,
               enum simt_memory_kind kind, enum simt_access access)
{
    struct simt_memory *memory = &machine->memory;
    bool watched = machine->watch && address - memory->base < SIMT_ARENA;
    if (simt_memory_hide(memory, address) && watched)
        simt_watch_freed(machine, address);
    if (access == SIMT_ACCESS_NONE)
        return;
    simt_memory_show(memory, (struct simt_allocation){.address = address,
                                                      .size = size,
                                                      .kind = kind,
                                                      .mapped = true,
                                                      .read_only = access == SIMT_ACCESS_READ});
    if (!watched)
        return;
    simt_watch_allocated(machine, address, size);
    if (was_seen)
        simt_event_written(machine, address, 0, size);
}

bool simt_show_host(uint64_t address, size_t size, const struct simt_physical *physical,
                    enum simt_access access)
{
    if (access == SIMT_ACCESS_NONE)
        return map_nothing(address, size, PROT_NONE);
    return map_file(address, size, physical,
                    access == SIMT_ACCESS_READ ? PROT_READ : PROT_READ | PROT_WRITE);
}
