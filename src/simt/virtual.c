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
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name of a file of its own says what it is to a process that gets its descriptor. */
#define FILE_NAME "lockstep memory of "
#define DEVICE_NAME FILE_NAME "device %u"
#define HOST_NAME FILE_NAME "host %u"

static bool open_own(struct simt_physical *physical, enum simt_memory_kind kind, unsigned index)
{
    char name[64];
    snprintf(name, sizeof name, kind == SIMT_MEMORY_PINNED ? HOST_NAME : DEVICE_NAME, index);
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

bool simt_physical_import(struct simt_physical *physical, int file, unsigned *device, bool *host)
{
    char link[64], name[128] = "";
    struct stat facts;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (readlink(link, name, sizeof name - 1) < 0 || fstat(file, &facts) != 0)
        return false;
    *host = sscanf(name, "/memfd:" HOST_NAME, device) == 1;
    if (!*host && sscanf(name, "/memfd:" DEVICE_NAME, device) != 1)
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

uint64_t simt_reserve(struct simt_machine *machine, size_t size, uint64_t align, uint64_t wanted)
{
    return simt_memory_reserve(&machine->memory, size, align, wanted);
}

void simt_unreserve(struct simt_machine *machine, uint64_t address)
{
    simt_memory_unreserve(&machine->memory, address);
}

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

bool simt_map(struct simt_machine *machine, uint64_t address, size_t size,
              const struct simt_physical *physical)
{
    uint64_t bytes = address + SIMT_BACKING;
    if (!map_file(bytes, size, physical, PROT_READ | PROT_WRITE))
        return false;
    if (machine->memory.poison && physical->counts && !physical->was_seen)
        memset((void *)(uintptr_t)bytes, machine->memory.poison, size);
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
