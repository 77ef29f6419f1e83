/*
 * check_memory.c: the checker's view of memory: the program's allocations, alive and freed, which
 * bytes were ever written, and whether an access stays inside.
 * The host allocates and copies from any thread, also while a kernel runs: what changes the shadow
 * is put into a list, which the launch takes up before its next access.
 */
#include "simt/check.h"

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
        if (i % 512 == 0) { /* pages of the table that nobody touched cost nothing to read */
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

/* Written bytes ---------------------------------------------------------------------------------- */

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

/* The memory of what is remembered about freed bytes is given back. */
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

/* Events ----------------------------------------------------------------------------------------- */

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
        check->events =
            lk_realloc(check->events, check->event_capacity * sizeof(*check->events));
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

/* Allocations ------------------------------------------------------------------------------------- */

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

/* Return addresses in the program itself, not in its libraries. */
static struct check_callers callers(void)
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
    struct check_allocation item = {address, size, 0, callers()};
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
    struct check_callers freer = callers();
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
    bool inside = at > 0 && address - check->allocations[at - 1].address <
                                check->allocations[at - 1].size;
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
    struct check_allocation found;
    struct check_callers freer = callers();
    unsigned long long at = address;
    if (check_find_freed(check, address, &found) && found.address == address)
        check_report_host(check, CHECK_INVALID_FREE, address, &freer, &found.callers,
                          "double free: 0x%llx, allocation #%u of %llu bytes, was freed before", at,
                          found.number, (unsigned long long)found.size);
    else if (check_find_allocation(check, address, &found) && found.address == address)
        check_report_host(check, CHECK_INVALID_FREE, address, &freer, &found.callers,
                          "invalid free: 0x%llx is allocation #%u, which another function frees "
                          "(cudaFree or cudaFreeHost)",
                          at, found.number);
    else if (check_find_allocation(check, address, &found))
        check_report_host(check, CHECK_INVALID_FREE, address, &freer, &found.callers,
                          "invalid free: 0x%llx is %llu bytes into allocation #%u of %llu bytes; "
                          "only its beginning can be freed",
                          at, at - found.address, found.number, (unsigned long long)found.size);
    else
        check_report_host(check, CHECK_INVALID_FREE, address, &freer, NULL,
                          "invalid free: 0x%llx was not allocated", at);
}

/* Bounds ------------------------------------------------------------------------------------------ */

/* The nearest allocation of the program or variable of the module, for messages. */
struct neighbour {
    uint64_t address, size;
    struct lk_buf name;
};

static void consider(struct neighbour *best, uint64_t to, uint64_t address, uint64_t size,
                     uint64_t *distance)
{
    uint64_t away = to < address ? address - to : to - (address + size) + 1;
    if (to >= address && to < address + size)
        away = 0;
    if (away >= *distance)
        return;
    *distance = away;
    best->address = address;
    best->size = size;
    lk_buf_free(&best->name);
    best->name = (struct lk_buf){0};
}

static bool find_neighbour(struct check *check, uint64_t address, struct neighbour *best)
{
    uint64_t distance = UINT64_MAX;
    *best = (struct neighbour){0};
    const struct simt_module *module = check->launch->kernel->module;
    pthread_mutex_lock(&check->host_lock);
    size_t at = after(check->allocations, check->allocation_count, address);
    for (size_t i = at > 0 ? at - 1 : 0; i < at + 1 && i < check->allocation_count; i++) {
        const struct check_allocation *item = &check->allocations[i];
        uint64_t before = distance;
        consider(best, address, item->address, item->size, &distance);
        if (distance != before)
            lk_buf_printf(&best->name, "allocation #%u of %llu bytes", item->number,
                          (unsigned long long)item->size);
    }
    pthread_mutex_unlock(&check->host_lock);
    for (uint32_t i = 0; i < module->ptx->var_count; i++) {
        if (!module->var_addresses[i])
            continue;
        uint64_t before = distance;
        consider(best, address, module->var_addresses[i], module->ptx->vars[i]->size, &distance);
        if (distance != before) {
            check_name(module->ptx->vars[i]->name, &best->name);
            lk_buf_printf(&best->name, " (%llu bytes)",
                          (unsigned long long)module->ptx->vars[i]->size);
        }
    }
    return distance != UINT64_MAX;
}

void check_describe_address(struct check *check, enum ptx_space space, uint64_t address,
                            struct lk_buf *text)
{
    if (space == PTX_SPACE_SHARED) {
        const struct simt_code *code = check->launch->code;
        for (uint32_t i = 0; i < code->shared_var_count; i++) {
            const struct simt_shared_var *var = &code->shared_vars[i];
            if (address < var->offset || address - var->offset >= var->var->size)
                continue;
            lk_buf_printf(text, "byte %llu of ", (unsigned long long)(address - var->offset));
            check_name(var->var->name, text);
            return;
        }
        if (address >= code->static_shared)
            lk_buf_printf(text, "byte %llu of the dynamic shared memory",
                          (unsigned long long)(address - code->static_shared));
        return;
    }
    struct neighbour near;
    if (find_neighbour(check, address, &near) && address - near.address < near.size)
        lk_buf_printf(text, "byte %llu of %s", (unsigned long long)(address - near.address),
                      near.name.data);
    lk_buf_free(&near.name);
}

static const char *verb(const struct watch_access *access)
{
    return access->is_read && access->is_write ? "atomic" : access->is_write ? "write" : "read";
}

static void report_misaligned(struct check *check, const struct watch_access *access, int lane,
                              uint32_t align)
{
    struct check_side side = check_side_of(access->w, access->in, lane, verb(access));
    uint64_t address = access->addresses[lane];
    check_report(check, CHECK_MISALIGNED, access->space, address, &side, NULL,
                 "misaligned: %s of %u bytes at 0x%llx, which is no multiple of %u", verb(access),
                 access->bytes, (unsigned long long)address, align);
}

static uint32_t misaligned(struct check *check, const struct watch_access *access)
{
    uint32_t align = access->bytes, refused = 0;
    uint64_t bits = 0;
    if (access->what->kind == WATCH_TILE)
        return 0;
    if (access->what->kind == WATCH_BULK || align > 16)
        align = 16;
    if (align & (align - 1))
        return 0;
    for (int i = 0; i < SIMT_LANES; i++)
        bits |= access->mask >> i & 1 ? access->addresses[i] : 0;
    if (!(bits & (align - 1)))
        return 0;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (!(access->addresses[lane] & (align - 1)))
            continue;
        refused |= 1u << lane;
        report_misaligned(check, access, lane, align);
    }
    return refused;
}

static void report_global(struct check *check, const struct watch_access *access, int lane)
{
    uint64_t address = access->addresses[lane];
    struct check_side side = check_side_of(access->w, access->in, lane, verb(access));
    struct check_allocation freed;
    unsigned long long at = address;
    if (check_find_freed(check, address, &freed)) {
        check_report(check, CHECK_USE_AFTER_FREE, access->space, address, &side, NULL,
                     "use after free: %s of %u bytes at 0x%llx, %llu bytes into allocation #%u of "
                     "%llu bytes, which was freed",
                     verb(access), access->bytes, at, at - freed.address, freed.number,
                     (unsigned long long)freed.size);
        return;
    }
    struct neighbour near;
    struct lk_buf where = {0}, why = {0};
    bool known = find_neighbour(check, address, &near);
    if (address < 65536)
        lk_buf_printf(&where, "a null pointer plus %llu bytes", at);
    else if (known && address < near.address)
        lk_buf_printf(&where, "%llu bytes before the beginning of %s",
                      (unsigned long long)(near.address - address), near.name.data);
    else if (known && address + access->bytes > near.address + near.size &&
             address < near.address + near.size)
        lk_buf_printf(&where, "across the end of %s", near.name.data);
    else if (known && address - (near.address + near.size) < (uint64_t)1 << 40)
        lk_buf_printf(&where, "%llu bytes past the end of %s",
                      (unsigned long long)(address - (near.address + near.size)), near.name.data);
    else
        lk_buf_printf(&where, "no memory is allocated there");
    lk_buf_add(&why, "", 0);
    check_explain_index(check, access, lane, &why);
    check_report(check, CHECK_OUT_OF_BOUNDS, access->space, address, &side, NULL,
                 "out of bounds: %s of %u bytes at 0x%llx, %s%s", verb(access), access->bytes, at,
                 where.data, why.data);
    lk_buf_free(&why);
    lk_buf_free(&where);
    lk_buf_free(&near.name);
}

/* Are the lane's bytes inside an allocation? Leaves it in the instruction's cache. */
static bool is_inside(struct check *check, struct check_cache *cache, uint64_t address,
                      uint64_t bytes)
{
    if (address >= cache->low && address < cache->high && cache->high - address >= bytes)
        return true;
    struct simt_allocation found;
    if (!simt_memory_find(&check->machine->memory, address, &found) ||
        found.size - (address - found.address) < bytes)
        return false;
    cache->low = found.address;
    cache->high = found.address + found.size;
    cache->tracks = found.kind == SIMT_MEMORY_DEVICE && !found.internal && !found.registered;
    return true;
}

/* A whole warp inside of one allocation, aligned: what nearly every access is. */
static inline bool all_inside(const struct check_cache *cache, const struct watch_access *access)
{
    uint64_t low = cache->low, span = cache->high - low - access->bytes, bits = 0, out = 0;
    const uint64_t *a = access->addresses;
    if (access->mask != SIMT_ALL || cache->high - low < access->bytes ||
        access->bytes & (access->bytes - 1) || access->bytes > 16)
        return false;
    for (int i = 0; i < SIMT_LANES; i++) {
        uint64_t offset = a[i] - low;
        out |= offset | (span - offset);
        bits |= a[i];
    }
    return !(out >> 63) && !(bits & (access->bytes - 1));
}

uint32_t check_memory_bounds(struct check *check, const struct watch_access *access, bool *tracks)
{
    struct check_cache *cache = &check->caches[access->number];
    if (all_inside(cache, access)) {
        *tracks = cache->tracks;
        return 0;
    }
    uint32_t refused = misaligned(check, access);
    uint64_t low = UINT64_MAX, high = 0;
    for (int i = 0; i < SIMT_LANES; i++) {
        uint64_t address = access->addresses[i];
        bool on = access->mask >> i & 1;
        low = on && address < low ? address : low;
        high = on && address > high ? address : high;
    }
    *tracks = cache->tracks;
    if (low >= cache->low && high < cache->high && cache->high - high >= access->bytes)
        return refused;
    for (uint32_t rest = access->mask & ~refused; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (is_inside(check, cache, access->addresses[lane], access->bytes)) {
            *tracks = cache->tracks;
            continue;
        }
        refused |= 1u << lane;
        report_global(check, access, lane);
    }
    return refused;
}

uint32_t check_shared_bounds(struct check *check, const struct watch_access *access)
{
    struct check_cache whole = {.low = 0, .high = access->w->block->shared_bytes};
    if (all_inside(&whole, access))
        return 0;
    uint32_t refused = misaligned(check, access), size = access->w->block->shared_bytes;
    for (uint32_t rest = access->mask & ~refused; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t address = access->addresses[lane];
        if (address < size && size - address >= access->bytes)
            continue;
        refused |= 1u << lane;
        struct check_side side = check_side_of(access->w, access->in, lane, verb(access));
        check_report(check, CHECK_OUT_OF_BOUNDS, PTX_SPACE_SHARED, address, &side, NULL,
                     "out of bounds: %s of %u bytes at %lld in shared memory, of which the block "
                     "has %u bytes",
                     verb(access), access->bytes, (long long)(int32_t)address, size);
    }
    return refused;
}

/* The end of what a frame has in local memory; the layout pads it to 16 bytes. */
static uint32_t frame_end(struct check *check, const struct simt_frame *frame)
{
    const struct ptx_function *ptx = frame->function->ptx;
    if (!ptx->is_entry)
        return frame->local_top;
    if (check->frame_function == frame->function)
        return frame->local_base + check->frame_bytes;
    uint32_t top = 0;
    for (uint32_t i = 0; i < ptx->var_count; i++) {
        const struct ptx_var *var = ptx->vars[i];
        if (var->space == PTX_SPACE_SHARED)
            continue;
        uint32_t align = var->align ? var->align : 1;
        top = ((top + align - 1) & ~(align - 1)) + (uint32_t)var->size;
    }
    for (uint32_t i = 0; i < ptx->inst_count; i++) /* what it takes while it runs is not known */
        if (ptx->insts[i].op == PTX_OP_ALLOCA)
            top = check->launch->local_stride;
    check->frame_function = frame->function;
    check->frame_bytes = top;
    return frame->local_base + top;
}

uint32_t check_local_bounds(struct check *check, const struct watch_access *access)
{
    uint32_t refused = misaligned(check, access), end;
    end = frame_end(check, access->w->path->frame);
    for (uint32_t rest = access->mask & ~refused; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t address = access->addresses[lane];
        if (address < end && end - address >= access->bytes)
            continue;
        refused |= 1u << lane;
        struct check_side side = check_side_of(access->w, access->in, lane, verb(access));
        check_report(check, CHECK_OUT_OF_BOUNDS, PTX_SPACE_LOCAL, address, &side, NULL,
                     "out of bounds: %s of %u bytes at %lld in local memory, of which the thread "
                     "has %u bytes",
                     verb(access), access->bytes, (long long)(int32_t)address, end);
    }
    return refused;
}
