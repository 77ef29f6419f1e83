/*
 * values.c: the numbers in an exercise's inputs; see values.h.
 */
#include "learn/values.h"

#include "learn/problem.h"

#include <math.h>
#include <string.h>

/* A float, in quarters. Those of listed sizes are between -8 and 8, all alike: easy to follow.
 * Drawn ones are mostly small, so that the few larger ones, one of `rare`, count wherever they are,
 * and an eighth of them are zeros, 32 in a row; not the first, which may be all that there are. */
enum { RUNS_OF_ZEROS = 8, LOW_ROWS = 4, RARE = 24 };
static double quarters(uint64_t seed, unsigned stream, size_t rare, size_t i)
{
    uint64_t random = zoo_random(seed, stream, i);
    double value = (double)(random % 64) - 32;
    if (seed == LESSON_LISTED_SEED)
        return value;
    if (i >= VALUES_RUN && zoo_random(~seed, stream, i / VALUES_RUN) % RUNS_OF_ZEROS == 0)
        return 0;
    return (random >> 32) % rare == 0 ? value : (double)(random % 16) - 8;
}

/* Quarters between -8 and 8 fit a kernel that counts in whole quarters, keeps its sums in 16 bits
 * or looks results up in a table of 64. So drawn values are changed, by what the reference allows:
 *
 * FINE: results are rounded, and compared with a tolerance; or the lesson asks for it. Each number
 * but 0 becomes a little larger, and no two are alike.
 *
 * LOW and LOUD: sums and products alone, which are exact in f32 in every order and have to stay so.
 * LOW: a quarter of the rows lie below -8, so that nothing can be taken for a lower bound.
 * LOUD: one input of the measured size, and the next one of the drawn size near it. An eighth of
 * its numbers have one bit more than f16 and TF32 hold, and the rest of a sum is lost beside them
 * unless f32 keeps it. All of them are scaled by a power of two: down at the measured size, so that
 * a quarter is no unit there, and up (f16 apart) at the one near it, so that nothing is a bound.
 *
 * DEEP, DEEP_FEW: numbers that use all 24 bits of an f32, in the second drawn size, so that nothing
 * may be cut to 16 or 20 of them. Copies and element by element: all numbers. Plain sums: a few of
 * one input, zeros between them and all else in quarters; with more terms, or long ones, the order
 * of additions would show.
 *
 * SPECIAL: those of copies, with NaN, infinities, -0 and the smallest and largest numbers among
 * them.
 *
 * SKEWED: whole numbers, many of which are alike in some stretches, so that a count of them is
 * high. */
#define ROUGH_TOLERANCE 2e-6

static unsigned loud_bits(enum zoo_type type)
{
    return type == ZOO_F32 || type == ZOO_F64 ? 12
           : type == ZOO_F16                  ? 11
           : type == ZOO_BF16                 ? 8
                                              : 0;
}

static enum values_change deep(const struct learn_problem *problem, unsigned size, unsigned buffer)
{
    unsigned inputs = 0, before = 0;
    for (unsigned i = 0; i < problem->buffer_count; i++) {
        bool is_one = problem->buffer[i].role != ZOO_OUT && problem->buffer[i].type == ZOO_F32;
        inputs += is_one;
        before += is_one && i < buffer;
    }
    if (problem->buffer[buffer].type != ZOO_F32)
        return UNCHANGED;
    return problem->is_copy                         ? SPECIAL
           : !problem->has_sums                     ? DEEP
           : before == problem->seed[size] % inputs ? DEEP_FEW
                                                    : UNCHANGED;
}

static bool is_whole(enum zoo_type type)
{
    return type == ZOO_U32 || type == ZOO_I32;
}

enum values_change values_change(const struct learn_problem *problem, unsigned size,
                                 unsigned buffer)
{
    unsigned inputs = 0, before = 0;
    if (problem->seed[size] == LESSON_LISTED_SEED || problem->buffer[buffer].role == ZOO_OUT)
        return UNCHANGED;
    if (is_whole(problem->buffer[buffer].type))
        return size > problem->listed ? SKEWED : UNCHANGED;
    if (!problem->is_exact)
        return (problem->tolerance > ROUGH_TOLERANCE || problem->buffer[buffer].is_fine) &&
                       problem->buffer[buffer].type == ZOO_F32
                   ? FINE
                   : UNCHANGED;
    for (unsigned i = 0; i < problem->buffer_count; i++) {
        bool is_one = problem->buffer[i].role != ZOO_OUT && loud_bits(problem->buffer[i].type);
        inputs += is_one;
        before += is_one && i < buffer;
    }
    if (!loud_bits(problem->buffer[buffer].type) || size >= problem->first_far)
        return UNCHANGED; /* sums are long there, and have to stay exact */
    if (size == problem->listed + 1 && (!problem->has_sums || problem->is_plain))
        return deep(problem, size, buffer);
    bool may_be = size == problem->measured || size == problem->listed;
    return may_be && before == problem->seed[size] % inputs
               ? (size == problem->measured ? LOUD_DOWN : LOUD_UP)
               : LOW;
}

/* Four of the longest extent, one in each of its quarters; they differ from row to row. */
enum { DEEP_APART = 24 };
static double deep_number(enum values_change how, uint64_t seed, unsigned stream, size_t longest,
                          size_t i)
{
    size_t apart = longest / 4 > DEEP_APART ? longest / 4 : DEEP_APART;
    if (how == DEEP_FEW && zoo_random(seed ^ 0x10f, stream, i / apart) % apart != i % apart)
        return 0;
    uint64_t random = zoo_random(seed ^ 0x110, stream, i);
    double value =
        (double)((random % (1 << 23) + (1 << 23)) | 1) / (1 << 24); /* every bit counts */
    return random >> 32 & 1 ? -value : value; /* in quarters: below a quarter */
}

static double changed(enum values_change how, enum zoo_type type, uint64_t seed, unsigned stream,
                      size_t row, size_t i, double quarters)
{
    uint64_t random = zoo_random(seed ^ 0x10d, stream, i);
    if (how == FINE && quarters != 0)
        return quarters + (double)(random % 4096) / 16384;
    if (how == LOW && zoo_random(seed ^ 0x10e, stream, i / row) % LOW_ROWS == 0)
        return quarters - 64;
    if (how != LOUD_DOWN && how != LOUD_UP)
        return quarters;
    uint64_t half = (uint64_t)1 << (loud_bits(type) - 1);
    uint64_t odd = (half + random / 16 % half) | 1; /* every bit counts */
    double value = (double)odd;
    double power =
        how == LOUD_UP && type != ZOO_F16 ? 64 << seed / 8 % 4 : 1.0 / (16 << seed / 8 % 4);
    return (random % 8 ? quarters : random / 8 % 2 ? -value : value) * power;
}

/* Three rows of four lie above or below 0 by the buffer's mean, and spread evenly: how far a
 * rounded mean may be off is then known. Rows that are very short or long would show the rounding
 * of a right sum. */
enum { SHORT_ROW = 16, LONG_ROW = 128 };
static void put_mean(const struct learn_buffer *buffer, enum values_change how, uint64_t seed,
                     unsigned stream, size_t row, size_t i, double *value)
{
    uint64_t random = zoo_random(seed ^ 0x10c, stream, i / row) % 4;
    if (how != FINE || buffer->mean == 0 || row < SHORT_ROW || row > LONG_ROW || random == 0)
        return;
    double spread = (double)(zoo_random(seed, stream, i) % 65536) / 16384 - 2;
    *value = (random == 1 ? -buffer->mean : buffer->mean) + spread;
}

/* A quarter of the rows: the largest code times a power of two, anywhere, and numbers that lie on
 * codes of that scale, half-way between two, or at another quarter. */
enum { TIES_ROWS = 4, BYTE_CODES = 100 };
static void put_ties(const struct learn_buffer *buffer, enum values_change how, uint64_t seed,
                     unsigned stream, size_t row, size_t i, double *value)
{
    uint64_t of_row = zoo_random(seed ^ 0x10b, stream, i / row);
    if (how != FINE || buffer->ties == 0 || of_row % TIES_ROWS != 0)
        return;
    unsigned grids = buffer->ties < BYTE_CODES ? 2 : 6; /* a code of many steps has wide ones too */
    double unit = exp2((double)(of_row / 16 % 8) - 4),
           grid = exp2((double)(of_row / 128 % grids)) / 4;
    double steps = 2 * floor(buffer->ties / grid) + 1;
    double at = floor((double)(zoo_random(seed, stream, i) % (1 << 20)) / (1 << 20) * steps);
    bool is_largest = i % row == of_row / 1024 % row;
    *value = (is_largest ? buffer->ties : (at - floor(steps / 2)) * grid) * unit;
}

/* What a copy keeps to the last bit. */
static double special(uint64_t random)
{
    static const double numbers[] = {NAN,   INFINITY, -INFINITY,    -0.0,
                                     1e-42, -1e-40,   3.4028234e38, 1e-37};
    return numbers[random % (sizeof numbers / sizeof *numbers)];
}

/* A whole number. Bytes of drawn sizes are all of them, since packed codes use every bit; others
 * are from 0 to 63, or from -32 to 31. SKEWED: see above. */
enum { ALIKE = 1024 };
static double whole(enum zoo_type type, enum values_change how, uint64_t seed, unsigned stream,
                    size_t i)
{
    bool is_byte = type == ZOO_U8 || type == ZOO_S8,
         is_unsigned = type == ZOO_U32 || type == ZOO_U8;
    unsigned values = is_byte && seed != LESSON_LISTED_SEED ? 256 : 64;
    uint64_t random = zoo_random(seed, stream, i);
    if (how == SKEWED && random >> 32 & 7 && zoo_random(~seed, stream, i / ALIKE) % 4 == 0)
        random = i / ALIKE;
    double value = (double)(random % values);
    return is_unsigned ? value : value - (double)values / 2;
}

void values_fill(const struct learn_buffer *buffer, uint64_t seed, unsigned stream,
                 enum values_change how, size_t row, size_t longest, void *data, size_t count)
{
    enum zoo_type type = buffer->type;
    bool is_float = type == ZOO_F32 || type == ZOO_F64 || type == ZOO_F16 || type == ZOO_BF16 ||
                    type == ZOO_E4M3 || type == ZOO_E5M2;
    size_t rare =
        row / 2 > RARE ? row / 2 : RARE; /* in a long row a few, which may be at its end */
    for (size_t i = 0; i < count; i++) {
        if (how == SPECIAL && zoo_random(seed ^ 0x115, stream, i) % 8 == 0) {
            zoo_put(type, data, i, special(zoo_random(seed ^ 0x116, stream, i)));
            continue;
        }
        if (how == DEEP || how == DEEP_FEW || how == SPECIAL) {
            zoo_put(type, data, i, deep_number(how, seed, stream, longest, i) / 4 * buffer->times);
            continue;
        }
        double value =
            is_float ? quarters(seed, stream, rare, i) : whole(type, how, seed, stream, i);
        if (is_float && how != UNCHANGED)
            value = changed(how, type, seed, stream, row, i, value);
        value = (is_float ? value / 4 : value) * buffer->times;
        put_ties(buffer, how, seed, stream, row, i, &value);
        put_mean(buffer, how, seed, stream, row, i, &value);
        zoo_put(type, data, i, value);
    }
}

/* Numbers of a large buffer are the same ones again and again. A prime, so that rows differ. */
#define PERIOD ((size_t)65521)

void problem_fill(const struct learn_problem *problem, unsigned size, unsigned buffer, size_t count,
                  void *data)
{
    const struct learn_buffer *of = &problem->buffer[buffer];
    size_t bytes = zoo_type_bytes[of->type], filled = count < PERIOD ? count : PERIOD;
    values_fill(of, problem->seed[size] + 1, buffer, UNCHANGED, VALUES_RUN, VALUES_RUN, data,
                filled);
    for (size_t at = filled; at < count; at += PERIOD)
        memcpy((char *)data + at * bytes, data,
               bytes * (count - at < PERIOD ? count - at : PERIOD));
}
