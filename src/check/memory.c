/*
 * memory.c: the checker's view of memory: the program's allocations, alive and freed, and
 * which bytes were ever written. The host allocates and copies from any thread, even while a kernel
 * runs: changes to the shadow go into a list, which the launch applies before its next access.
 */
#include "check/ops.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>

#define CHUNKS (SIMT_ARENA >> CHECK_CHUNK_BITS)
#define CELLS_BYTES ((size_t)(CHECK_CHUNK / 4) * sizeof(struct check_cell))

static void *map_zeros(size_t size)
{
    void *place = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) {
        fprintf(stderr, "lockstep: check: no host memory left for what it remembers\n");
        _Exit(2);
    }
    return place;
}

void check_memory_open(struct check *check)
{
    pthread_mutex_init(&check->host_lock, NULL);
    check->chunks = map_zeros(CHUNKS * sizeof(*check->chunks));
}

void check_memory_close(struct check *check)
{
    for (uint64_t i = 0; i < CHUNKS; i++) {
        if (i % 512 == 0) { /* untouched pages of the table cost nothing to read */
            unsigned char resident = 0;
            if (mincore(&check->chunks[i], 4096, &resident) == 0 && !(resident & 1)) {
                i += 511;
                continue;
            }
        }
        struct check_chunk *chunk = check->chunks[i];
        if (!chunk)
            continue;
        if (chunk->cells)
            munmap(chunk->cells, CELLS_BYTES);
        free(chunk);
    }
    munmap(check->chunks, CHUNKS * sizeof(*check->chunks));
    free(check->allocations);
    free(check->freed);
    free(check->events);
    pthread_mutex_destroy(&check->host_lock);
}

struct check_chunk *check_chunk_at(struct check *check, uint64_t offset)
{
    struct check_chunk **slot = &check->chunks[offset >> CHECK_CHUNK_BITS];
    if (!*slot)
        *slot = lk_alloc_zeroed(sizeof(**slot));
    if (!(*slot)->cells)
        (*slot)->cells = map_zeros(CELLS_BYTES);
    return *slot;
}

/* Written bytes ----------------------------------------------------------------------------------
 */

static struct check_chunk *chunk_for_bits(struct check *check, uint64_t offset)
{
    struct check_chunk **slot = &check->chunks[offset >> CHECK_CHUNK_BITS];
    if (!*slot)
        *slot = lk_alloc_zeroed(sizeof(**slot));
    return *slot;
}

static void set_bits(uint8_t *bits, uint32_t first, uint32_t count)
{
    while (count && (first & 7 || count < 8)) {
        bits[first >> 3] |= (uint8_t)(1u << (first & 7));
        first++;
        count--;
    }
    memset(bits + (first >> 3), 0xff, count / 8);
    first += count & ~7u;
    for (count &= 7; count; count--, first++)
        bits[first >> 3] |= (uint8_t)(1u << (first & 7));
}

static void mark_written(struct check *check, uint64_t address, uint64_t size)
{
    uint64_t offset = address - check->machine->memory.base;
    if (offset >= SIMT_ARENA_HALF)
        return;
    while (size) {
        uint32_t first = (uint32_t)(offset & (CHECK_CHUNK - 1));
        uint64_t count = CHECK_CHUNK - first < size ? CHECK_CHUNK - first : size;
        set_bits(chunk_for_bits(check, offset)->written, first, (uint32_t)count);
        offset += count;
        size -= count;
    }
}

/* Bytes that were not written where they come from are not written where they arrive. */
static void copy_written(struct check *check, uint64_t to, uint64_t from, uint64_t size)
{
    uint64_t base = check->machine->memory.base, source = from - base, target = to - base;
    if (source >= SIMT_ARENA_HALF || target >= SIMT_ARENA_HALF) {
        mark_written(check, to, size);
        return;
    }
    for (uint64_t i = 0; i < size; i++) {
        const struct check_chunk *chunk = check->chunks[(source + i) >> CHECK_CHUNK_BITS];
        uint32_t bit = (uint32_t)((source + i) & (CHECK_CHUNK - 1));
        if (chunk && chunk->written[bit >> 3] >> (bit & 7) & 1)
            mark_written(check, to + i, 1);
    }
}

/* Frees the shadow of freed bytes. */
static void forget(struct check *check, uint64_t address, uint64_t size)
{
    uint64_t first = address - check->machine->memory.base, end = first + size;
    for (uint64_t at = first & ~(uint64_t)(CHECK_CHUNK - 1); at < end; at += CHECK_CHUNK) {
        struct check_chunk *chunk = check->chunks[at >> CHECK_CHUNK_BITS];
        if (!chunk || !chunk->cells)
            continue;
        uint64_t from = first > at ? first - at : 0;
        uint64_t to = end - at < CHECK_CHUNK ? end - at : CHECK_CHUNK;
        from = from / 4 * sizeof(struct check_cell) & ~UINT64_C(4095);
        to = ((to + 3) / 4 * sizeof(struct check_cell) + 4095) & ~UINT64_C(4095);
        madvise((uint8_t *)chunk->cells + from, to - from, MADV_DONTNEED);
    }
}

void check_memory_fresh(struct check *check, uint64_t address, uint64_t size)
{
    uint64_t offset = address - check->machine->memory.base;
    forget(check, address, size);
    for (uint64_t i = offset; i < offset + size; i++) {
        struct check_chunk *chunk = check->chunks[i >> CHECK_CHUNK_BITS];
        uint32_t bit = (uint32_t)(i & (CHECK_CHUNK - 1));
        if (chunk)
            chunk->written[bit >> 3] &= (uint8_t) ~(1u << (bit & 7));
    }
}

/* Events -----------------------------------------------------------------------------------------
 */

static void apply(struct check *check, const struct check_event *event)
{
    if (event->kind == CHECK_EVENT_WRITE)
        mark_written(check, event->to, event->size);
    else if (event->kind == CHECK_EVENT_COPY)
        copy_written(check, event->to, event->from, event->size);
    else
        forget(check, event->to, event->size);
}

static void add_event(struct check *check, struct check_event event)
{
    if (!check->is_running) {
        apply(check, &event);
        return;
    }
    if (check->event_count == check->event_capacity) {
        check->event_capacity = check->event_capacity * 2 + 64;
        check->events = lk_realloc(check->events, check->event_capacity * sizeof(*check->events));
    }
    check->events[check->event_count++] = event;
    check->has_events = true;
}

void check_memory_drain(struct check *check)
{
    pthread_mutex_lock(&check->host_lock);
    for (size_t i = 0; i < check->event_count; i++) {
        apply(check, &check->events[i]);
        if (check->events[i].kind == CHECK_EVENT_FREE && check->caches)
            memset(check->caches, 0, check->launch->code->inst_count * sizeof(*check->caches));
    }
    check->event_count = 0;
    check->has_events = false;
    pthread_mutex_unlock(&check->host_lock);
}

/* Allocations -------------------------------------------------------------------------------------
 */

/* First of a sorted list that begins after address. */
static size_t after(const struct check_allocation *list, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(struct check_allocation **list, size_t *count, size_t *capacity,
                   struct check_allocation item)
{
    if (*count == *capacity) {
        *capacity = *capacity * 2 + 64;
        *list = lk_realloc(*list, *capacity * sizeof(**list));
    }
    size_t at = after(*list, *count, item.address);
    memmove(*list + at + 1, *list + at, (*count - at) * sizeof(**list));
    (*list)[at] = item;
    ++*count;
}

struct check_callers check_callers(void)
{
    struct check_callers found = {{0}};
    enum { MOST = sizeof(found.at) / sizeof(found.at[0]) - 1 };
    void *frames[40];
    int count = backtrace(frames, 40), kept = 0;
    for (int i = 1; i < count && kept < MOST; i++) {
        Dl_info info;
        struct link_map *map;
        if (dladdr1(frames[i], &info, (void **)&map, RTLD_DL_LINKMAP) && !map->l_name[0])
            found.at[kept++] = (uintptr_t)frames[i] - map->l_addr - 1;
    }
    return found;
}

void check_memory_alloc(struct simt_watcher *watcher, uint64_t address, size_t size)
{
    struct check *check = (struct check *)watcher;
    struct check_allocation item = {address, size, 0, check_callers()};
    pthread_mutex_lock(&check->host_lock);
    item.number = ++check->last_number;
    size_t at = after(check->freed, check->freed_count, address + size - 1);
    for (; at-- > 0 && check->freed[at].address + check->freed[at].size > address;) {
        check->freed_count--; /* addresses have run out and are used again */
        memmove(check->freed + at, check->freed + at + 1,
                (check->freed_count - at) * sizeof(*check->freed));
    }
    insert(&check->allocations, &check->allocation_count, &check->allocation_capacity, item);
    pthread_mutex_unlock(&check->host_lock);
}

void check_memory_free(struct simt_watcher *watcher, uint64_t address)
{
    struct check *check = (struct check *)watcher;
    struct check_callers freer = check_askers();
    pthread_mutex_lock(&check->host_lock);
    size_t at = after(check->allocations, check->allocation_count, address);
    if (at > 0 && check->allocations[at - 1].address == address) {
        struct check_allocation item = check->allocations[at - 1];
        check->allocation_count--;
        memmove(check->allocations + at - 1, check->allocations + at,
                (check->allocation_count - (at - 1)) * sizeof(item));
        item.callers = freer;
        insert(&check->freed, &check->freed_count, &check->freed_capacity, item);
        add_event(check, (struct check_event){CHECK_EVENT_FREE, address, 0, item.size});
    }
    pthread_mutex_unlock(&check->host_lock);
}

void check_memory_written(struct simt_watcher *watcher, uint64_t to, uint64_t from, size_t size)
{
    struct check *check = (struct check *)watcher;
    pthread_mutex_lock(&check->host_lock);
    add_event(check,
              (struct check_event){from ? CHECK_EVENT_COPY : CHECK_EVENT_WRITE, to, from, size});
    pthread_mutex_unlock(&check->host_lock);
}

bool check_find_allocation(struct check *check, uint64_t address, struct check_allocation *found)
{
    pthread_mutex_lock(&check->host_lock);
    size_t at = after(check->allocations, check->allocation_count, address);
    bool inside =
        at > 0 && address - check->allocations[at - 1].address < check->allocations[at - 1].size;
    if (inside)
        *found = check->allocations[at - 1];
    pthread_mutex_unlock(&check->host_lock);
    return inside;
}

bool check_find_freed(struct check *check, uint64_t address, struct check_allocation *found)
{
    pthread_mutex_lock(&check->host_lock);
    size_t at = after(check->freed, check->freed_count, address);
    bool inside = at > 0 && address - check->freed[at - 1].address < check->freed[at - 1].size;
    if (inside)
        *found = check->freed[at - 1];
    pthread_mutex_unlock(&check->host_lock);
    return inside;
}

void check_memory_bad_free(struct simt_watcher *watcher, uint64_t address)
{
    struct check *check = (struct check *)watcher;
    struct check_subject subject = {.space = PTX_SPACE_GLOBAL, .address = address};
    struct check_allocation *found = &subject.allocation;
    struct check_callers freer = check_askers();
    unsigned long long at = address;
    if (check_find_freed(check, address, found) && found->address == address) {
        check_report_host(check, CHECK_INVALID_FREE, &subject, &freer, &found->callers,
                          "double free: 0x%llx, " CHECK_ALLOCATION ", was freed before", at);
    } else if (!check_find_allocation(check, address, found)) {
        found->number = 0;
        check_report_host(check, CHECK_INVALID_FREE, &subject, &freer, NULL,
                          "invalid free: 0x%llx was not allocated", at);
    } else if (found->address == address) {
        check_report_host(check, CHECK_INVALID_FREE, &subject, &freer, &found->callers,
                          "invalid free: 0x%llx is " CHECK_ALLOCATION
                          ", which another function frees (cudaFree or cudaFreeHost)",
                          at);
    } else {
        check_report_host(check, CHECK_INVALID_FREE, &subject, &freer, &found->callers,
                          "invalid free: 0x%llx is %llu bytes into " CHECK_ALLOCATION
                          "; only its beginning can be freed",
                          at, at - found->address);
    }
}

void check_memory_bad_range(struct simt_watcher *watcher, uint64_t address, size_t size)
{
    struct check *check = (struct check *)watcher;
    struct check_subject subject = {.space = PTX_SPACE_GLOBAL, .address = address};
    struct check_allocation *found = &subject.allocation;
    struct simt_allocation variable;
    struct check_callers who = check_askers();
    if (check_find_freed(check, address, found))
        check_report_host(
            check, CHECK_USE_AFTER_FREE, &subject, &who, &found->callers,
            "use after free: a copy or memset of %zu bytes at 0x%llx, in " CHECK_ALLOCATION
            ", which was freed",
            size, (unsigned long long)address);
    else if (check_find_allocation(check, address, found))
        check_report_host(
            check, CHECK_OUT_OF_BOUNDS, &subject, &who, &found->callers,
            "out of bounds: a copy or memset of %zu bytes at byte %llu of " CHECK_ALLOCATION, size,
            (unsigned long long)(address - found->address));
    else if (simt_find(check->machine, address, &variable))
        check_report_host(
            check, CHECK_OUT_OF_BOUNDS, &subject, &who, NULL,
            "out of bounds: a copy or memset of %zu bytes at byte %llu of variables of %llu bytes",
            size, (unsigned long long)(address - variable.address),
            (unsigned long long)variable.size);
}

/* The allocations on both sides of an address; returns how many there are. */
size_t check_allocations_near(struct check *check, uint64_t address,
                              struct check_allocation near[2])
{
    size_t count = 0;
    pthread_mutex_lock(&check->host_lock);
    size_t at = after(check->allocations, check->allocation_count, address);
    for (size_t i = at > 0 ? at - 1 : 0; i < at + 1 && i < check->allocation_count; i++)
        near[count++] = check->allocations[i];
    pthread_mutex_unlock(&check->host_lock);
    return count;
}
