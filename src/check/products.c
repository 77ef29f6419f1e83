/*
 * products.c: a warpgroup product reads its matrices and writes its accumulators some time between
 * wgmma.mma_async and the wgmma.wait_group that waits for its group. Until then nobody may write
 * what it reads, nor read or write its accumulators. Its reads of shared memory are looked at as
 * those of bulk copies are (race.c, bulk.c). Registers are those of the PTX text.
 * Compilers copy accumulators about with mov, around the product and before the wait; the assembler
 * undoes that. So a copy of an accumulator is an accumulator as well, and only other uses are
 * errors.
 * They also move arithmetic past a wgmma.fence, since it names no registers. So a register lacks a
 * fence only if it was written after the last one in the source, too: by a load from memory, which
 * the fence holds, or from such registers, or from the sums of a product since the fence.
 */
#include "check/products.h"

#include "simt/tensor_shape.h"
#include "simt/warpgroup.h"

#include <stdlib.h>

#define PIECE 16 /* bytes that are told apart */

static const struct check_subject no_memory = {.space = PTX_SPACE_REG};

struct pending {
    const struct simt_inst *by; /* the product */
    uint32_t group;             /* it is done when this group has been waited for; 0: it is free */
    bool is_factor;             /* A: may be read, but not written */
};

/* What a register got since the last fence of its warp. */
struct written {
    const struct simt_inst *by; /* a product, whose sums other products may use, or another */
    uint32_t fences;            /* that the warp had executed then */
};

/* A register that holds sums of the lane's first row or of that eight rows further on, that was
 * read since, or that is a copy. */
enum { SUM_FIRST = 1, SUM_SECOND = 2, SUM_USED = 4, SUM_COPY = 8, SUM_ROWS = 3 };

struct warp_products {
    const struct simt_frame *frame; /* whose registers these are */
    struct pending *registers;      /* [count] */
    struct written *written;        /* [count] */
    uint8_t *sums;                  /* [count]: SUM_* */
    bool copies_used;               /* copies of sums were read, by more than copies */
    uint32_t count;
    uint32_t fences;         /* wgmma.fence executed */
    uint32_t groups, waited; /* committed, and of these waited for */
    uint32_t read;           /* segment of what its last product read */
};

struct check_products {
    struct warp_products *warps;
    uint32_t warp_count;
    uint32_t piece_count;
    struct piece {
        const struct simt_inst *by;
        uint32_t group, warp;
        uint32_t warps; /* of the group, as bits: which read it, */
        uint32_t rows;  /* and for which of their 16 rows */
    } * pieces;         /* of shared memory, [piece_count]: what products read */
};

bool check_products_begin(struct check *check, const struct simt_launch_state *launch)
{
    bool any = false;
    for (uint32_t i = 0; i < launch->code->inst_count && !any; i++)
        any = ptx_is_wgmma(launch->code->insts[i].ptx->op);
    check->has_products = any;
    return any;
}

void check_products_block(struct simt_block *block, bool begins)
{
    struct check_block *own = block->check;
    struct check_products *products = own->products;
    if (begins) {
        products = own->products = lk_alloc_zeroed(sizeof(*products));
        products->warp_count = block->warp_count;
        products->warps = lk_alloc_zeroed(block->warp_count * sizeof(*products->warps));
        products->piece_count = block->shared_end / PIECE + 1;
        products->pieces = lk_alloc_zeroed(products->piece_count * sizeof(*products->pieces));
        return;
    }
    for (uint32_t i = 0; products && i < products->warp_count; i++) {
        free(products->warps[i].registers);
        free(products->warps[i].written);
        free(products->warps[i].sums);
    }
    if (products) {
        free(products->warps);
        free(products->pieces);
        free(products);
    }
    own->products = NULL;
}

/* Registers ---------------------------------------------------------------------------------------
 */

static struct pending *pending_at(struct warp_products *warp, const struct simt_frame *frame,
                                  uint32_t reg)
{
    static struct pending none;
    none = (struct pending){0};
    if (warp->frame != frame || reg >= warp->count)
        return &none;
    struct pending *pending = &warp->registers[reg];
    if (pending->group <= warp->waited)
        *pending = none;
    return pending;
}

#define MOST_WRITTEN 16 /* by an instruction other than a product */

struct visit {
    struct check *check;
    struct simt_warp *w;
    const struct simt_inst *in;
    struct warp_products *warp;
    struct written *written[MOST_WRITTEN]; /* of its destinations, */
    unsigned written_count;
    const struct simt_inst *from; /* and what wrote one of its sources since the last fence */
    uint8_t sum;                  /* of the source of a copy: what it holds */
    uint64_t doubts[16];          /* of a product's rows: races of what they depend on */
    bool any_doubt;
};

static struct written *written_at(struct warp_products *warp, const struct simt_frame *frame,
                                  uint32_t reg)
{
    static struct written none;
    none = (struct written){0};
    if (warp->frame != frame || reg >= warp->count)
        return &none;
    struct written *written = &warp->written[reg];
    if (written->fences != warp->fences)
        *written = none;
    return written;
}

/* Which registers hold sums, and whether those were used. */
static void follow_sums(struct visit *v, uint32_t reg, bool written)
{
    struct warp_products *warp = v->warp;
    if (warp->frame != v->w->path->frame || reg >= warp->count)
        return;
    bool copies = v->in->ptx->op == PTX_OP_MOV;
    uint8_t *sum = &warp->sums[reg];
    if (written)
        *sum = copies && v->sum ? (v->sum & SUM_ROWS) | SUM_COPY : 0;
    else if (copies)
        v->sum = *sum;
    else if (*sum & SUM_COPY)
        warp->copies_used = true;
    else if (*sum)
        *sum |= SUM_USED;
}

static void follow(struct visit *v, uint32_t reg, bool written)
{
    follow_sums(v, reg, written);
    struct written *known = written_at(v->warp, v->w->path->frame, reg);
    if (!written && known->by)
        v->from = known->by;
    if (written && v->written_count < MOST_WRITTEN)
        v->written[v->written_count++] = known;
}

static void look_for_writes(void *context, uint32_t reg, bool written, bool partly)
{
    (void)partly;
    follow(context, reg, written);
}

static void look(void *context, uint32_t reg, bool written, bool partly)
{
    struct visit *v = context;
    struct pending *pending = pending_at(v->warp, v->w->path->frame, reg);
    (void)partly;
    follow(v, reg, written);
    if (!pending->group || (pending->is_factor && !written))
        return;
    struct check_side side =
        check_side_of(v->w, v->in, __builtin_ctz(v->w->mask), written ? "write" : "read");
    struct check_side other =
        check_side_of(v->w, pending->by, __builtin_ctz(v->w->mask), "product");
    check_report(v->check, CHECK_RACE, &no_memory, &side, &other,
                 "race: %s of %s, a register that %s of a warpgroup product under way: the product "
                 "may not be done before a wgmma.wait_group that waits for its group",
                 written ? "write" : "read", v->w->path->frame->function->ptx->regs[reg].name,
                 pending->is_factor ? "is a factor" : "holds sums");
    pending->group = 0; /* once is enough */
}

static void mark(struct warp_products *warp, const struct simt_frame *frame,
                 const struct ptx_operand *operand, const struct simt_inst *by, bool is_factor)
{
    for (uint32_t i = 0; i < operand->item_count; i++) {
        uint32_t reg = operand->items[i].reg;
        if (operand->items[i].kind != PTX_OPERAND_REG || warp->frame != frame || reg >= warp->count)
            continue;
        warp->registers[reg] = (struct pending){by, warp->groups + 1, is_factor};
        if (is_factor)
            continue;
        warp->written[reg] = (struct written){by, warp->fences};
        bool packed = ptx_type_bits(by->ptx->types[0]) == 16;
        warp->sums[reg] = i / (packed ? 1 : 2) % 2 ? SUM_SECOND : SUM_FIRST;
    }
}

/* A mov of one register passes on what its source is. */
static bool is_copy(struct visit *v)
{
    const struct ptx_inst *ptx = v->in->ptx;
    const struct simt_frame *frame = v->w->path->frame;
    if (ptx->op != PTX_OP_MOV || ptx->operands[0].kind != PTX_OPERAND_REG ||
        ptx->operands[1].kind != PTX_OPERAND_REG)
        return false;
    struct pending from = *pending_at(v->warp, frame, ptx->operands[1].reg);
    if (!from.group || v->warp->frame != frame || ptx->operands[0].reg >= v->warp->count)
        return false;
    v->warp->registers[ptx->operands[0].reg] = from;
    return true;
}

/* Fences ------------------------------------------------------------------------------------------
 */

/* A load that no compiler moves past a fence. */
static bool is_held_load(const struct ptx_inst *ptx)
{
    static const enum ptx_mod elsewhere[] = {PTX_MOD_LOCAL, PTX_MOD_PARAM, PTX_MOD_CONST};
    for (unsigned i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
        if (ptx_has(ptx, elsewhere[i]))
            return false;
    return ptx->op == PTX_OP_LD || ptx->op == PTX_OP_LDMATRIX;
}

/* After the registers of the instruction were looked at. */
static void note_writes(struct visit *v)
{
    const struct simt_inst *by = v->in;
    if (v->in->ptx->op == PTX_OP_MOV)
        by = v->from;
    else if (!v->from && !is_held_load(v->in->ptx))
        by = NULL;
    for (unsigned i = 0; i < v->written_count; i++)
        *v->written[i] = (struct written){by, v->warp->fences};
}

/* The first product needs a fence in any case. Products that share accumulators need none. */
static void look_for_fence(struct visit *v)
{
    static const char *const roles[] = {"sums", "a factor"};
    int lane = __builtin_ctz(v->w->mask);
    struct check_side side = check_side_of(v->w, v->in, lane, "warpgroup product");
    if (!v->warp->fences) {
        check_report(v->check, CHECK_RACE, &no_memory, &side, NULL,
                     "missing fence: the first warpgroup product of a warp needs a wgmma.fence "
                     "before it");
        v->warp->fences = 1;
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct simt_frame *frame = v->w->path->frame;
        const struct ptx_operand *operand = &v->in->ptx->operands[i];
        for (uint32_t k = 0; operand->kind == PTX_OPERAND_VECTOR && k < operand->item_count; k++) {
            uint32_t reg = operand->items[k].reg;
            if (operand->items[k].kind != PTX_OPERAND_REG)
                continue;
            struct written written = *written_at(v->warp, frame, reg);
            if (!written.by || (i == 0 && ptx_is_wgmma(written.by->ptx->op)))
                continue;
            struct check_side other = check_side_of(v->w, written.by, lane, "write");
            check_report(v->check, CHECK_RACE, &no_memory, &side, &other,
                         "missing fence: %s, which holds %s of this warpgroup product, was written "
                         "after the last wgmma.fence: put one between the two",
                         frame->function->ptx->regs[reg].name, roles[i]);
            break; /* one is enough */
        }
    }
}

/* Shared memory -----------------------------------------------------------------------------------
 */

static void look_for_races(struct visit *v, uint32_t address)
{
    uint64_t addresses[SIMT_LANES] = {address};
    uint32_t number = (uint32_t)(v->in - v->check->launch->code->insts);
    struct watch_access access = {.w = v->w,
                                  .in = v->in,
                                  .what = &v->check->launch->watch->insts[number],
                                  .number = number,
                                  .space = PTX_SPACE_SHARED,
                                  .mask = 1,
                                  .bytes = PIECE,
                                  .is_read = true,
                                  .pattern = WATCH_SCATTERED,
                                  .block = v->w->block,
                                  .addresses = addresses};
    check_race_access(v->check, &access, 1, false);
}

/* rows: of the warp's 16, those that depend on it */
static void read_piece(struct visit *v, struct check_products *products, uint32_t address,
                       uint32_t rows)
{
    uint32_t i = address / PIECE;
    if (i >= products->piece_count || address + PIECE > v->w->block->shared_bytes)
        return; /* the product faults */
    struct piece *piece = &products->pieces[i];
    uint32_t own = 1u << v->w->index % 4, group = v->warp->groups + 1;
    bool again = piece->by == v->in && piece->group == group && piece->warp / 4 == v->w->index / 4;
    *piece = (struct piece){v->in, group, v->w->index, own | (again ? piece->warps : 0),
                            rows | (again ? piece->rows : 0)};
    v->check->doubts = 0;
    look_for_races(v, address);
    for (; v->check->doubts && rows; rows &= rows - 1) {
        v->doubts[__builtin_ctz(rows)] |= v->check->doubts;
        v->any_doubt = true;
    }
}

/* Of a matrix in shared memory: lines from first on, of so many pieces of 16 bytes. Of A the lines
 * are the rows of the sums; on B all of them depend. */
static void read_matrix(struct visit *v, struct check_products *products, uint64_t descriptor,
                        bool by_line, bool is_a, unsigned first, unsigned lines, unsigned pieces)
{
    const struct wgmma_matrix m = wgmma_matrix_of(descriptor, by_line);
    unsigned step = by_line ? 1 : 8, count = by_line ? pieces : 8 * pieces;
    for (unsigned line = first; line < first + lines; line += step)
        for (unsigned at = 0; at < count; at++)
            read_piece(v, products, wgmma_address(&m, line, at),
                       !is_a     ? 0xffff
                       : by_line ? 1u << (line - first)
                                 : 0xffu << (line - first));
}

static void start_product(struct visit *v, struct check_products *products)
{
    const struct ptx_inst *ptx = v->in->ptx;
    struct simt_warp *w = v->w;
    bool sparse = ptx_is_sparse_wgmma(ptx->op);
    bool in_registers = ptx->operands[1].kind == PTX_OPERAND_VECTOR;
    unsigned first = sparse ? 6 : 4, count = ptx->operand_count, pieces = sparse ? 4 : 2;
    bool trans_b = count > first + 2 && ptx->operands[count - 1].imm;
    bool trans_a = count > first + 2 && !in_registers && ptx->operands[first + 2].imm;
    struct tensor_shape shape = tensor_shape_of(ptx);
    read_matrix(v, products, *SIMT_SLOT(const uint64_t, v->in->a), !trans_b, false, 0, shape.n,
                pieces);
    if (!in_registers) {
        uint32_t slot = v->in->list[ptx->operands[0].item_count];
        read_matrix(v, products, *SIMT_SLOT(const uint64_t, slot), !trans_a, true,
                    w->index % 4 * 16, 16, 2);
    }
    v->warp->read = check_warp_of(w)->segment;
}

void check_products_write(struct check *check, const struct watch_access *access, uint32_t mask)
{
    struct check_products *products = access->block->check->products;
    for (uint32_t rest = mask; products && rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t first = access->addresses[lane], last = first + access->bytes - 1;
        check->touched = access->block;
        for (uint64_t i = first / PIECE; i <= last / PIECE && i < products->piece_count; i++) {
            struct piece *piece = &products->pieces[i];
            /* Done for all four warps once one of them has waited. */
            uint32_t waited = 0, group = piece->warp & ~3u;
            for (uint32_t k = group; k < group + 4 && k < products->warp_count; k++)
                waited = products->warps[k].waited > waited ? products->warps[k].waited : waited;
            if (piece->group <= waited)
                continue;
            uint64_t address = i * PIECE > first ? i * PIECE : first;
            struct check_subject subject = {.space = PTX_SPACE_SHARED, .address = address};
            struct check_side side = check_side_of(access->w, access->in, lane, "write");
            struct check_side other = {.in = piece->by,
                                       .block = access->block->linear,
                                       .thread = piece->warp * SIMT_LANES,
                                       .does = "read"};
            check_report(
                check, CHECK_RACE, &subject, &side, &other,
                "race: write to shared address 0x%llx, which a warpgroup product under way "
                "reads: wait for its group (wgmma.wait_group) first",
                (unsigned long long)address);
            piece->group = 0;
        }
    }
}

/* Doubts (doubt.c) --------------------------------------------------------------------------------
 */

/* The product's sums depend on what raced; copies: and so may copies of sums. */
static void taint_sums(struct check *check, struct simt_warp *w, const struct warp_products *warp,
                       const struct simt_inst *product, const uint64_t doubts[16], bool copies)
{
    const struct ptx_operand *sums = &product->ptx->operands[0];
    uint8_t *halves = lk_alloc_zeroed(warp->count + 1);
    for (uint32_t i = 0; copies && i < warp->count; i++)
        halves[i] = warp->sums[i] & SUM_COPY ? warp->sums[i] & SUM_ROWS : 0;
    for (uint32_t i = 0; i < sums->item_count; i++)
        if (sums->items[i].kind == PTX_OPERAND_REG && sums->items[i].reg < warp->count)
            halves[sums->items[i].reg] = warp->sums[sums->items[i].reg] & SUM_ROWS;
    check_taint_rows(check, w, warp->frame, halves, warp->count, doubts);
    free(halves);
}

static struct piece *piece_at(const struct check *check, uint64_t address)
{
    struct check_products *products = check->touched ? check->touched->check->products : NULL;
    return products && address / PIECE < products->piece_count ? &products->pieces[address / PIECE]
                                                               : NULL;
}

/* The warps that read a piece: the next one from *warp on; NULL: no other. */
static struct warp_products *next_reader(const struct check *check, const struct piece *piece,
                                         uint32_t *warp)
{
    struct check_products *products = check->touched->check->products;
    for (uint32_t first = piece->warp & ~3u; *warp < 4; ++*warp)
        if (piece->warps >> *warp & 1 && first + *warp < products->warp_count)
            return &products->warps[first + (*warp)++];
    return NULL;
}

bool check_products_may_doubt(const struct check *check, const struct simt_inst *product,
                              uint64_t address)
{
    const struct piece *piece = piece_at(check, address);
    if (!piece || piece->by != product)
        return false;
    const struct ptx_operand *sums = &product->ptx->operands[0];
    const struct warp_products *warp;
    for (uint32_t k = 0; (warp = next_reader(check, piece, &k));) {
        if (warp->copies_used)
            return false;
        for (uint32_t i = 0; i < sums->item_count; i++)
            if (sums->items[i].kind == PTX_OPERAND_REG && sums->items[i].reg < warp->count &&
                warp->sums[sums->items[i].reg] & SUM_USED)
                return false;
    }
    return true;
}

void check_products_doubt(struct check *check, uint64_t address, uint64_t doubt)
{
    const struct piece *piece = piece_at(check, address);
    struct check_products *products = check->touched->check->products;
    uint64_t doubts[16];
    for (int i = 0; i < 16; i++)
        doubts[i] = piece->rows >> i & 1 ? doubt : 0;
    struct warp_products *warp;
    for (uint32_t k = 0; (warp = next_reader(check, piece, &k));) {
        struct simt_warp *w = &check->touched->warps[warp - products->warps].w;
        if (w->live)
            taint_sums(check, w, warp, piece->by, doubts, true);
    }
}

/* Steps -------------------------------------------------------------------------------------------
 */

bool check_products_same_group(const struct check *check, const struct check_block *block,
                               uint32_t grid_warp, uint32_t warp, uint32_t info)
{
    return (grid_warp - block->first_warp) / 4 == warp / 4 &&
           ptx_is_wgmma(check->launch->code->insts[info >> CHECK_INST_SHIFT].ptx->op);
}

/* The four warps do a product together: who has waited knows that all of them have read. */
static void learn_reads(struct simt_warp *w, const struct check_products *products)
{
    uint32_t first = w->index & ~3u, *known = check_known_by(w->block->check, w->index);
    for (uint32_t i = first; i < first + 4 && i < products->warp_count; i++)
        if (i != w->index && products->warps[i].read > known[i])
            known[i] = products->warps[i].read;
}

static void open_registers(struct warp_products *warp, const struct simt_frame *frame)
{
    if (warp->frame == frame && warp->registers)
        return;
    free(warp->registers);
    free(warp->written);
    free(warp->sums);
    warp->frame = frame;
    warp->count = frame->function->ptx->reg_count;
    warp->registers = lk_alloc_zeroed(warp->count * sizeof(*warp->registers));
    warp->written = lk_alloc_zeroed(warp->count * sizeof(*warp->written));
    warp->sums = lk_alloc_zeroed(warp->count);
    warp->copies_used = false;
}

void check_products_step(struct check *check, struct simt_warp *w, const struct simt_inst *in)
{
    struct check_products *products = w->block->check->products;
    if (!products || !w->mask)
        return;
    struct warp_products *warp = &products->warps[w->index];
    struct visit v = {.check = check, .w = w, .in = in, .warp = warp};
    const struct simt_frame *frame = w->path->frame;
    const struct ptx_inst *ptx = in->ptx;
    if (ptx->op >= PTX_OP_WGMMA_F16 && ptx->op <= PTX_OP_WGMMA_WAIT && w->mask != SIMT_ALL)
        return; /* the other lanes are still to come */
    if (ptx_is_wgmma(ptx->op)) {
        look_for_fence(&v);
        open_registers(warp, frame);
        start_product(&v, products);
        mark(warp, frame, &ptx->operands[1], in, true);
        mark(warp, frame, &ptx->operands[0], in, false);
        if (v.any_doubt)
            taint_sums(check, w, warp, in, v.doubts, false);
    } else if (ptx->op == PTX_OP_WGMMA_FENCE) {
        if (!warp->registers)
            open_registers(warp, frame);
        warp->fences++;
    } else if (ptx->op == PTX_OP_WGMMA_COMMIT) {
        warp->groups++;
    } else if (ptx->op == PTX_OP_WGMMA_WAIT) {
        uint32_t pending = (uint32_t)ptx->operands[0].imm;
        uint32_t done = warp->groups > pending ? warp->groups - pending : 0;
        warp->waited = done > warp->waited ? done : warp->waited;
        learn_reads(w, products);
    } else if (warp->registers) {
        simt_flow_visit(ptx, is_copy(&v) ? look_for_writes : look, &v);
        note_writes(&v);
    }
}
