/*
 * memory.c: device memory: address space, allocation, lookup.
 * See core.h for the layout. Addresses come from fresh space, or from freed blocks of
 * exactly the same size; a freed block is unmapped from kernels' view at once. virtual.c maps
 * memory into addresses that are reserved here. Invariant:
 *   M1  bytes that belong to no allocation are zero.
 */
#include "simt/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define GRANULE_BYTES (SIMT_ARENA >> SIMT_GRANULE_BITS)
#define LARGE ((uint64_t)2 << 20) /* from here on, blocks are aligned to it and given back */

static void *map_at(uint64_t address, uint64_t size, int protection, int flags, int file)
{
    void *place = mmap((void *)(uintptr_t)address, size, protection,
                       flags | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0);
    if (place == MAP_FAILED || (uintptr_t)place == address)
        return place;
    munmap(place, size);
    return MAP_FAILED;
}

/* The two halves at the device addresses, then the bytes behind them. If one fails, what was
 * already mapped is unmapped: the rest of that space may be in use. */
static bool map_views(struct simt_memory *memory)
{
    int anonymous = MAP_PRIVATE | MAP_ANONYMOUS, both = PROT_READ | PROT_WRITE;
    const struct {
        uint64_t offset;
        int protection, flags, file;
    } views[] = {{0, PROT_NONE, anonymous, -1},
                 {SIMT_ARENA_HALF, both, MAP_SHARED, memory->file},
                 {SIMT_BACKING, both, anonymous, -1},
                 {SIMT_BACKING + SIMT_ARENA_HALF, both, MAP_SHARED, memory->file}};
    for (int i = 0; i < 4; i++) {
        if (map_at(memory->base + views[i].offset, SIMT_ARENA_HALF, views[i].protection,
                   views[i].flags, views[i].file) != MAP_FAILED)
            continue;
        int error = errno;
        while (i-- > 0)
            munmap((void *)(uintptr_t)(memory->base + views[i].offset), SIMT_ARENA_HALF);
        errno = error;
        return false;
    }
    memory->is_mapped = true;
    return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t host_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

bool simt_memory_open(struct simt_memory *memory, unsigned index, uint64_t limit)
{
    memset(memory, 0, sizeof(*memory));
    pthread_mutex_init(&memory->lock, NULL);
    uint64_t base = SIMT_ARENA_BASE + index * SIMT_ARENA_STEP;
    int anonymous = MAP_PRIVATE | MAP_ANONYMOUS, both = PROT_READ | PROT_WRITE;
    memory->base = base;
    memory->total = limit;
    memory->limit = least(limit, host_bytes());
    memory->next[0] = base;
    memory->next[1] = base + SIMT_ARENA_HALF;
    memory->file_end = SIMT_ARENA_HALF;
    memory->file = memfd_create("lockstep", MFD_CLOEXEC);
    memory->granules = mmap(NULL, GRANULE_BYTES, both, anonymous | MAP_NORESERVE, -1, 0);
    if (memory->file < 0 || ftruncate(memory->file, (off_t)SIMT_ARENA_HALF) != 0 ||
        memory->granules == MAP_FAILED || !map_views(memory)) {
        fprintf(stderr,
                "lockstep: cannot reserve address space for device memory: %s\n"
                "  (is `ulimit -v` set, or vm.overcommit_memory 2?)\n",
                strerror(errno));
        simt_memory_close(memory);
        return false;
    }
    return true;
}

void simt_memory_close(struct simt_memory *memory)
{
    if (memory->is_mapped) {
        munmap((void *)(uintptr_t)memory->base, SIMT_ARENA);
        munmap((void *)(uintptr_t)(memory->base + SIMT_BACKING), SIMT_ARENA);
    }
    if (memory->granules && (void *)memory->granules != MAP_FAILED)
        munmap(memory->granules, GRANULE_BYTES);
    if (memory->file >= 0)
        close(memory->file);
    if (memory->shared)
        close(memory->shared);
    free(memory->live.items);
    free(memory->reserved.items);
    free(memory->dead[0].items);
    free(memory->dead[1].items);
    pthread_mutex_destroy(&memory->lock);
}

/* First entry of a sorted list that begins after address. */
static size_t list_after(const struct simt_allocation_list *list, uint64_t address)
{
    return lk_sorted_after(list->items, list->count, sizeof(*list->items), address);
}

static void list_insert(struct simt_allocation_list *list, size_t at, struct simt_allocation item)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 64;
        list->items = lk_realloc(list->items, list->capacity * sizeof(*list->items));
    }
    memmove(&list->items[at + 1], &list->items[at], (list->count - at) * sizeof(*list->items));
    list->items[at] = item;
    list->count++;
}

static void list_remove(struct simt_allocation_list *list, size_t at)
{
    list->count--;
    memmove(&list->items[at], &list->items[at + 1], (list->count - at) * sizeof(*list->items));
}

static uint64_t rounded(uint64_t size)
{
    uint64_t unit = size >= LARGE ? LARGE : SIMT_GRANULE;
    return (size + unit - 1) & ~(unit - 1);
}

/* End of a block of the list that overlaps [from, to); 0 if there is none. */
static uint64_t overlap_end(const struct simt_allocation_list *list, uint64_t from, uint64_t to)
{
    size_t at = list_after(list, from);
    const struct simt_allocation *items = list->items;
    if (at > 0 && items[at - 1].address + rounded(items[at - 1].size) > from)
        return items[at - 1].address + rounded(items[at - 1].size);
    return at < list->count && items[at].address < to ? items[at].address + rounded(items[at].size)
                                                      : 0;
}

/* The same for whatever takes up addresses. */
static uint64_t taken_until(const struct simt_memory *memory, uint64_t from, uint64_t to)
{
    uint64_t end = overlap_end(&memory->live, from, to);
    return end ? end : overlap_end(&memory->reserved, from, to);
}

/* A gap between blocks: only when fresh addresses have run out. */
static uint64_t find_gap(struct simt_memory *memory, uint64_t from, uint64_t to, uint64_t size,
                         uint64_t align)
{
    for (uint64_t place = from, end; place < to && to - place >= size;) {
        end = taken_until(memory, place, place + size);
        if (!end)
            return place;
        place = (end + align - 1) & ~(align - 1);
    }
    return 0;
}

/* Under a checker, freed addresses are not reused as long as there are others, so that a use of
 * freed memory is detected, and blocks lie further apart. */
static uint64_t guard_zone(void)
{
    const char *check = getenv("LOCKSTEP_CHECK");
    return check && *check ? (uint64_t)64 << 10 : SIMT_GRANULE;
}

static uint64_t take_address(struct simt_memory *memory, uint64_t size, uint64_t align,
                             unsigned half)
{
    struct simt_allocation_list *dead = &memory->dead[half];
    uint64_t guard = guard_zone();
    for (size_t i = dead->count; guard == SIMT_GRANULE && i-- > 0 && dead->count - i <= 64;)
        if (dead->items[i].size == size && !(dead->items[i].address & (align - 1))) {
            uint64_t address = dead->items[i].address;
            list_remove(dead, i);
            return address;
        }
    uint64_t end = memory->base + SIMT_ARENA_HALF * (half + 1);
    uint64_t place = (memory->next[half] + align - 1) & ~(align - 1);
    if (place < end && end - place >= size) {
        /* A guard zone is left free between blocks, so that running off the end is seen. */
        memory->next[half] = place + size + guard;
        return place;
    }
    dead->count = 0; /* gaps between live blocks include these */
    return find_gap(memory, memory->base + SIMT_ARENA_HALF * half, end, size, align);
}

/* The very addresses that the program wants, if they are device memory's and nothing is there. */
static bool take_wanted(struct simt_memory *memory, uint64_t wanted, uint64_t size)
{
    struct simt_allocation_list *dead = &memory->dead[0];
    uint64_t offset = wanted - memory->base;
    if (offset >= SIMT_ARENA_HALF || SIMT_ARENA_HALF - offset < size ||
        taken_until(memory, wanted, wanted + size))
        return false;
    for (size_t i = dead->count; i-- > 0;)
        if (dead->items[i].address < wanted + size &&
            dead->items[i].address + dead->items[i].size > wanted)
            list_remove(dead, i);
    if (memory->next[0] < wanted + size)
        memory->next[0] = wanted + size + guard_zone();
    return true;
}

uint64_t simt_memory_reserve(struct simt_memory *memory, size_t size, uint64_t align,
                             uint64_t wanted)
{
    uint64_t space = (size + LARGE - 1) & ~(LARGE - 1), address = 0;
    align = align > LARGE ? align : LARGE;
    if (!size || size > SIMT_ARENA_HALF || align > SIMT_ARENA_HALF)
        return 0;
    pthread_mutex_lock(&memory->lock);
    if (wanted && !(wanted & (align - 1)) && take_wanted(memory, wanted, space))
        address = wanted;
    else
        address = take_address(memory, space, align, 0);
    if (address) {
        struct simt_allocation item = {.address = address, .size = space};
        list_insert(&memory->reserved, list_after(&memory->reserved, address), item);
    }
    pthread_mutex_unlock(&memory->lock);
    return address;
}

void simt_memory_unreserve(struct simt_memory *memory, uint64_t address)
{
    pthread_mutex_lock(&memory->lock);
    size_t at = list_after(&memory->reserved, address);
    if (at > 0 && memory->reserved.items[at - 1].address == address) {
        list_insert(&memory->dead[0], memory->dead[0].count, memory->reserved.items[at - 1]);
        list_remove(&memory->reserved, at - 1);
    }
    pthread_mutex_unlock(&memory->lock);
}

uint64_t simt_memory_alloc(struct simt_memory *memory, size_t size, enum simt_memory_kind kind,
                           enum simt_owner owner)
{
    if (size == 0 || size > SIMT_ARENA_HALF)
        return 0;
    uint64_t space = rounded(size), address = 0;
    pthread_mutex_lock(&memory->lock);
    bool counts = kind != SIMT_MEMORY_PINNED;
    if (!counts || memory->used + space <= memory->limit)
        address = take_address(memory, space, size >= LARGE ? LARGE : SIMT_GRANULE,
                               kind == SIMT_MEMORY_DEVICE ? 0 : 1);
    if (address) {
        uint32_t number = owner == SIMT_OWNER_USER ? ++memory->last_number : 0;
        struct simt_allocation item = {address, size, kind, .owner = owner, .number = number};
        list_insert(&memory->live, list_after(&memory->live, address), item);
        uint64_t first = (address - memory->base) >> SIMT_GRANULE_BITS;
        memset(memory->granules + first, 1, (size + SIMT_GRANULE - 1) >> SIMT_GRANULE_BITS);
        if (counts)
            memory->used += space;
    }
    pthread_mutex_unlock(&memory->lock);
    bool poisoned = memory->poison && owner != SIMT_OWNER_MACHINE && kind != SIMT_MEMORY_PINNED;
    if (address && poisoned)
        memset((void *)(uintptr_t)(address + SIMT_BACKING), memory->poison, size);
    return address;
}

/* Whole pages of the map go back to the host. */
static void clear_granules(uint8_t *from, uint64_t size)
{
    uint8_t *end = from + size;
    uint8_t *page = (uint8_t *)(((uintptr_t)from + 4095) & ~(uintptr_t)4095);
    uint8_t *last = (uint8_t *)((uintptr_t)end & ~(uintptr_t)4095);
    if (page >= last) {
        memset(from, 0, size);
        return;
    }
    memset(from, 0, (size_t)(page - from));
    madvise(page, (size_t)(last - page), MADV_DONTNEED);
    memset(last, 0, (size_t)(end - last));
}

static void forget_bytes(struct simt_memory *memory, const struct simt_allocation *block)
{
    uint64_t space = rounded(block->size), first = (block->address - memory->base);
    clear_granules(memory->granules + (first >> SIMT_GRANULE_BITS), space >> SIMT_GRANULE_BITS);
    /* MADV_REMOVE frees the bytes of both views of host-visible memory. Small blocks keep their
     * pages for the next user, unless there is none. */
    uint64_t from = block->address, to = from + space;
    if (space < LARGE && guard_zone() > SIMT_GRANULE) {
        from &= ~UINT64_C(4095);
        to = (to + 4095) & ~UINT64_C(4095);
    }
    if (space >= LARGE || guard_zone() > SIMT_GRANULE)
        madvise((void *)(uintptr_t)(from + SIMT_BACKING), to - from,
                block->kind == SIMT_MEMORY_DEVICE && !block->exported ? MADV_DONTNEED
                                                                      : MADV_REMOVE);
    else /* M1 */
        memset((void *)(uintptr_t)(from + SIMT_BACKING), 0, to - from);
}

bool simt_memory_free(struct simt_memory *memory, uint64_t address, enum simt_owner owner)
{
    pthread_mutex_lock(&memory->lock);
    size_t at = list_after(&memory->live, address);
    bool found = at > 0 && memory->live.items[at - 1].address == address &&
                 !memory->live.items[at - 1].registered && !memory->live.items[at - 1].mapped &&
                 memory->live.items[at - 1].owner == owner;
    if (found) {
        struct simt_allocation block = memory->live.items[at - 1];
        list_remove(&memory->live, at - 1);
        forget_bytes(memory, &block);
        if (block.kind != SIMT_MEMORY_PINNED)
            memory->used -= rounded(block.size);
        block.size = rounded(block.size);
        struct simt_allocation_list *dead = &memory->dead[block.kind == SIMT_MEMORY_DEVICE ? 0 : 1];
        list_insert(dead, dead->count, block);
    }
    pthread_mutex_unlock(&memory->lock);
    return found;
}

bool simt_memory_find(struct simt_memory *memory, uint64_t address, struct simt_allocation *found)
{
    pthread_mutex_lock(&memory->lock);
    size_t at = list_after(&memory->live, address);
    bool inside =
        at > 0 && address - memory->live.items[at - 1].address < memory->live.items[at - 1].size;
    if (inside)
        *found = memory->live.items[at - 1];
    pthread_mutex_unlock(&memory->lock);
    return inside;
}

/* Mapped memory: it is in the list for the machines that may use it. What this machine may write to
 * and has in its own arena is in the map of granules too; the rest is found by the list alone. */
void simt_memory_show(struct simt_memory *memory, struct simt_allocation item)
{
    uint64_t offset = item.address - memory->base;
    bool own = offset < SIMT_ARENA;
    pthread_mutex_lock(&memory->lock);
    item.number = own ? ++memory->last_number : 0;
    list_insert(&memory->live, list_after(&memory->live, item.address), item);
    if (own && !item.read_only)
        memset(memory->granules + (offset >> SIMT_GRANULE_BITS), 1,
               (item.size + SIMT_GRANULE - 1) >> SIMT_GRANULE_BITS);
    else
        memory->has_registered = true;
    pthread_mutex_unlock(&memory->lock);
}

void simt_memory_exported(struct simt_memory *memory, uint64_t address)
{
    pthread_mutex_lock(&memory->lock);
    size_t at = list_after(&memory->live, address);
    if (at > 0)
        memory->live.items[at - 1].exported = true;
    memory->is_shared = true;
    pthread_mutex_unlock(&memory->lock);
}

bool simt_memory_hide(struct simt_memory *memory, uint64_t address)
{
    pthread_mutex_lock(&memory->lock);
    size_t at = list_after(&memory->live, address);
    bool found = at > 0 && memory->live.items[at - 1].address == address &&
                 memory->live.items[at - 1].mapped;
    if (found) {
        uint64_t offset = address - memory->base, size = memory->live.items[at - 1].size;
        if (offset < SIMT_ARENA)
            clear_granules(memory->granules + (offset >> SIMT_GRANULE_BITS),
                           (size + SIMT_GRANULE - 1) >> SIMT_GRANULE_BITS);
        list_remove(&memory->live, at - 1);
    }
    pthread_mutex_unlock(&memory->lock);
    return found;
}

uint64_t simt_memory_reach(struct simt_memory *memory, uint64_t address, bool is_write,
                           struct simt_allocation *found)
{
    uint64_t end = address;
    pthread_mutex_lock(&memory->lock);
    const struct simt_allocation *items = memory->live.items;
    size_t at = list_after(&memory->live, address);
    if (at > 0 && address - items[at - 1].address < items[at - 1].size &&
        !(is_write && items[at - 1].read_only)) {
        *found = items[at - 1];
        end = found->address + found->size;
        for (; found->mapped && at < memory->live.count && items[at].address == end &&
               items[at].mapped && !(is_write && items[at].read_only);
             at++)
            end += items[at].size;
    }
    pthread_mutex_unlock(&memory->lock);
    return end - address;
}

uint8_t *simt_memory_listed(struct simt_memory *memory, uint64_t address, uint64_t size,
                            bool is_write)
{
    struct simt_allocation found;
    if (!memory->has_registered || simt_memory_reach(memory, address, is_write, &found) < size ||
        !(found.registered || found.mapped))
        return NULL;
    return (uint8_t *)(uintptr_t)(found.registered ? address : address + SIMT_BACKING);
}

/* The driver's view -----------------------------------------------------------------------------
 */

uint64_t simt_alloc(struct simt_machine *machine, size_t size, enum simt_memory_kind kind)
{
    uint64_t address = simt_memory_alloc(&machine->memory, size, kind, SIMT_OWNER_USER);
    if (address && machine->watch)
        simt_watch_allocated(machine, address, size);
    return address;
}

bool simt_free(struct simt_machine *machine, uint64_t address)
{
    bool done = simt_memory_free(&machine->memory, address, SIMT_OWNER_USER);
    if (done && machine->watch)
        simt_watch_freed(machine, address);
    return done;
}

bool simt_find(struct simt_machine *machine, uint64_t address, struct simt_allocation *found)
{
    return simt_memory_find(&machine->memory, address, found);
}

bool simt_register(struct simt_machine *machine, void *host, size_t size)
{
    struct simt_memory *memory = &machine->memory;
    uint64_t address = (uint64_t)(uintptr_t)host;
    pthread_mutex_lock(&memory->lock);
    size_t at = list_after(&memory->live, address);
    const struct simt_allocation *items = memory->live.items;
    bool overlaps = (at > 0 && items[at - 1].address + items[at - 1].size > address) ||
                    (at < memory->live.count && items[at].address < address + size);
    if (!overlaps && size) {
        struct simt_allocation item = {address, size, SIMT_MEMORY_PINNED, .registered = true};
        list_insert(&memory->live, at, item);
        memory->has_registered = true;
    }
    pthread_mutex_unlock(&memory->lock);
    return !overlaps && size;
}

bool simt_unregister(struct simt_machine *machine, void *host)
{
    struct simt_memory *memory = &machine->memory;
    uint64_t address = (uint64_t)(uintptr_t)host;
    pthread_mutex_lock(&memory->lock);
    size_t at = list_after(&memory->live, address);
    bool found = at > 0 && memory->live.items[at - 1].address == address &&
                 memory->live.items[at - 1].registered;
    if (found)
        list_remove(&memory->live, at - 1);
    pthread_mutex_unlock(&memory->lock);
    return found;
}

void *simt_host(struct simt_machine *machine, uint64_t address, size_t size)
{
    struct simt_allocation found;
    uint64_t there = simt_memory_reach(&machine->memory, address, false, &found);
    if (!there || there < size)
        return NULL;
    return (void *)(uintptr_t)(found.registered ? address : address + SIMT_BACKING);
}

/* Kernels use the host's memory: more than it has is not promised, and not allocated. A large block
 * takes whole units, so an odd remainder is of no use to one: whatever is said to be free can be
 * allocated at once. */
void simt_memory_info(struct simt_machine *machine, size_t *free_bytes, size_t *total_bytes)
{
    struct simt_memory *memory = &machine->memory;
    pthread_mutex_lock(&memory->lock);
    uint64_t left = memory->used < memory->limit ? memory->limit - memory->used : 0;
    *total_bytes = memory->total;
    *free_bytes = left & ~((left >= LARGE ? LARGE : SIMT_GRANULE) - 1);
    pthread_mutex_unlock(&memory->lock);
}

bool simt_memory_host_limits(struct simt_machine *machine, size_t size)
{
    struct simt_memory *memory = &machine->memory;
    pthread_mutex_lock(&memory->lock);
    bool limits = size <= memory->total && memory->used + rounded(size) <= memory->total &&
                  memory->used + rounded(size) > memory->limit;
    pthread_mutex_unlock(&memory->lock);
    return limits;
}
