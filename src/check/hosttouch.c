/*
 * hosttouch.c: the host's own accesses of memory that an operation still uses: managed and mapped
 * memory that a kernel works on, the pinned buffer of a copy that has not been waited for.
 *
 * While such an operation is under way, the host's view of its memory is protected. The host's
 * access faults; it is noted, the page is opened for that one instruction (the processor's single
 * step), and protected again. The machine uses another view of the same bytes and notices nothing.
 * A kernel may touch what its parameters point to; whether it did is known when it has run.
 * Invariants:
 *   T1  regions belong to operations that the host has not waited for (check_ops_lock);
 *   T2  no code of ours touches the host's view while it holds that lock.
 */
#include "check/ops.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
    PAGE = 4096,
    FAULTS_MOST = 20000, /* then the host goes on unwatched: each costs microseconds */
    REGIONS_MOST = 256,
    NOTES_MOST = 1024
};

struct region {
    struct check_op *op;
    uint64_t address, size;
};

/* An access of the host while a kernel was under way that has not ended. */
struct note {
    struct check_op *op;
    uint64_t address;
    bool is_write;
    struct check_callers callers;
};

static struct {
    struct region regions[REGIONS_MOST];
    size_t region_count;
    struct note notes[NOTES_MOST];
    size_t note_count;
    unsigned faults;
    bool is_ready, is_off;
    struct sigaction before; /* of SIGSEGV */
} host;

static __thread uint64_t stepping; /* the page that is open for one instruction */

/* Pages -----------------------------------------------------------------------------------------*/

static bool is_host_visible(const struct check *check, uint64_t address)
{
    uint64_t offset = address - check->machine->memory.base;
    return offset >= SIMT_ARENA_HALF && offset < SIMT_ARENA;
}

static void protect(uint64_t address, uint64_t size, bool open)
{
    uint64_t first = address & ~(uint64_t)(PAGE - 1);
    uint64_t end = (address + size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    mprotect((void *)(uintptr_t)first, end - first, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

static bool is_needed(uint64_t page)
{
    for (size_t i = 0; i < host.region_count; i++)
        if (host.regions[i].address < page + PAGE &&
            page < host.regions[i].address + host.regions[i].size)
            return true;
    return false;
}

static void open_all(void)
{
    for (size_t i = 0; i < host.region_count; i++)
        protect(host.regions[i].address, host.regions[i].size, true);
    host.is_off = true;
}

/* Judgement -------------------------------------------------------------------------------------*/

static void report(const struct check_op *op, uint64_t address, bool is_write, bool op_writes,
                   const struct check_callers *callers)
{
    struct check_subject subject = {.space = PTX_SPACE_GLOBAL, .address = address};
    struct lk_buf where = {0}, theirs = {0};
    if (check_is_known_pair(op->check, callers->at[0], check_op_key(op)))
        return;
    lk_buf_add(&where, "", 0);
    if (check_find_allocation(op->check, address, &subject.allocation))
        lk_buf_printf(&where, " (byte %llu of " CHECK_ALLOCATION ")",
                      (unsigned long long)(address - subject.allocation.address));
    check_op_name(op, &theirs);
    check_report_ops(op->check, &subject, NULL, callers, &op->callers, op->name,
                     op->kind == SIMT_OP_KERNEL ? "kernel" : "copy",
                     "race with the host: the host %s 0x%llx%s, which %s %s and may still be under "
                     "way: synchronise before (cudaStreamSynchronize, cudaEventSynchronize)",
                     is_write ? "writes" : "reads", (unsigned long long)address, where.data,
                     theirs.data, op_writes ? "writes" : "reads");
    lk_buf_free(&where);
    lk_buf_free(&theirs);
}

static const struct check_cell *cell_at(const struct check *check, uint64_t address)
{
    uint64_t offset = address - check->machine->memory.base;
    const struct check_chunk *chunk = check->chunks[offset >> CHECK_CHUNK_BITS];
    return chunk && chunk->cells ? &chunk->cells[(offset & (CHECK_CHUNK - 1)) / 4] : NULL;
}

static bool is_of(const struct check_op *op, uint32_t segment)
{
    return segment >= op->first_segment && segment <= op->last_segment;
}

/* A launch that has ended, and an access of the host since it was asked for. */
static void judge(const struct check_op *op, const struct note *note)
{
    const struct check_cell *cell = cell_at(op->check, note->address);
    uint32_t byte = 1u << (note->address & 3);
    if (!cell || op->talks)
        return;
    bool wrote = is_of(op, cell->write_segment) && cell->write_bytes & byte;
    bool read = (is_of(op, cell->read_segment[0]) && cell->read_bytes[0] & byte) ||
                (is_of(op, cell->read_segment[1]) && cell->read_bytes[1] & byte);
    if (wrote || (read && note->is_write))
        report(op, note->address, note->is_write, wrote, &note->callers);
}

void check_host_judge(struct check_op *op)
{
    size_t kept = 0;
    for (size_t i = 0; i < host.note_count; i++) {
        if (host.notes[i].op == op)
            judge(op, &host.notes[i]);
        else
            host.notes[kept++] = host.notes[i];
    }
    host.note_count = kept;
}

static void judge_access(const struct note *access)
{
    for (size_t i = 0; i < host.region_count; i++) {
        struct region *region = &host.regions[i];
        struct check_op *op = region->op;
        struct note note = *access;
        note.op = op;
        /* A host function of a stream comes after what it waits for. */
        const struct check_op *function = check_ops_current();
        if (access->address - region->address >= region->size || check_op_is_synced(op) ||
            (function && check_op_is_before(op, function)))
            continue;
        for (unsigned k = 0; k < op->box_count; k++)
            if (check_box_has(&op->boxes[k], access->address, 1) &&
                (access->is_write || op->boxes[k].is_write))
                report(op, access->address, access->is_write, op->boxes[k].is_write,
                       &access->callers);
        if (op->kind != SIMT_OP_KERNEL)
            continue;
        if (op->last_segment)
            judge(op, &note);
        else if (host.note_count < NOTES_MOST)
            host.notes[host.note_count++] = note;
    }
}

/* Faults ----------------------------------------------------------------------------------------*/

static bool is_ours(uint64_t address)
{
    bool found = false;
    pthread_mutex_lock(&check_ops_lock);
    for (size_t i = 0; i < host.region_count && !found; i++) {
        uint64_t first = host.regions[i].address & ~(uint64_t)(PAGE - 1);
        uint64_t end = host.regions[i].address + host.regions[i].size + PAGE - 1;
        found = address >= first && address < (end & ~(uint64_t)(PAGE - 1));
    }
    pthread_mutex_unlock(&check_ops_lock);
    return found;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    ucontext_t *machine = context;
    if (!is_ours(address)) {
        if (host.before.sa_flags & SA_SIGINFO)
            host.before.sa_sigaction(number, info, context);
        else if (host.before.sa_handler == SIG_DFL)
            signal(number, SIG_DFL);
        return;
    }
    struct note access = {.address = address, .callers = check_callers()};
#if defined(__x86_64__)
    access.is_write = machine->uc_mcontext.gregs[REG_ERR] & 2;
#endif
    pthread_mutex_lock(&check_ops_lock);
    judge_access(&access);
    protect(address, 1, true);
    if (++host.faults > FAULTS_MOST)
        open_all();
    pthread_mutex_unlock(&check_ops_lock);
#if defined(__x86_64__)
    stepping = address & ~(uint64_t)(PAGE - 1);
    machine->uc_mcontext.gregs[REG_EFL] |= 0x100; /* one instruction */
#else
    (void)machine;
#endif
}

#if defined(__x86_64__)
static void after_step(int number, siginfo_t *info, void *context)
{
    ucontext_t *machine = context;
    (void)number;
    (void)info;
    machine->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)0x100;
    pthread_mutex_lock(&check_ops_lock);
    if (stepping && !host.is_off && is_needed(stepping))
        protect(stepping, 1, false);
    stepping = 0;
    pthread_mutex_unlock(&check_ops_lock);
}
#endif

/* A program that handles these signals itself is left alone. */
static void get_ready(void)
{
    struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER}, old;
    host.is_ready = true;
    check_callers(); /* loads what a backtrace needs, outside of a handler */
    sigaction(SIGSEGV, NULL, &host.before);
    bool is_default = !(host.before.sa_flags & SA_SIGINFO) && host.before.sa_handler == SIG_DFL;
    if (!is_default && !simt_is_host_fault_handler(&host.before)) {
        host.is_off = true;
        return;
    }
#if defined(__x86_64__)
    struct sigaction step = {.sa_sigaction = after_step, .sa_flags = SA_SIGINFO};
    if (sigaction(SIGTRAP, NULL, &old) != 0 || old.sa_handler != SIG_DFL) {
        host.is_off = true;
        return;
    }
    sigaction(SIGTRAP, &step, NULL);
#else
    (void)old;
#endif
    sigaction(SIGSEGV, &fault, NULL);
}

/* Regions ---------------------------------------------------------------------------------------*/

static void add_region(struct check_op *op, uint64_t address, uint64_t size)
{
    if (host.region_count == REGIONS_MOST)
        return;
    if (!host.is_ready)
        get_ready();
    if (host.is_off)
        return;
    op->references++;
    host.regions[host.region_count++] = (struct region){op, address, size};
    protect(address, size, false);
}

void check_host_protect(struct check_op *op, const struct simt_op_info *info)
{
    struct check_allocation found;
    for (unsigned i = 0; i < op->box_count && op->kind != SIMT_OP_FREE; i++) {
        const struct simt_box *box = &op->boxes[i];
        if (is_host_visible(op->check, box->address))
            add_region(op, box->address, box->rows ? (box->rows - 1) * box->pitch + box->width : 0);
    }
    uint64_t last = 0;
    for (size_t at = 0; info->params && at + 8 <= info->params_size; at += 8) {
        uint64_t pointer;
        memcpy(&pointer, (const uint8_t *)info->params + at, sizeof pointer);
        if (!is_host_visible(op->check, pointer) ||
            !check_find_allocation(op->check, pointer, &found) || found.address == last)
            continue;
        last = found.address;
        add_region(op, found.address, found.size);
    }
}

void check_host_release(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < host.region_count; i++) {
        struct region region = host.regions[i];
        if (!check_op_is_synced(region.op)) {
            host.regions[kept++] = region;
            continue;
        }
        protect(region.address, region.size, true);
        check_op_drop(region.op);
    }
    bool any = kept != host.region_count;
    host.region_count = kept;
    for (size_t i = 0; any && !host.is_off && i < kept; i++) /* they may share pages */
        protect(host.regions[i].address, host.regions[i].size, false);
    for (size_t i = 0; i < host.note_count;)
        if (check_op_is_synced(host.notes[i].op))
            host.notes[i] = host.notes[--host.note_count];
        else
            i++;
}

void check_host_freeing(struct simt_watcher *watcher, uint64_t address, size_t size)
{
    struct check *check = (struct check *)watcher;
    struct check_callers callers = check_callers();
    pthread_mutex_lock(&check_ops_lock);
    for (const struct check_op *op = check_ops_first(); op; op = op->next)
        for (unsigned i = 0; i < op->box_count && op->kind == SIMT_OP_COPY; i++) {
            if (check_op_is_synced(op) || !check_box_has(&op->boxes[i], address, size) ||
                check_is_known_pair(check, callers.at[0], check_op_key(op)))
                continue;
            struct check_subject subject = {.space = PTX_SPACE_GLOBAL, .address = address};
            struct lk_buf theirs = {0};
            check_op_name(op, &theirs);
            check_find_allocation(check, address, &subject.allocation);
            check_report_ops(check, &subject, NULL, &callers, &op->callers, NULL, "copy",
                             "race with the host: " CHECK_ALLOCATION
                             " is freed, while %s %s it and may still be under way: synchronise "
                             "before (cudaStreamSynchronize, cudaEventSynchronize)",
                             theirs.data, op->boxes[i].is_write ? "writes" : "reads");
            lk_buf_free(&theirs);
        }
    pthread_mutex_unlock(&check_ops_lock);
}
