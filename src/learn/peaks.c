/*
 * peaks.c: which numbers a reference takes the largest of, and what is done to them; see peaks.h.
 */
#include "learn/peaks.h"

#include "learn/expression_tree.h"
#include "learn/problem_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which numbers ---------------------------------------------------------------------------------*/

/* A buffer that highest(j, ..) reads at j: along which axis, and times what. */
struct ranked {
    bool found;
    unsigned axis;
    double factor;   /* with its sign; of a product of several buffers, of the others 1 */
    bool is_product; /* of it and another buffer */
};

struct search {
    const struct learn_problem *problem;
    struct expression_state state; /* the size's parameters */
    struct ranked ranked[ZOO_BUFFERS];
};

static bool mentions(const struct expression *tree, enum expression_kind kind, unsigned which)
{
    if (tree->kind == kind && (kind == ELEMENT || tree->which == which))
        return true;
    for (unsigned i = 0; i < EXPRESSION_RANK; i++)
        if (tree->part[i] && mentions(tree->part[i], kind, which))
            return true;
    return false;
}

static void follow(struct search *search, const struct expression *tree, unsigned variable,
                   double factor, bool is_product);

/* A buffer, or a step of the reference, whose own rule says what it is made of. */
static void follow_element(struct search *search, const struct expression *tree, unsigned variable,
                           double factor, bool is_product)
{
    const struct learn_problem *problem = search->problem;
    for (unsigned i = 0; i < tree->count; i++) {
        if (!mentions(tree->part[i], VARIABLE, variable))
            continue;
        if (tree->which < problem->buffer_count) {
            search->ranked[tree->which] = (struct ranked){true, i, factor, is_product};
        } else {
            const struct expression_rule *rule =
                &problem->step[tree->which - problem->buffer_count];
            follow(search, rule->value, rule->index[i], factor, is_product);
        }
    }
}

/* a * b or a / b: a number on the other side is part of the factor. */
static void follow_product(struct search *search, const struct expression *tree, unsigned variable,
                           double factor, bool is_product)
{
    for (unsigned side = 0; side < (tree->op == '*' ? 2 : 1); side++) {
        const struct expression *other = tree->part[1 - side];
        bool is_number = !mentions(other, ELEMENT, 0);
        double value = is_number ? expression_eval(other, &search->state) : 1;
        if (value == 0 || !isfinite(value))
            value = 1;
        follow(search, tree->part[side], variable,
               tree->op == '*' ? factor * value : factor / value, is_product || !is_number);
    }
}

static void follow(struct search *search, const struct expression *tree, unsigned variable,
                   double factor, bool is_product)
{
    if (tree->kind == ELEMENT) {
        follow_element(search, tree, variable, factor, is_product);
    } else if (tree->kind == BINARY && (tree->op == '*' || tree->op == '/')) {
        follow_product(search, tree, variable, factor, is_product);
    } else if (tree->kind != CALL || search->problem->has_exponentials) { /* not abs(x[j]) */
        bool is_minus = tree->kind == BINARY && tree->op == '-';
        unsigned first = tree->kind == CHOOSE || tree->kind == SUM || tree->kind == HIGHEST;
        for (unsigned i = first; i < EXPRESSION_RANK && tree->part[i]; i++)
            follow(search, tree->part[i], variable,
                   tree->kind == NEGATE || (is_minus && i == 1) ? -factor : factor, is_product);
    }
}

static void find_highest(struct search *search, const struct expression *tree)
{
    if (tree->kind == HIGHEST)
        follow(search, tree->part[1], tree->which, 1, false);
    for (unsigned i = 0; i < EXPRESSION_RANK; i++)
        if (tree->part[i])
            find_highest(search, tree->part[i]);
}

static bool search_all(struct search *search, const struct learn_problem *problem, unsigned size)
{
    if (problem->family)
        return false;
    *search = (struct search){.problem = problem, .state = problem_state(problem, size)};
    for (unsigned i = 0; i < problem->step_count; i++)
        find_highest(search, problem->step[i].value);
    for (unsigned i = 0; i < problem->rule_count; i++)
        find_highest(search, problem->rule[i].value);
    for (unsigned i = 0; i < problem->buffer_count; i++)
        if (search->ranked[i].found)
            return true;
    return false;
}

static bool extents(const struct learn_problem *problem, unsigned size, unsigned buffer,
                    size_t *extent)
{
    char *message = NULL;
    size_t count;
    bool fine = problem_extents(problem, size, buffer, extent, &count, &message);
    free(message);
    return fine;
}

size_t peaks_length(const struct learn_problem *problem, unsigned size)
{
    struct search search;
    size_t longest = 0, extent[EXPRESSION_RANK];
    if (!search_all(&search, problem, size))
        return 0;
    for (unsigned i = 0; i < problem->buffer_count; i++)
        if (search.ranked[i].found && extents(problem, size, i, extent) &&
            extent[search.ranked[i].axis] > longest)
            longest = extent[search.ranked[i].axis];
    return longest;
}

/* What is done to them --------------------------------------------------------------------------*/

/* What is compared is 2^26 to 2^28 below 0, 2^11 above the rest, or 2^7: exp(2^7) is beyond an f32.
 */
#define LOW_SCORE 67108864.0
#define LONE_SCORE 2048.0
#define TAIL_SCORE 96.0
/* LONE in a part of the row: LATE in the last eighth, where a TAIL begins too; EARLY in the first.
 */
enum kind { AS_IT_IS, LOW, LONE, LAST, LATE, EARLY, TAIL };
enum { PART = 8, ROWS = 8 };

/* A power of two that the factor makes at least so large; the factor's sign. */
static double lift(double factor, double score)
{
    return copysign(exp2(ceil(log2(score / fabs(factor)))), factor);
}

static size_t place_of(enum kind kind, uint64_t random, size_t length)
{
    size_t part = length / PART + 1;
    return kind == LONE    ? random % length
           : kind == LAST  ? length - 1
           : kind == EARLY ? random % part
                           : length - 1 - random % part;
}

/* A row of numbers, of which the largest is taken. No value of LOW, and none beside that of LONE,
 * is near enough to the largest to count, so that it does not matter how the scores are rounded. */
static void put_row(enum zoo_type type, enum kind kind, double factor, uint64_t seed, size_t length,
                    size_t first, void *data)
{
    uint64_t random = zoo_random(seed ^ 0x111, 0, first);
    if (kind == LOW)
        for (size_t i = 0; i < length; i++) {
            bool is_lower = zoo_random(seed ^ 0x112, 0, first + i) % 4 != 0;
            zoo_put(type, data, first + i, -lift(factor, LOW_SCORE) * (is_lower ? 2 : 1));
        }
    else if (kind != TAIL && kind != AS_IT_IS)
        zoo_put(type, data, first + place_of(kind, random, length), lift(factor, LONE_SCORE));
    else if (kind == TAIL) { /* sixteenths within 1: exact times the factor, and no outlier of the
                              beginning reaches the end */
        double up = copysign(ceil(TAIL_SCORE / fabs(factor)) + 2, factor);
        for (size_t i = 0, from = place_of(TAIL, random, length); i < length; i++) {
            double value = nearbyint(zoo_get(type, data, first + i) * 2) / 16;
            zoo_put(type, data, first + i, fmax(-1, fmin(1, value)) + (i < from ? 0 : up));
        }
    }
}

/* Lines that are multiplied by others and summed, as keys by queries. Two of them become a single
 * number at the same place, one above and one below 0: whatever the sign of the other's number
 * there, one product is the largest. A single number, so that its sum is not rounded. */
static void put_lines(enum zoo_type type, double number, bool is_one_sign, enum kind kind,
                      uint64_t seed, const size_t *extent, unsigned axis, unsigned rank, void *data)
{
    size_t length = extent[axis], stride = 1, place[2];
    for (unsigned i = axis + 1; i < rank; i++)
        stride *= extent[i];
    for (unsigned i = 0; i < 2; i++) {
        uint64_t random = zoo_random(seed ^ 0x113, 0, i);
        place[i] = place_of(kind == LATE && i ? LAST : kind, random, length);
    }
    for (unsigned i = 0; i < 2; i++) {
        for (size_t j = 0; j < stride; j++)
            zoo_put(type, data, place[i] * stride + j, 0);
        zoo_put(type, data, place[i] * stride + zoo_random(seed ^ 0x114, 0, 0) % stride,
                i && !is_one_sign ? -number : number);
    }
}

/* Sizes whose costs are compared stay as they are. Of the others each begins with something else,
 * for it may be of one row; further rows show the rest, and half of them stay as they are. */
static enum kind kind_of_row(const struct learn_problem *problem, unsigned size, size_t rows,
                             size_t row)
{
    static const enum kind drawn[ROWS] = {LOW, LONE, LATE, TAIL},
                           late[ROWS] = {TAIL, LAST, LATE, LONE, LOW},
                           early[ROWS] = {EARLY, LAST, EARLY, LATE, LOW};
    if (size == problem->peaked)
        return late[row % ROWS];
    if (size == problem->peaked_early)
        return early[row % ROWS];
    if (size < problem->first_far)
        return drawn[(row + size - problem->listed - 1) % ROWS];
    return rows > 1 ? drawn[(row + problem->seed[size]) % ROWS] : AS_IT_IS;
}

static enum kind kind_of_lines(const struct learn_problem *problem, unsigned size)
{
    return size == problem->peaked         ? LATE
           : size == problem->peaked_early ? EARLY
           : size == problem->listed + 2   ? LONE
                                           : AS_IT_IS;
}

void peaks_put(const struct learn_problem *problem, unsigned size, unsigned buffer, void *data,
               size_t count)
{
    struct search search;
    size_t extent[EXPRESSION_RANK];
    if (size <= problem->listed || count == 0 || !search_all(&search, problem, size) ||
        !search.ranked[buffer].found || !extents(problem, size, buffer, extent))
        return;
    const struct learn_buffer *of = &problem->buffer[buffer];
    const struct ranked *ranked = &search.ranked[buffer];
    uint64_t seed = problem->seed[size];
    if (!ranked->is_product && ranked->axis + 1 == of->rank) {
        size_t length = extent[ranked->axis], rows = count / length;
        for (size_t r = 0; r < rows; r++)
            put_row(of->type, kind_of_row(problem, size, rows, r), ranked->factor, seed, length,
                    r * length, data);
        return;
    }
    enum kind kind = kind_of_lines(problem, size);
    bool is_shared = false; /* a buffer with one number for each line makes them large */
    for (unsigned i = 0; i < problem->buffer_count; i++)
        is_shared |= search.ranked[i].found && problem->buffer[i].rank == 1;
    bool is_number = of->rank == 1;
    int exponent; /* a factor that rounds the products would show in sums that nothing divides */
    if (kind != AS_IT_IS && fabs(frexp(ranked->factor, &exponent)) == 0.5)
        put_lines(of->type, is_shared && !is_number ? 1 : lift(fabs(ranked->factor), LONE_SCORE),
                  is_number, kind, seed, extent, ranked->axis, of->rank, data);
}
