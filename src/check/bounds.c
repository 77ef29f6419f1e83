/*
 * bounds.c: checks that an access stays inside an allocation, a variable, or the shared or local
 * memory that exists, and words the error if it does not.
 */
#include "check/check.h"

/* The nearest allocation of the program or variable of the module, for messages. */
struct neighbour {
    uint64_t address, size;
    struct check_allocation allocation; /* number 0: a variable, or of the heap: */
    const struct check_heap_block *heap;
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
    best->allocation = (struct check_allocation){0};
    best->heap = NULL;
    lk_buf_free(&best->name);
    best->name = (struct lk_buf){0};
}

static bool find_neighbour(struct check *check, uint64_t address, struct neighbour *best)
{
    uint64_t distance = UINT64_MAX;
    *best = (struct neighbour){0};
    const struct simt_module *module = check->launch->kernel->module;
    struct check_allocation sides[2];
    size_t count = check_allocations_near(check, address, sides);
    for (size_t i = 0; i < count; i++) {
        const struct check_allocation *item = &sides[i];
        uint64_t before = distance;
        consider(best, address, item->address, item->size, &distance);
        if (distance != before) {
            best->allocation = *item;
            lk_buf_printf(&best->name, CHECK_ALLOCATION);
        }
    }
    const struct check_heap_block *blocks[2];
    count = check_heap_near(check, address, blocks);
    for (size_t i = 0; i < count; i++) {
        uint64_t before = distance;
        consider(best, address, blocks[i]->address, blocks[i]->size, &distance);
        if (distance == before)
            continue;
        best->heap = blocks[i];
        check_heap_name(check, blocks[i], &best->name);
    }
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

void check_describe_address(struct check *check, struct check_subject *subject, struct lk_buf *text)
{
    uint64_t address = subject->address;
    if (subject->space == PTX_SPACE_SHARED) {
        const struct simt_code *code = check->launch->code;
        for (uint32_t i = 0; i < code->shared_var_count; i++) {
            const struct simt_shared_var *var = &code->shared_vars[i];
            if (address < var->offset || address - var->offset >= var->var->size)
                continue;
            lk_buf_printf(text, "byte %llu of ", (unsigned long long)(address - var->offset));
            check_name(var->var->name, text);
            return;
        }
        const struct simt_launch_state *launch = check->launch;
        if (launch->shared_end > launch->reserved_at && address >= launch->reserved_at)
            lk_buf_printf(text, "byte %llu of the reserved shared memory",
                          (unsigned long long)(address - launch->reserved_at));
        else if (address >= code->static_shared)
            lk_buf_printf(text, "byte %llu of the dynamic shared memory",
                          (unsigned long long)(address - code->static_shared));
        return;
    }
    struct neighbour near;
    if (find_neighbour(check, address, &near) && address - near.address < near.size) {
        subject->allocation = near.allocation;
        lk_buf_printf(text, "byte %llu of %s", (unsigned long long)(address - near.address),
                      near.name.data);
    }
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
    struct check_subject subject = {.space = access->space, .address = address};
    check_report(check, CHECK_MISALIGNED, &subject, &side, NULL,
                 "misaligned: %s of %u bytes at 0x%llx, which is not a multiple of %u",
                 verb(access), access->bytes, (unsigned long long)address, align);
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

static void report_freed_heap(struct check *check, const struct watch_access *access,
                              const struct check_side *side, const struct check_heap_block *freed)
{
    struct check_subject subject = {.space = access->space,
                                    .address = access->addresses[side->thread % SIMT_LANES]};
    struct check_side other = check_heap_side(check, freed, "free");
    check_report(
        check, CHECK_USE_AFTER_FREE, &subject, side, other.in ? &other : NULL,
        "use after free: %s of %u bytes at 0x%llx, %llu bytes into a block of %llu bytes of "
        "the device heap, which was freed",
        verb(access), access->bytes, (unsigned long long)subject.address,
        (unsigned long long)(subject.address - freed->address), (unsigned long long)freed->size);
}

static void report_global(struct check *check, const struct watch_access *access, int lane)
{
    uint64_t address = access->addresses[lane];
    struct check_side side = check_side_of(access->w, access->in, lane, verb(access));
    struct check_subject subject = {.space = access->space, .address = address};
    unsigned long long at = address;
    if (check_find_freed(check, address, &subject.allocation)) {
        check_report(check, CHECK_USE_AFTER_FREE, &subject, &side, NULL,
                     "use after free: %s of %u bytes at 0x%llx, %llu bytes into " CHECK_ALLOCATION
                     ", which was freed",
                     verb(access), access->bytes, at, at - subject.allocation.address);
        return;
    }
    const struct check_heap_block *freed = check_heap_find_freed(check, address);
    if (freed) {
        report_freed_heap(check, access, &side, freed);
        return;
    }
    struct neighbour near;
    struct lk_buf where = {0}, why = {0};
    bool known = find_neighbour(check, address, &near);
    uint64_t end = near.address + near.size;
    bool is_near = known && address >= 65536;
    if (address < 65536)
        lk_buf_printf(&where, "a null pointer plus %llu bytes", at);
    else if (is_near && address < near.address)
        lk_buf_printf(&where, "%llu bytes before the beginning of %s",
                      (unsigned long long)(near.address - address), near.name.data);
    else if (is_near && address < end && end - address < access->bytes)
        lk_buf_printf(&where, "across the end of %s", near.name.data);
    else if (is_near && address - end < (uint64_t)1 << 40)
        lk_buf_printf(&where, "%llu bytes past the end of %s", (unsigned long long)(address - end),
                      near.name.data);
    else
        is_near = false;
    if (is_near)
        subject.allocation = near.allocation;
    else if (!where.size)
        lk_buf_printf(&where, "no memory is allocated there");
    lk_buf_add(&why, "", 0);
    check_explain_index(check, access, lane, &why);
    struct check_side malloc_side = {0};
    if (is_near && near.heap)
        malloc_side = check_heap_side(check, near.heap, "malloc");
    check_report(check, CHECK_OUT_OF_BOUNDS, &subject, &side, malloc_side.in ? &malloc_side : NULL,
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
    uint64_t there = simt_memory_reach(&check->machine->memory, address, false, &found);
    if (!there || there < bytes)
        return false;
    cache->low = found.address;
    cache->high = found.address + found.size;
    cache->tracks = found.kind == SIMT_MEMORY_DEVICE && !found.registered &&
                    (found.owner == SIMT_OWNER_USER || check_heap_find(check, found.address));
    return true;
}

/* A whole warp inside of one allocation, aligned: what nearly every access is. */
static CHECK_HOT bool all_inside(const struct check_cache *cache, const struct watch_access *access)
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

static void report_shared(struct check *check, const struct watch_access *access, int lane,
                          const struct simt_shared_var *var)
{
    struct check_side side = check_side_of(access->w, access->in, lane, verb(access));
    struct lk_buf name = {0};
    check_name(var->var->name, &name);
    struct check_subject subject = {.space = PTX_SPACE_SHARED, .address = access->addresses[lane]};
    check_report(check, CHECK_OUT_OF_BOUNDS, &subject, &side, NULL,
                 "out of bounds: %s of %u bytes at byte %lld of %s, which has %llu bytes of shared "
                 "memory",
                 verb(access), access->bytes,
                 (long long)(int32_t)(access->addresses[lane] - var->offset), name.data,
                 (unsigned long long)var->var->size);
    lk_buf_free(&name);
}

static uint32_t report_exited(struct check *check, const struct watch_access *access)
{
    struct check_side side =
        check_side_of(access->w, access->in, __builtin_ctz(access->mask), verb(access));
    struct check_subject subject = {.space = PTX_SPACE_SHARED,
                                    .address = access->addresses[__builtin_ctz(access->mask)]};
    const uint32_t *index = access->block->index;
    check_report(check, CHECK_CLUSTER_EXIT, &subject, &side, NULL,
                 "cluster exit: %s of shared memory of block (%u,%u,%u), which has ended; it must "
                 "wait for the others (cluster.sync() before the end)",
                 verb(access), index[0], index[1], index[2]);
    return access->mask;
}

uint32_t check_shared_bounds(struct check *check, const struct watch_access *access)
{
    if (access->block->has_ended)
        return report_exited(check, access);
    struct check_cache whole = {.low = 0, .high = access->block->shared_bytes};
    const struct simt_shared_var *var = check->caches[access->number].shared;
    if (var) {
        whole.low = var->offset;
        whole.high = var->offset + var->var->size;
    }
    if (all_inside(&whole, access))
        return 0;
    uint32_t refused = misaligned(check, access), size = access->block->shared_bytes;
    for (uint32_t rest = access->mask & ~refused; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t address = access->addresses[lane];
        if (address >= whole.low && address < whole.high && whole.high - address >= access->bytes)
            continue;
        if (simt_reserved(access->block, address, access->bytes) ||
            (!var && !access->is_write && simt_reads_on(access->block, address, access->bytes)))
            continue;
        refused |= 1u << lane;
        if (var) {
            report_shared(check, access, lane, var);
            continue;
        }
        struct check_side side = check_side_of(access->w, access->in, lane, verb(access));
        struct check_subject subject = {.space = PTX_SPACE_SHARED, .address = address};
        check_report(check, CHECK_OUT_OF_BOUNDS, &subject, &side, NULL,
                     "out of bounds: %s of %u bytes at %lld in shared memory%s, of which the block "
                     "has %u bytes",
                     verb(access), access->bytes, (long long)(int32_t)address,
                     access->block == access->w->block ? "" : " of another block of the cluster",
                     size);
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
        struct check_subject subject = {.space = PTX_SPACE_LOCAL, .address = address};
        check_report(check, CHECK_OUT_OF_BOUNDS, &subject, &side, NULL,
                     "out of bounds: %s of %u bytes at %lld in local memory, of which the thread "
                     "has %u bytes",
                     verb(access), access->bytes, (long long)(int32_t)address, end);
    }
    return refused;
}
