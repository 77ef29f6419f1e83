/*
 * fit.c: finds expressions; see fit.h. One sample is the pivot: a candidate must be right there
 * before the others are tried, and lists that are sorted by their value at the pivot are searched
 * instead of walked through.
 */
#include "export/fit.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

/* Values and text -------------------------------------------------------------------------------*/

static double term_value(const struct export_fit *fit, const struct export_term *term,
                         unsigned sample)
{
    if (term->over_count == 0)
        return term->factor;
    double over = term->factor < 1 ? 1 : term->factor,
           under = term->factor < 1 ? 1 / term->factor : 1;
    for (unsigned i = 0; i < term->over_count; i++)
        over *= fit->atom[term->over[i]].value[sample];
    for (unsigned i = 0; i < term->under_count; i++)
        under *= fit->atom[term->under[i]].value[sample];
    return floor(over / under) + term->plus;
}

double export_value(const struct export_fit *fit, const struct export_expression *e,
                    unsigned sample)
{
    double a = term_value(fit, &e->a, sample);
    if (e->form == EXPORT_TERM)
        return a;
    double parts = ceil(a / term_value(fit, &e->b, sample)), c = term_value(fit, &e->c, sample);
    switch (e->form) {
    case EXPORT_CEILS:
        return parts * ceil(c / term_value(fit, &e->d, sample));
    case EXPORT_LIMITED:
        return fmin(parts, c);
    default:
        return parts;
    }
}

static void print_term(const struct export_fit *fit, const struct export_term *term,
                       struct lk_buf *text)
{
    bool has_factor = term->over_count == 0 || term->factor > 1;
    if (has_factor)
        lk_buf_printf(text, "%.0f", term->factor);
    if (term->over_count == 0)
        return;
    for (unsigned i = 0; i < term->over_count; i++)
        lk_buf_printf(text, "%s%s", i || has_factor ? " * " : "", fit->atom[term->over[i]].name);
    for (unsigned i = 0; i < term->under_count; i++)
        lk_buf_printf(text, " / %s", fit->atom[term->under[i]].name);
    if (term->factor < 1)
        lk_buf_printf(text, " / %.0f", 1 / term->factor);
    if (term->plus)
        lk_buf_printf(text, " %c %.0f", term->plus < 0 ? '-' : '+', fabs(term->plus));
}

static void print_ceil(const struct export_fit *fit, const struct export_term *a,
                       const struct export_term *b, struct lk_buf *text)
{
    lk_buf_printf(text, "ceil_div(");
    print_term(fit, a, text);
    lk_buf_printf(text, ", ");
    print_term(fit, b, text);
    lk_buf_printf(text, ")");
}

void export_print(const struct export_fit *fit, const struct export_expression *e,
                  struct lk_buf *text)
{
    switch (e->form) {
    case EXPORT_TERM:
        print_term(fit, &e->a, text);
        break;
    case EXPORT_CEIL:
        print_ceil(fit, &e->a, &e->b, text);
        break;
    case EXPORT_CEILS:
        print_ceil(fit, &e->a, &e->b, text);
        lk_buf_printf(text, " * ");
        print_ceil(fit, &e->c, &e->d, text);
        break;
    case EXPORT_LIMITED:
        lk_buf_printf(text, "lesser(");
        print_ceil(fit, &e->a, &e->b, text);
        lk_buf_printf(text, ", ");
        print_term(fit, &e->c, text);
        lk_buf_printf(text, ")");
        break;
    }
}

/* Lists of terms --------------------------------------------------------------------------------*/

struct candidate {
    struct export_term term;
    double at_pivot;
};
struct terms {
    struct candidate *list;
    size_t count, capacity;
};

struct search {
    const struct export_fit *fit;
    const double *value;
    unsigned pivot;
};

static void add_term(struct terms *terms, struct export_term term)
{
    if (terms->count == terms->capacity) {
        terms->capacity = 2 * terms->capacity + 64;
        terms->list = lk_realloc(terms->list, terms->capacity * sizeof *terms->list);
    }
    terms->list[terms->count++].term = term;
}

/* Products of up to `most` atoms whose kinds are in the mask, the shorter ones first. */
static void add_products(const struct export_fit *fit, unsigned kinds, unsigned most,
                         struct terms *terms)
{
    size_t begin = terms->count, end;
    add_term(terms, (struct export_term){.factor = 1});
    for (unsigned length = 1; length <= most; length++, begin = end) {
        end = terms->count;
        for (size_t t = begin; t < end; t++)
            for (unsigned i = 0; i < fit->atom_count; i++) {
                struct export_term term = terms->list[t].term;
                if (!(kinds >> fit->atom[i].kind & 1) ||
                    (term.over_count && term.over[term.over_count - 1] >= i))
                    continue;
                term.over[term.over_count++] = (unsigned char)i;
                add_term(terms, term);
            }
    }
}

/* The same over one tunable each, too. */
static void add_quotients(const struct export_fit *fit, struct terms *terms)
{
    size_t count = terms->count;
    for (size_t t = 0; t < count; t++)
        for (unsigned i = 0; i < fit->atom_count; i++) {
            struct export_term term = terms->list[t].term;
            bool own = term.under_count == 2 || term.over_count == 0;
            for (unsigned k = 0; k < term.over_count; k++)
                own |= term.over[k] == i;
            if (own || fit->atom[i].kind != EXPORT_TUNABLE ||
                (term.under_count && term.under[term.under_count - 1] >= i))
                continue;
            term.under[term.under_count++] = (unsigned char)i;
            add_term(terms, term);
        }
}

/* Each with the powers of two up to `most` as factors. */
static void add_factors(struct terms *terms, double most)
{
    size_t count = terms->count;
    for (double factor = 2; factor <= most; factor *= 2)
        for (size_t t = 0; t < count; t++) {
            struct export_term term = terms->list[t].term;
            term.factor = factor;
            add_term(terms, term);
        }
}

static int by_pivot(const void *a, const void *b)
{
    double x = ((const struct candidate *)a)->at_pivot, y = ((const struct candidate *)b)->at_pivot;
    return (x > y) - (x < y);
}

static void sort_terms(const struct search *search, struct terms *terms)
{
    for (size_t t = 0; t < terms->count; t++)
        terms->list[t].at_pivot = term_value(search->fit, &terms->list[t].term, search->pivot);
    qsort(terms->list, terms->count, sizeof *terms->list, by_pivot);
}

static size_t first_from(const struct terms *terms, double value)
{
    size_t low = 0, high = terms->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (terms->list[middle].at_pivot < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void free_terms(struct terms *terms)
{
    free(terms->list);
}

/* Forms, from simple to less so -----------------------------------------------------------------*/

static bool right(const struct search *search, const struct export_expression *expression)
{
    for (unsigned s = 0; s < search->fit->sample_count; s++)
        if (export_value(search->fit, expression, s) != search->value[s])
            return false;
    return true;
}

/* Fewer names are simpler, and no factor simpler than one. */
static unsigned cost(const struct export_expression *e)
{
    const struct export_term *terms[] = {&e->a, &e->b, &e->c, &e->d};
    unsigned sum = 0;
    for (unsigned i = 0; i < 4; i++)
        sum += 4u * (terms[i]->over_count + terms[i]->under_count) + (terms[i]->factor > 1) +
               2u * (terms[i]->plus != 0);
    return sum;
}

static void keep_best(struct export_expression *best, bool *found,
                      const struct export_expression *expression)
{
    if (!*found || cost(expression) < cost(best))
        *best = *expression;
    *found = true;
}

/* Sizes are not divided here: they would only fit where the division leaves no rest. */
static bool fit_product(const struct search *search, struct export_expression *best)
{
    struct terms terms = {0};
    bool found = false;
    add_products(search->fit, 1 << EXPORT_TUNABLE | 1 << EXPORT_DEVICE, 3, &terms);
    add_quotients(search->fit, &terms);
    add_quotients(search->fit, &terms);
    add_products(search->fit, ~0u, 3, &terms);
    for (size_t t = 0; t < terms.count; t++) {
        struct export_expression e = {.a = terms.list[t].term};
        double product = term_value(search->fit, &e.a, search->pivot),
               value = search->value[search->pivot];
        e.a.factor = product > 0 && value > 0 ? value / product : 1;
        double inverse = 1 / e.a.factor;
        bool has_size = false;
        for (unsigned i = 0; i < e.a.over_count; i++)
            has_size |= search->fit->atom[e.a.over[i]].kind == EXPORT_SIZE ||
                        search->fit->atom[e.a.over[i]].kind == EXPORT_SIZE_SUM;
        if ((e.a.factor == floor(e.a.factor) || (inverse == floor(inverse) && !has_size)) &&
            right(search, &e))
            keep_best(best, &found, &e);
    }
    free_terms(&terms);
    return found;
}

/* a * x + b, from the pivot and a sample where x differs. */
static bool fit_affine(const struct search *search, struct export_expression *best)
{
    struct terms terms = {0};
    bool found = false;
    add_products(search->fit, ~0u, 2, &terms);
    for (size_t t = 1; t < terms.count; t++) {
        struct export_expression e = {.a = terms.list[t].term};
        double x = term_value(search->fit, &e.a, search->pivot);
        unsigned s = 0;
        while (s < search->fit->sample_count && term_value(search->fit, &e.a, s) == x)
            s++;
        if (s == search->fit->sample_count)
            continue;
        e.a.factor = (search->value[s] - search->value[search->pivot]) /
                     (term_value(search->fit, &e.a, s) - x);
        e.a.plus = search->value[search->pivot] - e.a.factor * x;
        if (e.a.factor >= 1 && e.a.factor == floor(e.a.factor) && right(search, &e))
            keep_best(best, &found, &e);
    }
    free_terms(&terms);
    return found;
}

/* What is divided up, and into pieces of what length. */
static void add_lengths(const struct search *search, struct terms *wholes, struct terms *pieces)
{
    add_products(search->fit, 1 << EXPORT_SIZE | 1 << EXPORT_SIZE_SUM, 2, wholes);
    for (size_t t = 0, count = wholes->count; t < count; t++)
        if (wholes->list[t].term.over_count == 1) {
            struct export_term more = wholes->list[t].term;
            more.plus = 1;
            add_term(wholes, more);
        }
    add_factors(wholes, 32);
    add_products(search->fit, 1 << EXPORT_TUNABLE, 3, pieces);
    add_quotients(search->fit, pieces);
    add_factors(pieces, 4096);
    sort_terms(search, pieces);
}

/* ceil(a / b) = v where v - 1 < a / b <= v. limit NULL: none. */
static bool fit_ceil(const struct search *search, const struct export_term *limit,
                     struct export_expression *best)
{
    struct terms wholes = {0}, pieces = {0};
    bool found = false;
    double value = search->value[search->pivot];
    if (value < 1)
        return false;
    add_lengths(search, &wholes, &pieces);
    for (size_t w = 0; w < wholes.count; w++) {
        double whole = term_value(search->fit, &wholes.list[w].term, search->pivot);
        for (size_t p = first_from(&pieces, whole / value); p < pieces.count; p++) {
            struct export_expression e = {.form = limit ? EXPORT_LIMITED : EXPORT_CEIL,
                                          .a = wholes.list[w].term,
                                          .b = pieces.list[p].term};
            if (value > 1 && pieces.list[p].at_pivot >= whole / (value - 1))
                break;
            if (limit)
                e.c = *limit;
            if (wholes.list[w].term.over_count && right(search, &e))
                keep_best(best, &found, &e);
        }
    }
    free_terms(&wholes);
    free_terms(&pieces);
    return found;
}

/* A limit is reached somewhere, never passed, and not reached at the pivot. */
static bool may_limit(struct search *search, const struct export_term *limit)
{
    bool reached = false, below = false;
    for (unsigned s = 0; s < search->fit->sample_count; s++) {
        double most = term_value(search->fit, limit, s);
        if (search->value[s] > most)
            return false;
        reached |= search->value[s] == most;
        if (search->value[s] < most && (!below || search->value[s] > search->value[search->pivot]))
            search->pivot = s;
        below |= search->value[s] < most;
    }
    return reached && below;
}

static bool fit_limited(const struct search *search, struct export_expression *best)
{
    struct terms limits = {0};
    bool found = false;
    double largest = 0;
    for (unsigned s = 0; s < search->fit->sample_count; s++)
        largest = fmax(largest, search->value[s]);
    add_products(search->fit, 1 << EXPORT_TUNABLE | 1 << EXPORT_DEVICE, 3, &limits);
    add_quotients(search->fit, &limits);
    add_factors(&limits, 32);
    limits.list[0].term.factor = largest;
    for (size_t t = 0; t < limits.count; t++) {
        struct search below = *search;
        struct export_expression e;
        if (may_limit(&below, &limits.list[t].term) && fit_ceil(&below, &limits.list[t].term, &e))
            keep_best(best, &found, &e);
    }
    free_terms(&limits);
    return found;
}

/* A grid of tiles in one row: each side is a size of its own. */
static bool fit_ceils_of(const struct search *search, unsigned i, unsigned j,
                         const struct terms *pieces, struct export_expression *best)
{
    const struct export_fit *fit = search->fit;
    bool found = false;
    double down = fit->atom[i].value[search->pivot], across = fit->atom[j].value[search->pivot];
    for (size_t p = 0; p < pieces->count; p++)
        for (size_t q = 0; q < pieces->count; q++) {
            struct export_expression e = {
                .form = EXPORT_CEILS,
                .a = {.factor = 1, .over = {(unsigned char)i}, .over_count = 1},
                .b = pieces->list[p].term,
                .c = {.factor = 1, .over = {(unsigned char)j}, .over_count = 1},
                .d = pieces->list[q].term};
            if (ceil(down / pieces->list[p].at_pivot) * ceil(across / pieces->list[q].at_pivot) ==
                    search->value[search->pivot] &&
                right(search, &e))
                keep_best(best, &found, &e);
        }
    return found;
}

static bool fit_ceils(const struct search *search, struct export_expression *best)
{
    struct terms pieces = {0};
    const struct export_fit *fit = search->fit;
    bool found = false;
    add_products(fit, 1 << EXPORT_TUNABLE, 1, &pieces);
    add_quotients(fit, &pieces);
    add_factors(&pieces, 32);
    sort_terms(search, &pieces);
    for (unsigned i = 0; i < fit->atom_count && !found; i++)
        for (unsigned j = i + 1; j < fit->atom_count && !found; j++)
            if (fit->atom[i].kind == EXPORT_SIZE && fit->atom[j].kind == EXPORT_SIZE)
                found = fit_ceils_of(search, i, j, &pieces, best);
    free_terms(&pieces);
    return found;
}

bool export_fit(const struct export_fit *fit, const double *value,
                struct export_expression *expression)
{
    struct search search = {fit, value, 0};
    bool constant = true;
    for (unsigned s = 0; s < fit->sample_count; s++) {
        constant &= value[s] == value[0];
        if (value[s] > value[search.pivot]) /* large numbers tell more */
            search.pivot = s;
    }
    *expression = (struct export_expression){.a = {.factor = value[0]}};
    return constant || fit_product(&search, expression) || fit_affine(&search, expression) ||
           fit_ceil(&search, NULL, expression) || fit_limited(&search, expression) ||
           fit_ceils(&search, expression);
}
