/*
 * expression_tree.h: what a formula is once it is parsed: for expression.c, which parses and
 * evaluates it, and for peaks.c, which asks what a reference takes the largest of.
 */
#ifndef LOCKSTEP_LEARN_EXPRESSION_TREE_H
#define LOCKSTEP_LEARN_EXPRESSION_TREE_H

#include "learn/expression.h"

enum expression_kind { NUMBER, VARIABLE, ELEMENT, CALL, SUM, HIGHEST, BINARY, NOT, NEGATE, CHOOSE };

struct expression {
    enum expression_kind kind;
    int op;         /* BINARY: a token; CALL: a row of functions */
    double number;  /* NUMBER */
    unsigned which; /* VARIABLE, ELEMENT, SUM, HIGHEST: index of the name */
    unsigned count; /* of parts */
    struct expression *part[EXPRESSION_RANK];
};

/* Operators of two characters have codes above those of characters. */
enum expression_token { END = 0, NAME = 256, LITERAL, LE, GE, EQ, NE, AND, OR };

#endif
