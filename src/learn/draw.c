/*
 * draw.c: draws sizes from the ranges of a lesson's "hidden", or from what its listed sizes span:
 * whole numbers between a parameter's smallest and largest value, in steps of what divides all of
 * them, and no more work than the largest listed size; anything else is one of the listed values.
 * The last of these goes beyond the largest listed value, in one extent. Behind them come far
 * sizes: one for each extent, which is 2 to 16 times the largest listed value there, as far as the
 * machine's time allows.
 */
#include "learn/draw.h"

#include "learn/peaks.h"
#include "learn/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

struct range {
    double least, most, step;
    bool is_choice; /* one of the listed values, because they have no common step */
};

#define FAR_PART 8.0
enum { MOST_TURNS = 16 }; /* draws that may be in vain, because they are there already */

struct draw {
    struct lk_arena *arena;
    struct learn_problem *problem;
    uint64_t state;
    struct range range[EXPRESSION_VARIABLES];
    unsigned count;      /* of parameters */
    double instructions; /* of the solution's warps, at the measured size; 0: not known */
};

uint64_t draw_seed(void)
{
    uint32_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed = (uint32_t)time(NULL);
    return seed ? seed : 1;
}

static uint64_t next(struct draw *draw)
{
    draw->state += 0x9e3779b97f4a7c15u;
    uint64_t z = draw->state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static bool is_whole(double value)
{
    return value == floor(value) && fabs(value) < 1e15;
}

static double common_divisor(double a, double b)
{
    a = fabs(a);
    b = fabs(b);
    while (b > 0) {
        double rest = fmod(a, b);
        a = b;
        b = rest;
    }
    return a;
}

/* What the listed sizes say about a parameter. Quarters (alpha=2.5) are whole numbers of quarters.
 */
static struct range listed_range(const struct learn_problem *problem, unsigned parameter)
{
    struct range range = {INFINITY, -INFINITY, 0, false};
    for (unsigned i = 0; i < problem->listed; i++) {
        double value = problem->value[i][parameter];
        range.least = fmin(range.least, value);
        range.most = fmax(range.most, value);
        range.is_choice |= !is_whole(4 * value);
        range.step = common_divisor(range.step, 4 * value);
    }
    range.step = range.step > 0 ? range.step / 4 : 1;
    return range;
}

/* A product that grows as the kernel's work does. */
static double work_of(const struct draw *draw, const double *value)
{
    double work = 1;
    for (unsigned i = 0; i < draw->count; i++)
        if (is_whole(value[i]) && draw->range[i].least >= 0 && !draw->range[i].is_choice)
            work *= fmax(1, value[i]);
    return work;
}

/* In turn from the lower half of the range and from the upper three quarters: a kernel that is good
 * only from some size on, or up to one, hardly gets past both. */
static double draw_value(struct draw *draw, unsigned parameter, unsigned turn)
{
    const struct range *range = &draw->range[parameter];
    if (range->is_choice)
        return draw->problem->value[next(draw) % draw->problem->listed][parameter];
    uint64_t steps = (uint64_t)((range->most - range->least) / range->step + 0.5) + 1;
    uint64_t first = turn % 2 ? steps / 4 : 0, count = turn % 2 ? steps - first : (steps + 1) / 2;
    double value = range->least + range->step * (double)(first + next(draw) % count);
    return value == 0 && range->least < 0 ? range->most : value; /* 0 would hide a factor */
}

/* Of a range that a lesson gives for far sizes: an extent comes from its last eighth, so that
 * whatever ends before does not last; what is no larger than in the listed sizes may be anything.
 */
static double draw_far_value(struct draw *draw, unsigned parameter)
{
    struct range *range = &draw->range[parameter];
    double least = range->least;
    if (range->most > listed_range(draw->problem, parameter).most)
        range->least +=
            range->step * floor((range->most - range->least) / range->step * (1 - 1 / FAR_PART));
    double value = draw_value(draw, parameter, 1);
    range->least = least;
    return value;
}

static double largest_work(const struct draw *draw)
{
    double most = 0;
    for (unsigned i = 0; i < draw->problem->listed; i++)
        most = fmax(most, work_of(draw, draw->problem->value[i]));
    return most;
}

/* Largest parameters but `kept` are halved until the work is no more than `most`. */
static void reduce(const struct draw *draw, double *value, unsigned kept, double most)
{
    for (unsigned turn = 0; turn < 64 && work_of(draw, value) > most; turn++) {
        unsigned largest = draw->count;
        for (unsigned i = 0; i < draw->count; i++) {
            const struct range *range = &draw->range[i];
            if (i != kept && !range->is_choice && is_whole(value[i]) &&
                value[i] - range->step >= range->least &&
                (largest == draw->count || value[i] > value[largest]))
                largest = i;
        }
        if (largest == draw->count)
            return;
        const struct range *range = &draw->range[largest];
        double half =
            range->least + range->step * floor((value[largest] - range->least) / range->step / 2);
        value[largest] = half;
    }
}

/* Does it say how large a buffer is? A scale or a tile does not. In a family, all that have more
 * than one value are taken for extents. */
static bool is_extent(const struct draw *draw, unsigned parameter)
{
    const struct learn_problem *problem = draw->problem;
    const double *value = problem->value[problem->measured];
    if (problem->family)
        return true;
    for (unsigned b = 0; b < problem->buffer_count; b++)
        for (unsigned i = 0; i < problem->buffer[b].rank; i++) {
            struct expression_state one = {0}, other;
            memcpy(one.variable, value, sizeof one.variable);
            other = one;
            other.variable[parameter] += 16 * draw->range[parameter].step;
            if (expression_eval(problem->buffer[b].extent[i], &one) !=
                expression_eval(problem->buffer[b].extent[i], &other))
                return true;
        }
    return false;
}

/* Extents that vary; their number. */
static unsigned find_extents(const struct draw *draw, unsigned *extent)
{
    unsigned count = 0;
    for (unsigned i = 0; i < draw->count; i++) {
        const struct range *range = &draw->range[i];
        if (!range->is_choice && is_whole(range->step) && range->least >= 0 &&
            range->least < range->most && is_extent(draw, i))
            extent[count++] = i;
    }
    return count;
}

/* One extent becomes up to a quarter larger than the largest listed, so that a kernel cannot end
 * where the listed sizes do. Which one; draw->count if there is none. */
static unsigned go_beyond(struct draw *draw, double *value)
{
    unsigned extent[EXPRESSION_VARIABLES], count = find_extents(draw, extent);
    if (!count)
        return draw->count;
    unsigned chosen = extent[next(draw) % count];
    const struct range *range = &draw->range[chosen];
    uint64_t steps = (uint64_t)(range->most / range->step / 4);
    value[chosen] = range->most + range->step * (double)(1 + next(draw) % (steps ? steps : 1));
    return chosen;
}

/* Factors that are quarters come a little above them, beside numbers of all 24 bits (values.c): no
 * table of the usual ones has them. */
static void go_between(struct draw *draw, double *value)
{
    for (unsigned i = 0; i < draw->count; i++)
        if (!draw->range[i].is_choice && !is_whole(draw->range[i].step))
            value[i] += (double)(1 + 2 * (next(draw) % 31)) / 256;
}

/* Factors that are one of a few listed values become 2 or 4 times the largest of them, which is
 * exact: none can be taken for a bound, or for 1. */
static void go_louder(struct draw *draw, double *value)
{
    double times = 2 << next(draw) % 2;
    for (unsigned i = 0; i < draw->count; i++)
        if (draw->range[i].is_choice)
            value[i] = times * draw->range[i].most;
}

/* A family's enumerations have words for their values. */
static const char *print_line(const struct draw *draw, const double *value)
{
    const struct zoo_family *family = draw->problem->family;
    struct lk_buf line = {0};
    for (unsigned i = 0; i < draw->count; i++) {
        lk_buf_printf(&line, "%s%s=", i ? " " : "", draw->problem->names.variable[i]);
        if (family && family->parameters[i].words)
            lk_buf_printf(&line, "%s", family->parameters[i].words[(int)value[i]]);
        else
            lk_buf_printf(&line, "%.10g", value[i]);
    }
    const char *kept = lk_arena_printf(draw->arena, "%s", line.data);
    lk_buf_free(&line);
    return kept;
}

/* False if the line is one of those that are there, or is none of the family's problems. */
static bool add(struct draw *draw, const double *value, uint64_t seed)
{
    struct learn_problem *problem = draw->problem;
    struct lesson_reader reader = {.arena = draw->arena, .path = "drawn"};
    const char *line = print_line(draw, value);
    for (unsigned i = 0; i < problem->size_count; i++)
        if (memcmp(value, problem->value[i], draw->count * sizeof *value) == 0)
            return false;
    if (!lesson_add_size(&reader, problem, line)) {
        free(reader.error);
        return false;
    }
    unsigned size = problem->size_count - 1;
    problem->seed[size] = problem->instance[size].seed = seed;
    return true;
}

/* Three quarters to all of the measured size, in each parameter that varies. */
static void add_near(struct draw *draw, uint64_t seed)
{
    struct learn_problem *problem = draw->problem;
    double value[EXPRESSION_VARIABLES];
    memcpy(value, problem->value[problem->measured], sizeof value);
    for (unsigned i = 0; i < draw->count; i++) {
        const struct range *range = &draw->range[i];
        if (range->is_choice || !is_whole(value[i]) || range->least < 0 ||
            range->least == range->most)
            continue;
        double part = 0.75 + 0.25 * (double)(next(draw) % 1000) / 1000;
        double smaller =
            range->least + range->step * floor((value[i] * part - range->least) / range->step);
        if (fmod(value[i], 16) == 0) /* a path for those, 16 bytes at a time, is no special case */
            while (smaller > range->least && fmod(smaller, 16) != 0)
                smaller -= range->step;
        value[i] = fmax(range->least, fmin(value[i], smaller));
    }
    add(draw, value, seed);
}

/* strtod would take the first dot of "1..3000" for its own. */
static double read_number(const char *at, char **end)
{
    char digits[32];
    size_t length = 0;
    while (length < sizeof digits - 1 &&
           (strchr("+-0123456789", at[length]) || (at[length] == '.' && at[length + 1] != '.')) &&
           at[length])
        length++;
    snprintf(digits, sizeof digits, "%.*s", (int)length, at);
    double value = strtod(digits, end);
    bool whole = length && !**end;
    *end = (char *)at + (whole ? length : 0);
    return value;
}

/* "n=1..3000 alpha=0.5|2 k=16..64:16", over what the listed sizes say. */
static bool read_ranges(struct draw *draw, const char *line, char **message)
{
    for (const char *at = line; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, "= ");
        unsigned i = 0;
        char *end;
        while (i < draw->count && (strlen(draw->problem->names.variable[i]) != length ||
                                   strncmp(draw->problem->names.variable[i], at, length) != 0))
            i++;
        if (i == draw->count || at[length] != '=') {
            *message = lk_format("\"hidden\": '%s' must have ranges of the sizes' parameters, as "
                                 "in 'n=1..3000 k=16..64:16'",
                                 line);
            return false;
        }
        struct range range = {.step = 1};
        range.least = range.most = read_number(at + length + 1, &end);
        for (uint64_t seen = 2; *end == '|'; seen++) { /* one of these, each as likely */
            double other = read_number(end + 1, &end);
            if (next(draw) % seen == 0)
                range.least = range.most = other;
        }
        if (strncmp(end, "..", 2) == 0)
            range.most = read_number(end + 2, &end);
        if (*end == ':')
            range.step = read_number(end + 1, &end);
        if (end == at + length + 1 || (*end && *end != ' ') || !(range.step > 0) ||
            range.most < range.least) {
            *message = lk_format("\"hidden\": '%s' is no range: '%s'",
                                 draw->problem->names.variable[i], line);
            return false;
        }
        draw->range[i] = range;
        at = end;
    }
    return true;
}

/* The ranges of a line of the lesson's "hidden" or "far", over those that the listed sizes span. */
static bool take_ranges(struct draw *draw, json_t *lines, size_t number, char **message)
{
    for (unsigned i = 0; i < draw->count; i++)
        draw->range[i] = listed_range(draw->problem, i);
    if (!lines)
        return true;
    const char *line = json_string_value(json_array_get(lines, number));
    if (line)
        return read_ranges(draw, line, message);
    *message = lk_format("\"hidden\" and \"far\" must be lists of texts such as \"n=1..3000\"");
    return false;
}

static bool choose_ranges(struct draw *draw, char **message)
{
    size_t lines = json_array_size(draw->problem->hidden);
    return take_ranges(draw, draw->problem->hidden, lines ? next(draw) % lines : 0, message);
}

/* For a size near the measured one: of several lines that which it is of, for what depends on each
 * other in one line need not fit in another. */
static bool choose_measured(struct draw *draw, char **message)
{
    size_t lines = json_array_size(draw->problem->hidden);
    const double *value = draw->problem->value[draw->problem->measured];
    for (size_t line = 0; lines > 1 && line < lines; line++) {
        if (!take_ranges(draw, draw->problem->hidden, line, message))
            return false;
        bool holds = true;
        for (unsigned i = 0; i < draw->count; i++)
            holds &= value[i] >= draw->range[i].least && value[i] <= draw->range[i].most;
        if (holds)
            return true;
    }
    return choose_ranges(draw, message);
}

/* Far sizes -----------------------------------------------------------------------------------*/

/* The most work of a far size: what takes the solution so many instructions of warps, some
 * hundredths of a second. Where nobody knows what it takes: twice the largest listed size's. */
#define FAR_INSTRUCTIONS 100000.0

static double far_work(const struct draw *draw)
{
    const struct learn_problem *problem = draw->problem;
    return draw->instructions > 0 ? FAR_INSTRUCTIONS / draw->instructions *
                                        work_of(draw, problem->value[problem->measured])
                                  : 2 * largest_work(draw);
}

/* 8 to 16 times the largest listed value; less where that is too much work with all other
 * parameters at their least. turn 1: others are large too, and the work is the most that is
 * affordable, so that an index of 16 bits does not last. */
static void add_far(struct draw *draw, unsigned extent, unsigned turn, uint64_t seed)
{
    const struct range *range = &draw->range[extent];
    double value[EXPRESSION_VARIABLES] = {0}, most = far_work(draw);
    for (unsigned i = 0; i < draw->count; i++)
        value[i] = draw_value(draw, i, turn);
    double factor = exp2(3 + (double)(next(draw) % 1000) / 1000);
    value[extent] = range->step * floor(range->most * factor / range->step) +
                    range->step * (double)(next(draw) % 7);
    reduce(draw, value, extent, most);
    double over = work_of(draw, value) / most;
    if (turn && over < 1)
        value[extent] = fmin(16 * range->most - range->step * (double)(next(draw) % 31),
                             range->step * floor(value[extent] / over / range->step));
    if (over > 1)
        value[extent] = range->step * floor(value[extent] / over / range->step);
    value[extent] = fmax(value[extent], range->most + range->step);
    add(draw, value, seed);
}

/* A lesson with ranges of its own gives those of far sizes too, since parameters depend on each
 * other there or have a largest value: one size for each line of "far". */
static bool add_far_line(struct draw *draw, size_t line, uint64_t seed, char **message)
{
    double value[EXPRESSION_VARIABLES] = {0};
    if (!take_ranges(draw, draw->problem->far, line, message))
        return false;
    for (unsigned i = 0; i < draw->count; i++)
        value[i] = draw_far_value(draw, i);
    add(draw, value, seed);
    return true;
}

static bool add_far_sizes(struct draw *draw, uint64_t seed, char **message)
{
    struct learn_problem *problem = draw->problem;
    unsigned extent[EXPRESSION_VARIABLES];
    problem->first_far = problem->size_count;
    if (problem->far) {
        for (size_t line = 0; line < json_array_size(problem->far) && line < LEARN_FAR; line++)
            if (!add_far_line(draw, line, seed + line, message))
                return false;
        return true;
    }
    if (problem->hidden)
        return true;
    unsigned count = find_extents(draw, extent);
    for (unsigned i = 0; i < count && i < LEARN_FAR; i++)
        add_far(draw, extent[i], i == 0, seed + i);
    return true;
}

/* Like a far size that is there, and a little smaller, so that it is another one. */
static bool add_like(struct draw *draw, unsigned from, uint64_t seed, char **message)
{
    struct learn_problem *problem = draw->problem;
    unsigned end = problem->size_count;
    for (unsigned turn = 0; turn < MOST_TURNS && problem->size_count == end; turn++) {
        double value[EXPRESSION_VARIABLES];
        memcpy(value, problem->value[from], sizeof value);
        for (unsigned i = 0; i < draw->count; i++)
            if (value[i] > draw->range[i].most)
                value[i] -= draw->range[i].step * (double)(turn + 1);
        if (!problem->far)
            add(draw, value, seed);
        else if (!add_far_line(draw, from - problem->first_far, seed, message))
            return false;
    }
    return true;
}

/* Where a largest value is taken, the far size with the most numbers to take it of comes twice
 * more, with peaks: peaks.h. */
static bool add_peaked(struct draw *draw, uint64_t seed, char **message)
{
    struct learn_problem *problem = draw->problem;
    unsigned end = problem->size_count, from = end;
    size_t longest = 0;
    for (unsigned i = problem->first_far; i < end; i++) {
        size_t length = peaks_length(problem, i);
        from = length > longest ? i : from;
        longest = length > longest ? length : longest;
    }
    if (from == end)
        return true;
    if (!add_like(draw, from, seed, message))
        return false;
    problem->peaked = problem->size_count > end ? end++ : 0;
    if (!add_like(draw, from, seed + 1, message))
        return false;
    problem->peaked_early = problem->size_count > end ? end : 0;
    return true;
}

bool draw_sizes(struct lk_arena *arena, struct learn_problem *problem, double instructions,
                uint64_t seed, char **message)
{
    struct draw draw = {.arena = arena,
                        .problem = problem,
                        .state = seed * 0x2545f4914f6cdd1du,
                        .instructions = instructions};
    draw.count = problem->names.variable_count;
    problem->size_count = problem->first_far = problem->listed;
    problem->peaked = problem->peaked_early = 0;
    seed += LESSON_LISTED_SEED; /* never the values of the listed sizes */
    problem->seed[problem->measured] = problem->instance[problem->measured].seed = seed;
    if (problem->hidden && json_array_size(problem->hidden) == 0)
        return true; /* "hidden": [] asks for none */
    if (!choose_measured(&draw, message))
        return false;
    add_near(&draw, seed + 1);
    for (unsigned turn = 0;
         turn < MOST_TURNS && problem->size_count < problem->listed + LEARN_DRAWN; turn++) {
        double value[EXPRESSION_VARIABLES] = {0};
        if (!choose_ranges(&draw, message))
            return false;
        for (unsigned i = 0; i < draw.count; i++)
            value[i] = draw_value(&draw, i, turn);
        unsigned kept = draw.count;
        if (!problem->hidden && problem->size_count == problem->listed + LEARN_DRAWN - 1)
            kept = go_beyond(&draw, value);
        if (!problem->hidden)
            reduce(&draw, value, kept, largest_work(&draw));
        if (problem->size_count == problem->listed + 1 && problem->is_exact && !problem->has_sums)
            go_between(&draw, value);
        if (problem->size_count == problem->listed + 2 && problem->is_exact && problem->has_sums)
            go_louder(&draw, value);
        add(&draw, value, seed + 2 + turn);
    }
    seed += 2 + MOST_TURNS;
    return add_far_sizes(&draw, seed, message) && add_peaked(&draw, seed + LEARN_FAR, message);
}
