/*
 * owner.c: every word of global memory has one owner: a rule of exercises (src/learn), for which
 * two threads that write the same word, in whatever order and with whatever value, have misunderstood
 * who does what, and blocks that wait for each other hang on a GPU with fewer multiprocessors.
 * LOCKSTEP_CHECK_OWNERS switches it on: "4:1,3" says that allocations repeat in rows of 4, and that
 * the second and the fourth of each row may have several writers.
 */
#include "check/check.h"

#include <stdlib.h>

void check_owner_open(struct check *check)
{
    const char *rule = getenv("LOCKSTEP_CHECK_OWNERS");
    char *end;
    if (!rule || !*rule)
        return;
    check->owners_row = (uint32_t)strtoul(rule, &end, 10);
    check->owners = check->owners_row > 0;
    while (*end == ':' || *end == ',') {
        unsigned long free_one = strtoul(end + 1, &end, 10);
        if (free_one < 64)
            check->owners_free |= UINT64_C(1) << free_one;
    }
}

static bool is_free(struct check *check, uint64_t address)
{
    struct check_allocation found;
    if (address - check->owners_last.address < check->owners_last.size)
        return true;
    if (!check_find_allocation(check, address, &found) || found.number == 0)
        return false;
    uint32_t at = (found.number - 1) % check->owners_row;
    if (at >= 64 || !(check->owners_free >> at & 1))
        return false;
    check->owners_last = found;
    return true;
}

static void report(struct check *check, const struct watch_access *access, uint64_t address,
                   uint32_t lane, uint32_t segment, uint32_t info, bool is_write)
{
    const struct simt_inst *there = &check->launch->code->insts[info >> CHECK_INST_SHIFT];
    enum check_kind kind = is_write ? CHECK_SEVERAL_WRITERS : CHECK_OTHER_BLOCK;
    /* A kernel that does it once does it a million times. */
    if ((check->owners_in == access->in && check->owners_there == there) || is_free(check, address))
        return;
    check->owners_in = access->in;
    check->owners_there = there;
    if (check_is_known(check, kind, access->in, there))
        return;
    struct check_side side =
        check_side_of(access->w, access->in, (int)lane, check_verb(access->in, is_write));
    struct check_side other =
        check_side_of_segment(check, segment, info, check_verb(there, true));
    struct check_subject subject = {.space = access->space, .address = address};
    struct lk_buf where = {0};
    lk_buf_add(&where, "", 0);
    check_describe_address(check, &subject, &where);
    check_report(check, kind, &subject, &side, &other,
                 is_write ? "several writers: %s was already written by another thread; here each "
                            "element has one thread that writes it"
                          : "needs another block: %s is read after another block wrote it; blocks "
                            "run in any order, even one after the other",
                 where.size ? where.data : "a word of global memory");
    lk_buf_free(&where);
}

void check_owner_write(struct check *check, const struct watch_access *access, uint64_t address,
                       uint32_t lane, const struct check_cell *cell)
{
    const struct check_block *block = access->w->block->check;
    uint32_t at = cell->write_segment - check->segment_base;
    bool is_own = check->segment_warps[at] == block->first_warp + access->w->index &&
                  (cell->write_info & CHECK_LANE) == lane;
    if (!is_own && !check->segment_engines[at] && !(cell->write_info & CHECK_MIXED) &&
        access->space != PTX_SPACE_SHARED)
        report(check, access, address, lane, cell->write_segment, cell->write_info, true);
}

void check_owner_read(struct check *check, const struct watch_access *access, uint64_t address,
                      uint32_t lane, const struct check_cell *cell)
{
    const struct check_block *block = access->w->block->check;
    uint32_t at = cell->write_segment - check->segment_base;
    if (check->segment_warps[at] - block->first_warp >= block->warp_count &&
        access->space != PTX_SPACE_SHARED)
        report(check, access, address, lane, cell->write_segment, cell->write_info, false);
}
