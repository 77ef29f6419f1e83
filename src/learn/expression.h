/*
 * expression.h: small formulas of lesson files: how many blocks ("ceil_div(n, 256)"), limits
 * ("8 * n"), and references ("c[i][j] = sum(p, k, a[i][p] * b[p][j])").
 *
 * Numbers are doubles. There are + - * / %, comparisons, && || !, a ? b : c, subscripts, and the
 * functions of expression.c's table; '/' is the division of real numbers and div(a, b) that of
 * whole ones. sum(p, count, term) adds term for p = 0 .. count - 1, and highest(p, count, term) is
 * the largest of them; e4m3(x) and its like round to a type of few bits. Nothing else can be done
 * with them, so a lesson from elsewhere is safe to grade with.
 */
#ifndef LOCKSTEP_LEARN_EXPRESSION_H
#define LOCKSTEP_LEARN_EXPRESSION_H

#include "base/arena.h"
#include "zoo/types.h"

#include <stdbool.h>

enum {
    EXPRESSION_VARIABLES = 24,
    EXPRESSION_ARRAYS = 20,
    EXPRESSION_RANK = 4,
    EXPRESSION_SEEN = 3
};

struct expression;
struct expression_rule;

/* What a formula may name. */
struct expression_names {
    const char *variable[EXPRESSION_VARIABLES];
    unsigned variable_count;
    const char *array[EXPRESSION_ARRAYS];
    unsigned rank[EXPRESSION_ARRAYS];
    unsigned array_count;
};

/* What the names stand for. */
struct expression_state;
struct expression_array {
    enum zoo_type type;
    const void *data;
    size_t extent[EXPRESSION_RANK];
    double (*compute)(struct expression_state *state, unsigned array, size_t at); /* or NULL */
    /* For compute: */
    const struct expression_rule *rule;
    unsigned rank;
    double last;
    size_t last_at; /* plus 1; 0: none yet */
};
struct expression_state {
    double variable[EXPRESSION_VARIABLES];
    struct expression_array array[EXPRESSION_ARRAYS];
    const char *error; /* set by expression_eval: a subscript out of range, too much work */
    uint64_t steps;    /* set to 0 by the caller; beyond EXPRESSION_STEPS it is an error */
    /* The first elements that were read, each once; seen_count and saw_others are set to 0 by the
     * caller. */
    struct expression_seen {
        unsigned array;
        size_t at; /* counted through all extents */
    } seen[EXPRESSION_SEEN];
    unsigned seen_count;
    bool saw_others; /* besides those */
};
#define EXPRESSION_STEPS 2000000000u

/* NULL and a malloc'd message with a caret if text cannot be parsed. */
struct expression *expression_parse(struct lk_arena *arena, const char *text,
                                    const struct expression_names *names, char **message);
double expression_eval(const struct expression *expression, struct expression_state *state);

/* "y[i] = formula": for each index of an array its value. */
struct expression_rule {
    unsigned array;                  /* what is defined */
    unsigned index[EXPRESSION_RANK]; /* variables that run over it */
    struct expression *value;
};
bool expression_parse_rule(struct lk_arena *arena, const char *text,
                           const struct expression_names *names, struct expression_rule *rule,
                           char **message);

#endif
