/*
 * slots.c: where a function's registers lie in its frame.
 * A slot holds a register's 32 lanes. Registers whose live ranges do not touch share a slot (live.c
 * says why). Constants and special registers get slots of their own, filled when a frame is made.
 */
#include "simt/decode.h"

#include <stdlib.h>

unsigned slot_bits(enum ptx_type type)
{
    if (type == PTX_PRED)
        return 1;
    unsigned bits = ptx_type_bits(type);
    return bits <= 16 ? 16 : bits;
}

/* In bytes, for 32 lanes. */
static uint32_t slot_size(unsigned bits)
{
    return bits == 1 ? 4 : SIMT_LANES * bits / 8;
}

uint32_t slot_new(struct decoder *decoder, unsigned bits)
{
    uint32_t align = bits == 1 ? 4 : 64;
    uint32_t place = (decoder->frame_top + align - 1) & ~(align - 1);
    decoder->frame_top = place + slot_size(bits);
    return place;
}

struct slot_order {
    uint32_t reg, first, last;
};

static int by_first(const void *a, const void *b)
{
    const struct slot_order *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

struct slot_pool {
    struct {
        uint32_t slot, last;
    } * items;
    uint32_t count, capacity;
};

/* Linear scan: the free slot that has been free for the shortest time is the one in cache. */
static uint32_t take_slot(struct decoder *decoder, struct slot_pool *pool, unsigned bits,
                          uint32_t first, uint32_t last)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < pool->count; i++)
        if (pool->items[i].last < first &&
            (best == UINT32_MAX || pool->items[i].last > pool->items[best].last))
            best = i;
    if (best == UINT32_MAX) {
        if (pool->count == pool->capacity) {
            pool->capacity = pool->capacity ? pool->capacity * 2 : 32;
            pool->items = lk_realloc(pool->items, pool->capacity * sizeof(*pool->items));
        }
        best = pool->count++;
        pool->items[best].slot = slot_new(decoder, bits);
    }
    pool->items[best].last = last;
    return pool->items[best].slot;
}

static unsigned pool_of(unsigned bits)
{
    return bits == 1 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : bits == 64 ? 3 : 4;
}

/* Formal parameters in registers are written by calls and read by returns: they keep their slot. */
static void pin_formals(const struct ptx_function *function, struct flow_range *ranges)
{
    for (uint32_t i = 0; i < function->param_count + function->return_count; i++) {
        const struct ptx_formal *formal = i < function->param_count
                                              ? &function->params[i]
                                              : &function->returns[i - function->param_count];
        if (!formal->var && formal->reg < function->reg_count)
            ranges[formal->reg] = (struct flow_range){0, function->inst_count, true};
    }
}

/* 32-bit registers alive at the worst place, as ptxas would need at least. */
static uint32_t pressure(const struct decoder *decoder, const struct flow_range *ranges)
{
    const struct ptx_function *ptx = decoder->ptx;
    int32_t *change = lk_alloc_zeroed((ptx->inst_count + 2) * sizeof(*change));
    for (uint32_t reg = 0; reg < ptx->reg_count; reg++) {
        unsigned bits = slot_bits(ptx->regs[reg].type);
        if (ranges[reg].first == UINT32_MAX || bits == 1)
            continue;
        int32_t words = bits <= 32 ? 1 : (int32_t)bits / 32;
        change[ranges[reg].first] += words;
        change[ranges[reg].last] -= words;
    }
    int32_t now = 0, most = 0;
    for (uint32_t i = 0; i <= ptx->inst_count; i++) {
        now += change[i];
        most = now > most ? now : most;
    }
    free(change);
    return (uint32_t)most;
}

/* Slots that a new frame must not have from an earlier one. */
static void list_unwritten(struct decoder *decoder, const struct flow_range *ranges,
                           const struct slot_order *order, uint32_t used)
{
    struct simt_function *function = decoder->function;
    function->unwritten = lk_arena_alloc(decoder->arena, (used + 1) * sizeof(*function->unwritten));
    for (uint32_t i = 0; i < used; i++)
        if (ranges[order[i].reg].unwritten)
            function->unwritten[function->unwritten_count++] = (struct simt_unwritten){
                decoder->slots[order[i].reg],
                slot_size(slot_bits(decoder->ptx->regs[order[i].reg].type))};
}

void slots_assign(struct decoder *decoder)
{
    const struct ptx_function *ptx = decoder->ptx;
    struct flow_range *ranges = simt_flow_ranges(decoder->arena, ptx);
    uint32_t registers = pressure(decoder, ranges);
    if (registers > decoder->code->registers)
        decoder->code->registers = registers;
    pin_formals(ptx, ranges);
    decoder->slots = lk_arena_alloc(decoder->arena, (ptx->reg_count + 1) * sizeof(uint32_t));
    decoder->frame_top = 0;
    decoder->sink = slot_new(decoder, 128);
    struct slot_order *order = lk_alloc((ptx->reg_count + 1) * sizeof(*order));
    uint32_t used = 0;
    for (uint32_t reg = 0; reg < ptx->reg_count; reg++) {
        decoder->slots[reg] = decoder->sink;
        if (ranges[reg].first != UINT32_MAX)
            order[used++] = (struct slot_order){reg, ranges[reg].first, ranges[reg].last};
    }
    qsort(order, used, sizeof(*order), by_first);
    struct slot_pool pools[5] = {0};
    for (uint32_t i = 0; i < used; i++) {
        unsigned bits = slot_bits(ptx->regs[order[i].reg].type);
        decoder->slots[order[i].reg] =
            take_slot(decoder, &pools[pool_of(bits)], bits, order[i].first, order[i].last);
    }
    for (int i = 0; i < 5; i++)
        free(pools[i].items);
    list_unwritten(decoder, ranges, order, used);
    free(order);
}

static uint32_t literal_slot(struct decoder *decoder, uint64_t low, uint64_t high, unsigned bits,
                             bool is_shared)
{
    struct slot_literal_list *list = &decoder->literals;
    uint32_t bytes = bits == 1 ? 0 : bits / 8;
    if (bits < 64 && bits > 1)
        low &= (UINT64_C(1) << bits) - 1;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].low == low && list->items[i].high == high &&
            list->items[i].bytes == bytes && list->items[i].is_shared == is_shared)
            return list->items[i].slot;
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 32;
        list->items = lk_realloc(list->items, list->capacity * sizeof(*list->items));
    }
    struct simt_literal literal = {slot_new(decoder, bits), bytes, low, high, is_shared};
    list->items[list->count++] = literal;
    return literal.slot;
}

uint32_t slot_literal(struct decoder *decoder, uint64_t low, uint64_t high, unsigned bits)
{
    return literal_slot(decoder, low, high, bits, false);
}

uint32_t slot_address(struct decoder *decoder, const struct ptx_var *var, uint64_t address,
                      unsigned bits)
{
    return literal_slot(decoder, address, 0, bits, var && var->space == PTX_SPACE_SHARED);
}

uint32_t slot_sreg(struct decoder *decoder, enum ptx_sreg sreg, uint32_t number)
{
    for (uint32_t i = 0; i < decoder->sreg_count; i++)
        if (decoder->sregs[i].sreg == sreg && decoder->sregs[i].number == number)
            return decoder->sregs[i].slot;
    if (decoder->sreg_count == decoder->sreg_capacity) {
        decoder->sreg_capacity = decoder->sreg_capacity ? decoder->sreg_capacity * 2 : 8;
        decoder->sregs =
            lk_realloc(decoder->sregs, decoder->sreg_capacity * sizeof(*decoder->sregs));
    }
    unsigned bits = ptx_sreg_bits(sreg);
    uint32_t slot = slot_new(decoder, bits == 1 ? 1 : bits);
    decoder->sregs[decoder->sreg_count++] = (struct simt_sreg_slot){slot, sreg, number};
    return slot;
}
