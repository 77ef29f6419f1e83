/*
 * fit.c: finds expressions; see fit.h. Only names whose value differs between samples are tried:
 * the others tell us nothing. Factors are not tried but computed: the samples bound them.
 */
#include "export/fit.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

/* Kinds of atoms, as bits. */
enum {
    SIZES = 1 << EXPORT_SIZE | 1 << EXPORT_SIZE_SUM | 1 << EXPORT_COUNT,
    TUNABLES = 1 << EXPORT_TUNABLE,
    GPUS = 1 << EXPORT_DEVICE,
};

struct search {
    const struct export_fit *fit;
    const double *value;
    bool usable[EXPORT_ATOMS];
    struct export_expression best;
    bool found;
};

static unsigned samples_of(const struct search *search)
{
    return search->fit->sample_count;
}

/* What was found --------------------------------------------------------------------------------*/

static bool is_power_of_two(double x)
{
    return x > 0 && exp2(round(log2(x))) == x;
}

/* Fewer names are simpler, no factor is simpler than one, and odd factors are suspect. */
static unsigned cost(const struct export_expression *e)
{
    const struct export_term *terms[] = {&e->a, &e->b, &e->c, &e->d};
    unsigned sum = 0;
    for (unsigned i = 0; i < 4; i++)
        sum += 4u * (terms[i]->over_count + terms[i]->under_count) + (terms[i]->factor != 1) +
               8u * (terms[i]->factor != 0 && !is_power_of_two(terms[i]->factor)) +
               2u * (terms[i]->plus != 0);
    return sum;
}

static void consider(struct search *search, const struct export_expression *e)
{
    if (search->found && cost(e) >= cost(&search->best))
        return;
    for (unsigned s = 0; s < samples_of(search); s++)
        if (export_value(search->fit, e, s) != search->value[s])
            return;
    search->best = *e;
    search->found = true;
}

/* Lists of terms --------------------------------------------------------------------------------*/

struct terms {
    struct export_term *list;
    size_t count, capacity;
};

static void add_term(struct terms *terms, struct export_term term)
{
    if (terms->count == terms->capacity) {
        terms->capacity = 2 * terms->capacity + 64;
        terms->list = lk_realloc(terms->list, terms->capacity * sizeof *terms->list);
    }
    terms->list[terms->count++] = term;
}

/* 1 and the products of up to `most` atoms whose kinds are in the mask, the shorter ones first. */
static void add_products(const struct search *search, unsigned kinds, unsigned most,
                         struct terms *terms)
{
    const struct export_fit *fit = search->fit;
    size_t begin = terms->count, end;
    add_term(terms, (struct export_term){.factor = 1});
    for (unsigned length = 1; length <= most; length++, begin = end) {
        end = terms->count;
        for (size_t t = begin; t < end; t++)
            for (unsigned i = 0; i < fit->atom_count; i++) {
                struct export_term term = terms->list[t];
                unsigned last = term.over_count ? term.over[term.over_count - 1] : 0;
                bool square = fit->atom[i].kind == EXPORT_TUNABLE;
                if (!search->usable[i] || !(kinds >> fit->atom[i].kind & 1) ||
                    (term.over_count && (last > i || (last == i && !square))))
                    continue;
                term.over[term.over_count++] = (unsigned char)i;
                add_term(terms, term);
            }
    }
}

static bool uses(const struct export_term *term, unsigned atom)
{
    for (unsigned i = 0; i < term->over_count; i++)
        if (term->over[i] == atom)
            return true;
    return term->under_count && term->under[term->under_count - 1] >= atom;
}

/* Each over one more tunable, too. */
static void add_quotients(const struct search *search, struct terms *terms)
{
    const struct export_fit *fit = search->fit;
    for (size_t t = 0, count = terms->count; t < count; t++)
        for (unsigned i = 0; i < fit->atom_count; i++) {
            struct export_term term = terms->list[t];
            if (!search->usable[i] || fit->atom[i].kind != EXPORT_TUNABLE ||
                term.under_count == 2 || uses(&term, i))
                continue;
            term.under[term.under_count++] = (unsigned char)i;
            add_term(terms, term);
        }
}

/* Products --------------------------------------------------------------------------------------*/

static bool has_size(const struct search *search, const struct export_term *term)
{
    for (unsigned i = 0; i < term->over_count; i++)
        if (SIZES >> search->fit->atom[term->over[i]].kind & 1)
            return true;
    return false;
}

/* factor * x, the factor from the first sample. Sizes are not divided here: that would only fit
 * where the division leaves no rest. */
static void fit_product(struct search *search, unsigned kinds)
{
    struct terms terms = {0};
    add_products(search, kinds & (TUNABLES | GPUS), 3, &terms);
    add_quotients(search, &terms);
    add_quotients(search, &terms);
    add_products(search, kinds, 3, &terms);
    for (size_t t = 0; t < terms.count; t++) {
        struct export_expression e = {.a = terms.list[t]};
        e.a.factor = search->value[0] / export_real_value(search->fit, &e.a, 0);
        bool whole = e.a.factor == floor(e.a.factor),
             part = 32 * e.a.factor == floor(32 * e.a.factor) &&
                    (e.a.factor > 1 || !has_size(search, &e.a));
        if (e.a.over_count + e.a.under_count > 0 && e.a.factor > 0 && (whole || part))
            consider(search, &e);
    }
    free(terms.list);
}

/* factor * x + plus, both from the first sample and another one. Without a third sample, only
 * simple numbers are accepted. */
static void fit_affine(struct search *search, unsigned kinds)
{
    struct terms terms = {0};
    add_products(search, kinds, 2, &terms);
    for (size_t t = 1; t < terms.count; t++) {
        struct export_expression e = {.a = terms.list[t]};
        double x[3];
        unsigned at[3] = {0}, different = 0;
        for (unsigned s = 0; s < samples_of(search) && different < 3; s++) {
            x[different] = export_term_value(search->fit, &e.a, s);
            bool seen = false;
            for (unsigned i = 0; i < different; i++)
                seen |= x[i] == x[different];
            if (!seen)
                at[different++] = s;
        }
        if (different < 2)
            continue;
        e.a.factor = (search->value[at[1]] - search->value[0]) / (x[1] - x[0]);
        e.a.plus = search->value[0] - e.a.factor * x[0];
        bool simple = is_power_of_two(e.a.factor) && e.a.plus >= 0;
        if (e.a.factor >= 1 && e.a.factor == floor(e.a.factor) && (different > 2 || simple))
            consider(search, &e);
    }
    free(terms.list);
}

/* a * x + b * y + plus, all three from the first sample and two others. */
static void fit_pair(struct search *search, unsigned i, unsigned k)
{
    const double *x = search->fit->atom[i].value, *y = search->fit->atom[k].value,
                 *v = search->value;
    unsigned s = 1, t = 1;
    while (s < samples_of(search) && x[s] == x[0])
        s++;
    double area = 0;
    for (t = 1; t < samples_of(search) && s < samples_of(search) && area == 0; t++)
        area = (x[s] - x[0]) * (y[t] - y[0]) - (x[t] - x[0]) * (y[s] - y[0]);
    if (area == 0)
        return;
    t--;
    double a = ((v[s] - v[0]) * (y[t] - y[0]) - (v[t] - v[0]) * (y[s] - y[0])) / area,
           b = ((x[s] - x[0]) * (v[t] - v[0]) - (x[t] - x[0]) * (v[s] - v[0])) / area;
    struct export_expression e = {.form = EXPORT_SUM,
                                  .a = {.factor = a, .over = {(unsigned char)i}, .over_count = 1},
                                  .b = {.factor = b,
                                        .over = {(unsigned char)k},
                                        .over_count = 1,
                                        .plus = v[0] - a * x[0] - b * y[0]}};
    if (a >= 1 && b >= 1 && a == floor(a) && b == floor(b) && e.b.plus >= 0)
        consider(search, &e);
}

static void fit_sum(struct search *search)
{
    const struct export_fit *fit = search->fit;
    const unsigned kinds = 1 << EXPORT_SIZE | 1 << EXPORT_COUNT;
    for (unsigned i = 0; i < fit->atom_count; i++)
        for (unsigned k = i + 1; k < fit->atom_count; k++)
            if (search->usable[i] && search->usable[k] && kinds >> fit->atom[i].kind & 1 &&
                kinds >> fit->atom[k].kind & 1)
                fit_pair(search, i, k);
}

/* Divisions -------------------------------------------------------------------------------------*/

/* A simple number from least up to, but without, most: 1, else a power of two or its inverse, else
 * a whole one, if there is only one. */
static bool simple_between(double least, double most, double *number)
{
    if (least <= 1 && 1 < most) {
        *number = 1;
        return true;
    }
    *number = exp2(ceil(log2(least) - 1e-12));
    if (*number >= least && *number < most && *number >= 0x1p-10)
        return true;
    *number = ceil(least);
    return *number > 1 && *number < most && *number + 1 >= most;
}

/* ceil(a / (x * b)) is v where v - 1 < a / (x * b) <= v. At a limit it may also be more. */
static bool bound_factor(const struct search *search, const struct export_term *a,
                         const struct export_term *b, const struct export_term *limit,
                         double *factor)
{
    double least = 0, most = INFINITY;
    for (unsigned s = 0; s < samples_of(search) && least < most; s++) {
        double v = search->value[s],
               ratio = export_term_value(search->fit, a, s) / export_term_value(search->fit, b, s);
        if (!limit || v < export_term_value(search->fit, limit, s))
            least = fmax(least, ratio / v);
        if (v > 1)
            most = fmin(most, ratio / (v - 1));
    }
    return least > 0 && simple_between(least, most, factor);
}

/* What is divided up, and into pieces of what length. */
static void add_lengths(const struct search *search, struct terms *wholes, struct terms *pieces)
{
    add_products(search, SIZES, 2, wholes);
    for (size_t t = 0, count = wholes->count; t < count; t++)
        for (double plus = 1; plus <= 2 && wholes->list[t].over_count == 1; plus++) {
            struct export_term more = wholes->list[t];
            more.plus = plus;
            add_term(wholes, more);
        }
    add_products(search, TUNABLES, 3, pieces);
    add_quotients(search, pieces);
}

/* limit NULL: none. */
static void fit_ceil(struct search *search, const struct export_term *limit)
{
    struct terms wholes = {0}, pieces = {0};
    add_lengths(search, &wholes, &pieces);
    for (size_t w = 1; w < wholes.count; w++)
        for (size_t p = 0; p < pieces.count; p++) {
            struct export_expression e = {.form = limit ? EXPORT_LIMITED : EXPORT_CEIL,
                                          .a = wholes.list[w],
                                          .b = pieces.list[p]};
            double factor;
            if (!bound_factor(search, &e.a, &e.b, limit, &factor))
                continue;
            if (factor < 1)
                e.a.factor = 1 / factor;
            else
                e.b.factor = factor;
            if (limit)
                e.c = *limit;
            bool odd = !is_power_of_two(factor) && e.b.over_count + e.b.under_count > 0;
            if (!odd && (factor >= 1 || e.a.plus == 0))
                consider(search, &e);
        }
    free(wholes.list);
    free(pieces.list);
}

static bool has_gpu(const struct search *search, const struct export_term *term)
{
    for (unsigned i = 0; i < term->over_count; i++)
        if (search->fit->atom[term->over[i]].kind == EXPORT_DEVICE)
            return true;
    return false;
}

/* A limit is never passed, and reached in at least two samples but not in all. Small numbers that
 * do not depend on the GPU are not limits. */
static bool may_limit(const struct search *search, const struct export_term *limit)
{
    unsigned reached = 0;
    if (!has_gpu(search, limit) && export_term_value(search->fit, limit, 0) < 16)
        return false;
    for (unsigned s = 0; s < samples_of(search); s++) {
        double most = export_term_value(search->fit, limit, s);
        if (search->value[s] > most)
            return false;
        reached += search->value[s] == most;
    }
    return reached >= 2 && reached < samples_of(search);
}

static void fit_limited(struct search *search)
{
    struct terms limits = {0};
    add_products(search, TUNABLES | GPUS, 3, &limits);
    add_quotients(search, &limits);
    for (size_t t = 0; t < limits.count; t++) {
        struct export_term limit = limits.list[t];
        double factor = 0;
        for (unsigned s = 0; s < samples_of(search); s++)
            factor = fmax(factor, search->value[s] / export_real_value(search->fit, &limit, s));
        limit.factor = factor;
        if (factor == floor(factor) && may_limit(search, &limit))
            fit_ceil(search, &limit);
    }
    free(limits.list);
}

/* A grid of tiles in one row: each side is a size of its own. */
static void fit_ceils(struct search *search)
{
    const struct export_fit *fit = search->fit;
    struct terms pieces = {0};
    add_products(search, TUNABLES, 1, &pieces);
    add_quotients(search, &pieces);
    for (size_t t = 0, count = pieces.count; t < count; t++)
        for (double factor = 2; factor <= 256; factor *= 2) {
            struct export_term term = pieces.list[t];
            term.factor = factor;
            add_term(&pieces, term);
        }
    for (unsigned i = 0; i < fit->atom_count; i++)
        for (unsigned k = i + 1; k < fit->atom_count; k++)
            for (size_t p = 0; p < pieces.count * pieces.count; p++) {
                struct export_expression e = {
                    .form = EXPORT_CEILS,
                    .a = {.factor = 1, .over = {(unsigned char)i}, .over_count = 1},
                    .b = pieces.list[p / pieces.count],
                    .c = {.factor = 1, .over = {(unsigned char)k}, .over_count = 1},
                    .d = pieces.list[p % pieces.count]};
                if (!search->usable[i] || !search->usable[k] || fit->atom[i].kind != EXPORT_SIZE ||
                    fit->atom[k].kind != EXPORT_SIZE)
                    break;
                consider(search, &e);
            }
    free(pieces.list);
}

/* All forms -------------------------------------------------------------------------------------*/

/* Is it positive in all samples, and different in some? */
static void look_at(const struct search *search, unsigned atom, bool *positive, bool *varies)
{
    const double *value = search->fit->atom[atom].value;
    *positive = true;
    *varies = false;
    for (unsigned s = 0; s < samples_of(search); s++) {
        *positive &= value[s] > 0;
        *varies |= value[s] != value[0];
    }
}

static bool fit_forms(struct search *search, bool sizes)
{
    unsigned kinds = sizes ? 1 << EXPORT_SIZE | 1 << EXPORT_SIZE_SUM : ~0u;
    fit_product(search, kinds);
    if (!search->found)
        fit_affine(search, kinds);
    if (!search->found && !sizes)
        fit_sum(search);
    if (!search->found && !sizes)
        fit_ceil(search, NULL);
    if (!search->found && !sizes)
        fit_limited(search);
    if (!search->found && !sizes)
        fit_ceils(search);
    return search->found;
}

bool export_fit(const struct export_fit *fit, const double *value, enum export_fit_with with,
                struct export_expression *expression)
{
    struct search search = {.fit = fit, .value = value};
    bool constant = true, found = false;
    for (unsigned s = 0; s < fit->sample_count; s++)
        constant &= value[s] == value[0];
    *expression = (struct export_expression){.a = {.factor = value[0]}};
    if (constant)
        return true;
    /* With names that vary; if that is not enough, with tunables of which only one value is known.
     */
    for (unsigned round = 0; round < 2 && !found; round++) {
        for (unsigned i = 0; i < fit->atom_count; i++) {
            bool positive, varies;
            look_at(&search, i, &positive, &varies);
            search.usable[i] =
                positive && (varies || (round == 1 && fit->atom[i].kind == EXPORT_TUNABLE));
        }
        found = fit_forms(&search, with == EXPORT_FIT_SIZES);
    }
    if (found)
        *expression = search.best;
    return found;
}
