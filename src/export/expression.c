/*
 * expression.c: expressions: their values, their text and their names; see fit.h.
 */
#include "export/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Values and text -------------------------------------------------------------------------------*/

double export_real_value(const struct export_fit *fit, const struct export_term *term,
                         unsigned sample)
{
    double value = term->factor;
    for (unsigned i = 0; i < term->over_count; i++)
        value *= fit->atom[term->over[i]].value[sample];
    for (unsigned i = 0; i < term->under_count; i++)
        value /= fit->atom[term->under[i]].value[sample];
    return value + term->plus;
}

/* A little more: a third of three thirds is one. */
double export_term_value(const struct export_fit *fit, const struct export_term *term,
                         unsigned sample)
{
    return floor(export_real_value(fit, term, sample) + 1e-6);
}

double export_value(const struct export_fit *fit, const struct export_expression *e,
                    unsigned sample)
{
    double a = export_term_value(fit, &e->a, sample);
    if (e->form == EXPORT_TERM)
        return a;
    if (e->form == EXPORT_SUM)
        return a + export_term_value(fit, &e->b, sample);
    double parts = ceil(a / export_term_value(fit, &e->b, sample)),
           c = export_term_value(fit, &e->c, sample);
    switch (e->form) {
    case EXPORT_CEILS:
        return parts * ceil(c / export_term_value(fit, &e->d, sample));
    case EXPORT_LIMITED:
        return fmin(parts, c);
    default:
        return parts;
    }
}

static void print_term(const struct export_fit *fit, const struct export_term *term,
                       struct lk_buf *text)
{
    double over = term->factor, under = 1; /* 33 / 8 */
    while (over != floor(over) && under < 1024) {
        over *= 2;
        under *= 2;
    }
    bool has_factor = term->over_count == 0 || over > 1;
    if (has_factor)
        lk_buf_printf(text, "%.0f", over);
    for (unsigned i = 0; i < term->over_count; i++)
        lk_buf_printf(text, "%s%s", i || has_factor ? " * " : "", fit->atom[term->over[i]].name);
    for (unsigned i = 0; i < term->under_count; i++)
        lk_buf_printf(text, " / %s", fit->atom[term->under[i]].name);
    if (under > 1)
        lk_buf_printf(text, " / %.0f", under);
    if (term->plus != 0)
        lk_buf_printf(text, " %c %.0f", term->plus < 0 ? '-' : '+', fabs(term->plus));
}

/* As an argument, without parentheses around all of it. */
static void print_argument(const struct export_fit *fit, const struct export_term *term,
                           struct lk_buf *text)
{
    struct lk_buf whole = {0};
    print_term(fit, term, &whole);
    if (whole.data[0] == '(' && strchr(whole.data, ')') == whole.data + whole.size - 1)
        lk_buf_add(text, whole.data + 1, whole.size - 2);
    else
        lk_buf_add(text, whole.data, whole.size);
    lk_buf_free(&whole);
}

static void print_ceil(const struct export_fit *fit, const struct export_term *a,
                       const struct export_term *b, struct lk_buf *text)
{
    if (b->over_count + b->under_count == 0 && b->factor == 1) {
        print_argument(fit, a, text);
        return;
    }
    lk_buf_printf(text, "ceil_div(");
    print_argument(fit, a, text);
    lk_buf_printf(text, ", ");
    print_argument(fit, b, text);
    lk_buf_printf(text, ")");
}

void export_print(const struct export_fit *fit, const struct export_expression *e,
                  struct lk_buf *text)
{
    switch (e->form) {
    case EXPORT_TERM:
        print_term(fit, &e->a, text);
        break;
    case EXPORT_SUM:
        print_term(fit, &e->a, text);
        lk_buf_printf(text, " + ");
        print_term(fit, &e->b, text);
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
        print_argument(fit, &e->c, text);
        lk_buf_printf(text, ")");
        break;
    }
}

/* Names -----------------------------------------------------------------------------------------*/

struct export_atom *export_add_atom(struct export_fit *fit, enum export_atom_kind kind,
                                    const char *name)
{
    if (fit->atom_count == EXPORT_ATOMS || strlen(name) >= sizeof fit->atom[0].name)
        return NULL;
    struct export_atom *atom = &fit->atom[fit->atom_count++];
    atom->kind = kind;
    snprintf(atom->name, sizeof atom->name, "%s", name);
    return atom;
}

static bool same_expression(const struct export_fit *fit, const struct export_expression *a,
                            const struct export_expression *b)
{
    struct lk_buf of_a = {0}, of_b = {0};
    export_print(fit, a, &of_a);
    export_print(fit, b, &of_b);
    bool same = strcmp(of_a.data, of_b.data) == 0;
    lk_buf_free(&of_a);
    lk_buf_free(&of_b);
    return same;
}

int export_name_of(const struct export_fit *fit, const struct export_expression *expression)
{
    for (unsigned i = fit->named; i < fit->atom_count; i++)
        if (same_expression(fit, &fit->atom[i].meaning, expression))
            return (int)i;
    return -1;
}

static void set_values(struct export_fit *fit, struct export_atom *atom)
{
    for (unsigned s = 0; s < fit->sample_count; s++)
        atom->value[s] = export_value(fit, &atom->meaning, s);
}

void export_name(struct export_fit *fit, const struct export_expression *expression)
{
    char name[24];
    if (export_name_of(fit, expression) >= 0)
        return;
    snprintf(name, sizeof name, "count_%u", fit->atom_count);
    struct export_atom *atom = export_add_atom(fit, EXPORT_COUNT, name);
    if (!atom)
        return;
    atom->meaning = *expression;
    set_values(fit, atom);
}

void export_set_named(struct export_fit *fit)
{
    for (unsigned i = fit->named; i < fit->atom_count; i++)
        set_values(fit, &fit->atom[i]);
}

double export_piece(const struct export_fit *fit, unsigned atom)
{
    return export_term_value(fit, &fit->atom[atom].meaning.b, 0);
}

void export_mark(const struct export_fit *fit, const struct export_expression *expression,
                 bool *used)
{
    const struct export_term *terms[] = {&expression->a, &expression->b, &expression->c,
                                         &expression->d};
    for (unsigned t = 0; t < 4; t++) {
        for (unsigned i = 0; i < terms[t]->over_count; i++) {
            unsigned atom = terms[t]->over[i];
            used[atom] = true;
            if (fit->atom[atom].kind == EXPORT_COUNT)
                export_mark(fit, &fit->atom[atom].meaning, used);
        }
        for (unsigned i = 0; i < terms[t]->under_count; i++)
            used[terms[t]->under[i]] = true;
    }
    int name = expression->form <= EXPORT_SUM ? -1 : export_name_of(fit, expression);
    if (name >= 0)
        used[name] = true;
}
