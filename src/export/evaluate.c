/*
 * evaluate.c: expressions of C, of the few kinds that sizes are made of.
 */
#include "export/pieces.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *at;
    const struct export_constant *constants;
    unsigned count;
    enum export_arithmetic arithmetic;
    bool wrong;
};

static double choice(struct reader *reader);

static bool skip(struct reader *reader, char wanted)
{
    while (isspace((unsigned char)*reader->at))
        reader->at++;
    if (*reader->at != wanted)
        return false;
    reader->at++;
    return true;
}

static double rounded(const struct reader *reader, double value)
{
    return reader->arithmetic == EXPORT_SINGLE ? (double)(float)value : value;
}

static double name(struct reader *reader)
{
    size_t length = strspn(reader->at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    for (unsigned i = 0; i < reader->count; i++)
        if (strlen(reader->constants[i].name) == length &&
            strncmp(reader->constants[i].name, reader->at, length) == 0) {
            reader->at += length;
            return reader->constants[i].value;
        }
    reader->wrong = true;
    return 0;
}

static double number(struct reader *reader)
{
    char *end;
    double value = strtod(reader->at, &end);
    reader->wrong |= end == reader->at;
    reader->at = end + (*end == 'f');
    return value;
}

static double primary(struct reader *reader)
{
    if (skip(reader, '(')) {
        double value = choice(reader);
        reader->wrong |= !skip(reader, ')');
        return value;
    }
    if (skip(reader, '-'))
        return -primary(reader);
    if (strncmp(reader->at, "exp(", 4) == 0) {
        reader->at += 3;
        return exp(primary(reader));
    }
    return islower((unsigned char)*reader->at) ? name(reader) : number(reader);
}

static double product(struct reader *reader)
{
    double value = primary(reader);
    for (;;) {
        if (skip(reader, '*')) {
            value = rounded(reader, value * primary(reader));
        } else if (skip(reader, '/')) {
            double by = primary(reader);
            value = reader->arithmetic == EXPORT_WHOLE ? trunc(value / by)
                                                       : rounded(reader, value / by);
        } else {
            return value;
        }
    }
}

static double sum(struct reader *reader)
{
    double value = product(reader);
    for (;;) {
        if (skip(reader, '+'))
            value = rounded(reader, value + product(reader));
        else if (skip(reader, '-'))
            value = rounded(reader, value - product(reader));
        else
            return value;
    }
}

static double choice(struct reader *reader)
{
    double value = sum(reader);
    if (skip(reader, '<'))
        value = value < sum(reader);
    if (!skip(reader, '?'))
        return value;
    double yes = choice(reader);
    reader->wrong |= !skip(reader, ':');
    double no = choice(reader);
    return value != 0 ? yes : no;
}

bool export_evaluate(const char *text, const struct export_constant *constants, unsigned count,
                     enum export_arithmetic arithmetic, double *value)
{
    struct reader reader = {text, constants, count, arithmetic, false};
    *value = choice(&reader);
    skip(&reader, ' ');
    return !reader.wrong && *reader.at == '\0';
}
