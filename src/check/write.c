/*
 * write.c: the checker's file, one JSON object a line: errors as they are found, so that nothing is
 * lost if the program dies, and at the end of a launch how often each was repeated.
 * src/report/check_read.c reads it.
 */
#include "check/products.h"

#include "base/hash.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

enum { ERRORS_MOST = 400 }; /* with those that are the same as others */

struct check_error {
    enum check_kind kind;
    const struct ptx_inst *in, *other;
    uint64_t count, written;
    /* Unrolled loops make several instructions of one line: those are one error. Of each side a
     * hash of its line and of the calls that it was inlined at; 0: not known. */
    uint64_t places[2];
    size_t same; /* as that one, counted from 1; 0: an error of its own */
    /* Of a race: how far apart the two sides were when it was told, and at most since then. */
    enum check_scope told, widest;
};

static const char *const kinds[] = {
#define FINDING(name, key, severity) key,
#include "gpu/finding_kinds.def"
#undef FINDING
};

static const char *space_name(enum ptx_space space)
{
    switch (space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_GENERIC:
        return "global";
    case PTX_SPACE_SHARED:
        return "shared";
    case PTX_SPACE_LOCAL:
        return "local";
    case PTX_SPACE_CONST:
        return "constant";
    default:
        return NULL;
    }
}

struct check_side check_side_of(const struct simt_warp *w, const struct simt_inst *in, int lane,
                                const char *does)
{
    return (struct check_side){.in = in,
                               .block = w->block->linear,
                               .thread = w->index * SIMT_LANES + (uint32_t)lane,
                               .does = does};
}

/* Kernel, place and thread of one side; the object stays open. apart: another instruction whose
 * place should be told from this one's, or NULL. */
static void put_side(struct check *check, struct lk_buf *out, const struct check_side *side,
                     const struct simt_inst *apart)
{
    const struct simt_launch_state *launch = check->launch;
    const uint32_t *grid = launch->launch->grid, *size = launch->launch->block;
    struct check_chain chain = {0};
    struct lk_buf name = {0};
    check_name(launch->kernel->ptx->name, &name);
    lk_buf_printf(out, "\"kernel\":");
    lk_buf_json(out, name.data);
    lk_buf_free(&name);
    lk_buf_printf(out, ",\"symbol\":");
    lk_buf_json(out, launch->kernel->ptx->name);
    if (side->in)
        check_chain(launch->kernel->ptx->module, side->in, apart, &chain);
    for (size_t i = 0; i < chain.count; i++) {
        lk_buf_printf(out, i == 0 ? "," : i == 1 ? ",\"calls\":[{" : ",{");
        lk_buf_printf(out, "\"file\":");
        lk_buf_json(out, chain.at[i].file);
        lk_buf_printf(out, ",\"line\":%u%s", chain.at[i].line, i ? "}" : "");
    }
    if (chain.count > 1)
        lk_buf_printf(out, "]");
    if (side->in)
        lk_buf_printf(out, ",\"ptx_line\":%u", side->in->ptx->line);
    if (side->block != UINT64_MAX)
        lk_buf_printf(out, ",\"block\":[%u,%u,%u]", (unsigned)(side->block % grid[0]),
                      (unsigned)(side->block / grid[0] % grid[1]),
                      (unsigned)(side->block / grid[0] / grid[1]));
    if (side->thread != UINT32_MAX)
        lk_buf_printf(out, ",\"thread\":[%u,%u,%u]", side->thread % size[0],
                      side->thread / size[0] % size[1], side->thread / size[0] / size[1]);
    if (side->does) {
        lk_buf_printf(out, ",\"access\":");
        lk_buf_json(out, side->does);
    }
}

/* Several processes and machines may write to one file. */
static unsigned long long id_of(const struct check *check, size_t number)
{
    return (unsigned long long)getpid() << 24 | check->machine->index << 16 | number;
}

static void write_line(struct check *check, struct lk_buf *line)
{
    lk_buf_printf(line, "\n");
    pthread_mutex_lock(&check->report_lock);
    fwrite(line->data, 1, line->size, check->file);
    fflush(check->file);
    pthread_mutex_unlock(&check->report_lock);
}

/* It does not matter which side came first. */
static bool is_symmetric(enum check_kind kind)
{
    return kind == CHECK_RACE || kind == CHECK_BARRIER || kind == CHECK_PRECHECK;
}

static struct check_error *find_error(struct check *check, enum check_kind kind,
                                      const struct ptx_inst *in, const struct ptx_inst *other)
{
    for (size_t i = 0; i < check->error_count; i++) {
        struct check_error *error = &check->errors[i];
        bool same = error->in == in && error->other == other;
        bool swapped = is_symmetric(kind) && error->in == other && error->other == in;
        if (error->kind == kind && (same || swapped))
            return error;
    }
    return NULL;
}

bool check_is_known(struct check *check, enum check_kind kind, const struct simt_inst *in,
                    const struct simt_inst *other)
{
    pthread_mutex_lock(&check->report_lock);
    struct check_error *error =
        find_error(check, kind, in ? in->ptx : NULL, other ? other->ptx : NULL);
    if (error && error->same)
        check->errors[error->same - 1].count++;
    else if (error)
        error->count++;
    pthread_mutex_unlock(&check->report_lock);
    return error != NULL;
}

void check_widen(struct check *check, const struct check_side *side, const struct check_side *other)
{
    enum check_scope scope = check_scope(side, other);
    if (!other->in)
        return;
    pthread_mutex_lock(&check->report_lock);
    struct check_error *error = find_error(check, CHECK_RACE, side->in->ptx, other->in->ptx);
    if (error && error->same)
        error = &check->errors[error->same - 1];
    if (error && scope > error->widest)
        error->widest = scope;
    pthread_mutex_unlock(&check->report_lock);
}

bool check_is_told(const struct check *check, enum check_kind kind, const struct simt_inst *in)
{
    for (size_t i = 0; i < check->error_count; i++)
        if (check->errors[i].kind == kind &&
            (check->errors[i].in == in->ptx || check->errors[i].other == in->ptx))
            return true;
    return false;
}

/* False: enough errors have been told. */
static bool add_error(struct check *check, enum check_kind kind, const struct ptx_inst *in,
                      const struct ptx_inst *other)
{
    if (check->error_count >= ERRORS_MOST) {
        check->dropped++;
        return false;
    }
    if (check->error_count == check->error_capacity) {
        check->error_capacity = check->error_capacity * 2 + 32;
        check->errors = lk_realloc(check->errors, check->error_capacity * sizeof(*check->errors));
    }
    check->errors[check->error_count++] =
        (struct check_error){.kind = kind, .in = in, .other = other, .count = 1, .written = 1};
    return true;
}

static uint64_t place_of(struct check *check, const struct check_side *side,
                         const struct simt_inst *apart)
{
    struct check_chain chain = {0};
    if (side && side->in)
        check_chain(check->launch->kernel->ptx->module, side->in, apart, &chain);
    uint64_t hash = LK_HASH64;
    for (size_t i = 0; i < chain.count; i++) {
        hash = lk_hash64(hash, &chain.at[i].file, sizeof chain.at[i].file);
        hash = lk_hash64(hash, &chain.at[i].line, sizeof chain.at[i].line);
    }
    return chain.count ? hash : 0;
}

/* Barriers are often waited for in a function of their own: which call it was matters. */
static const struct simt_inst *apart_from(enum check_kind kind, const struct check_side *side)
{
    return kind == CHECK_BARRIER && side ? side->in : NULL;
}

/* Has the newest error been told of these lines already? Then it is the same. */
static bool is_same_line(struct check *check, const struct check_side *side,
                         const struct check_side *other)
{
    struct check_error *new = &check->errors[check->error_count - 1];
    if (new->kind == CHECK_RACE && other)
        new->told = new->widest = check_scope(side, other);
    new->places[0] = place_of(check, side, apart_from(new->kind, other));
    new->places[1] = place_of(check, other, apart_from(new->kind, side));
    for (size_t i = 0; new->places[0] && i + 1 < check->error_count; i++) {
        struct check_error *old = &check->errors[i];
        const uint64_t *was = old->places, *is = new->places;
        bool same = was[0] == is[0] && was[1] == is[1];
        bool swapped = is_symmetric(new->kind) && was[0] == is[1] && was[1] == is[0];
        if (old->kind != new->kind || old->same || (!same && !swapped))
            continue;
        new->same = i + 1;
        old->count++;
        if (new->widest > old->widest)
            old->widest = new->widest;
        return true;
    }
    return false;
}

/* stub: a kernel, whose host function of the same name is not the program's own code; or NULL. */
static void put_callers(struct lk_buf *out, const struct check_callers *callers, const char *stub)
{
    if (stub) {
        lk_buf_printf(out, "\"stub\":");
        lk_buf_json(out, stub);
        lk_buf_printf(out, ",");
    }
    lk_buf_printf(out, "\"callers\":[");
    for (size_t i = 0; i < sizeof(callers->at) / sizeof(callers->at[0]) && callers->at[i]; i++)
        lk_buf_printf(out, "%s\"0x%llx\"", i ? "," : "", (unsigned long long)callers->at[i]);
    lk_buf_printf(out, "]");
}

/* Where the memory of a use after free was freed. */
static void put_freed(struct check *check, struct lk_buf *out, uint64_t address)
{
    struct check_allocation freed;
    if (!check_find_freed(check, address, &freed))
        return;
    lk_buf_printf(out,
                  ",\"other\":{\"access\":\"free\",\"space\":\"global\",\"address\":\"0x%llx\",",
                  (unsigned long long)freed.address);
    put_callers(out, &freed.callers, NULL);
    lk_buf_printf(out, "}");
}

/* Space and address, if the subject is memory. */
static void put_memory(struct lk_buf *out, const struct check_subject *subject)
{
    if (space_name(subject->space))
        lk_buf_printf(out, "\"space\":\"%s\",\"address\":\"0x%llx\",", space_name(subject->space),
                      (unsigned long long)subject->address);
}

static void put_subject(struct lk_buf *out, const struct check_subject *subject)
{
    const struct check_allocation *allocation = &subject->allocation;
    put_memory(out, subject);
    if (allocation->number)
        lk_buf_printf(out, "\"allocation\":{\"number\":%u,\"address\":\"0x%llx\",\"bytes\":%llu},",
                      allocation->number, (unsigned long long)allocation->address,
                      (unsigned long long)allocation->size);
    if (subject->limit)
        lk_buf_printf(out, "\"limit\":%llu,", (unsigned long long)subject->limit);
}

void check_report(struct check *check, enum check_kind kind, const struct check_subject *subject,
                  const struct check_side *side, const struct check_side *other, const char *format,
                  ...)
{
    struct lk_buf line = {0}, text = {0};
    va_list arguments;
    va_start(arguments, format);
    bool doubted = kind == CHECK_RACE && !check->tells_doubts &&
                   check_doubt(check, subject, side, other, format, arguments);
    va_end(arguments);
    if (doubted)
        return;
    pthread_mutex_lock(&check->report_lock);
    bool is_new = !check_is_known(check, kind, side->in, other ? other->in : NULL) &&
                  add_error(check, kind, side->in ? side->in->ptx : NULL,
                            other && other->in ? other->in->ptx : NULL) &&
                  !is_same_line(check, side, other);
    unsigned long long id = id_of(check, check->error_count);
    pthread_mutex_unlock(&check->report_lock);
    if (!is_new)
        return;
    va_start(arguments, format);
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    lk_buf_printf(&line, "{\"id\":%llu,\"kind\":\"%s\",", id, kinds[kind]);
    put_subject(&line, subject);
    put_side(check, &line, side, apart_from(kind, other));
    lk_buf_printf(&line, ",\"text\":");
    lk_buf_json(&line, text.data);
    if (other) {
        lk_buf_printf(&line, ",\"other\":{");
        put_memory(&line, subject);
        put_side(check, &line, other, apart_from(kind, side));
        lk_buf_printf(&line, "}");
    } else if (kind == CHECK_USE_AFTER_FREE) {
        put_freed(check, &line, subject->address);
    }
    lk_buf_printf(&line, "}");
    write_line(check, &line);
    lk_buf_free(&line);
    lk_buf_free(&text);
}

void check_report_host(struct check *check, enum check_kind kind,
                       const struct check_subject *subject, const struct check_callers *callers,
                       const struct check_callers *other, const char *format, ...)
{
    struct lk_buf line = {0}, text = {0};
    va_list arguments;
    pthread_mutex_lock(&check->report_lock);
    bool is_new = kind == CHECK_LEAK || add_error(check, kind, NULL, NULL);
    pthread_mutex_unlock(&check->report_lock);
    if (!is_new)
        return;
    va_start(arguments, format);
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    lk_buf_printf(&line, "{\"kind\":\"%s\",", kinds[kind]);
    put_subject(&line, subject);
    lk_buf_printf(&line, "\"text\":");
    lk_buf_json(&line, text.data);
    lk_buf_printf(&line, ",");
    put_callers(&line, callers, NULL);
    if (other) {
        lk_buf_printf(&line, ",\"other\":{");
        put_callers(&line, other, NULL);
        lk_buf_printf(&line, "}");
    }
    lk_buf_printf(&line, "}");
    write_line(check, &line);
    lk_buf_free(&line);
    lk_buf_free(&text);
}

bool check_is_known_pair(struct check *check, uint64_t a, uint64_t b)
{
    enum { MOST = sizeof(check->pairs) / sizeof(check->pairs[0]) };
    struct check_pair pair = {a < b ? a : b, a < b ? b : a};
    pthread_mutex_lock(&check->report_lock);
    bool known = check->pair_count == MOST;
    for (size_t i = 0; i < check->pair_count && !known; i++)
        known = check->pairs[i].a == pair.a && check->pairs[i].b == pair.b;
    if (!known)
        check->pairs[check->pair_count++] = pair;
    pthread_mutex_unlock(&check->report_lock);
    return known;
}

void check_report_ops(struct check *check, const struct check_subject *subject,
                      const struct check_side *side, const struct check_callers *callers,
                      const struct check_callers *other, const char *name, const char *does,
                      const char *format, ...)
{
    struct lk_buf line = {0}, text = {0};
    va_list arguments;
    va_start(arguments, format);
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    lk_buf_printf(&line, "{\"kind\":\"%s\",", kinds[CHECK_RACE]);
    put_subject(&line, subject);
    lk_buf_printf(&line, "\"text\":");
    lk_buf_json(&line, text.data);
    lk_buf_printf(&line, ",");
    if (side)
        put_side(check, &line, side, NULL);
    else
        put_callers(&line, callers, NULL);
    lk_buf_printf(&line, ",\"other\":{\"access\":");
    lk_buf_json(&line, does);
    if (name) {
        struct lk_buf kernel = {0};
        check_name(name, &kernel);
        lk_buf_printf(&line, ",\"kernel\":");
        lk_buf_json(&line, kernel.data);
        lk_buf_free(&kernel);
    }
    lk_buf_printf(&line, ",");
    put_callers(&line, other, name);
    lk_buf_printf(&line, "}}");
    write_line(check, &line);
    lk_buf_free(&line);
    lk_buf_free(&text);
}

/* What was told before, and how often it has come again. Instructions may go with their module. */
void check_write_counts(struct check *check)
{
    for (size_t i = 0; i < check->error_count; i++) {
        struct check_error *error = &check->errors[i];
        if (error->same || error->count == error->written)
            continue;
        struct lk_buf line = {0};
        error->written = error->count;
        lk_buf_printf(&line, "{\"id\":%llu,\"count\":%llu", id_of(check, i + 1),
                      (unsigned long long)error->count);
        if (error->widest > error->told)
            lk_buf_printf(&line, ",\"also\":\"%s\"",
                          error->widest == CHECK_IN_GRID ? "blocks" : "warps");
        lk_buf_printf(&line, "}");
        write_line(check, &line);
        lk_buf_free(&line);
    }
}
