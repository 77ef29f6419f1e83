/*
 * expression.c: parses formulas by recursive descent into a tree, and evaluates the tree.
 */
#include "learn/expression.h"

#include "base/buf.h"
#include "learn/expression_tree.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Functions -------------------------------------------------------------------------------------*/

static double of_ceil_div(double a, double b)
{
    return ceil(a / b);
}
static double of_div(double a, double b)
{
    return trunc(a / b);
}
static double of_sqrt(double a, double unused)
{
    return sqrt(a);
}
static double of_exp(double a, double unused)
{
    return exp(a);
}
static double of_log(double a, double unused)
{
    return log(a);
}
static double of_abs(double a, double unused)
{
    return fabs(a);
}

static double of_floor(double a, double unused)
{
    return floor(a);
}
static double of_round(double a, double unused)
{
    return nearbyint(a); /* halves to the even neighbour, as GPUs round */
}

/* A number as the type of few bits keeps it. */
static double as_type(enum zoo_type type, double value)
{
    uint64_t bits = 0;
    zoo_put(type, &bits, 0, value);
    return zoo_get(type, &bits, 0);
}
#define AS_TYPE(name, type)                                                                        \
    static double of_##name(double a, double unused)                                               \
    {                                                                                              \
        return as_type(type, a);                                                                   \
    }
AS_TYPE(f32, ZOO_F32)
AS_TYPE(f16, ZOO_F16)
AS_TYPE(bf16, ZOO_BF16)
AS_TYPE(e4m3, ZOO_E4M3)
AS_TYPE(e5m2, ZOO_E5M2)
#undef AS_TYPE
/* FP4: 0 .5 1 1.5 2 3 4 6 and their negatives. Steps are 0.5 below 2, 1 below 4, then 2. */
static double of_e2m1(double a, double unused)
{
    double size = fmin(fabs(a), 6), step = size < 2 ? 0.5 : size < 4 ? 1 : 2;
    return copysign(nearbyint(size / step) * step, a);
}

static const struct {
    const char *name;
    unsigned count;
    double (*call)(double, double);
} functions[] = {{"ceil_div", 2, of_ceil_div},
                 {"div", 2, of_div},
                 {"min", 2, fmin},
                 {"max", 2, fmax},
                 {"sqrt", 1, of_sqrt},
                 {"exp", 1, of_exp},
                 {"abs", 1, of_abs},
                 {"log", 1, of_log},
                 {"floor", 1, of_floor},
                 {"round", 1, of_round},
                 {"f32", 1, of_f32},
                 {"f16", 1, of_f16},
                 {"bf16", 1, of_bf16},
                 {"e4m3", 1, of_e4m3},
                 {"e5m2", 1, of_e5m2},
                 {"e2m1", 1, of_e2m1}};
#define FUNCTIONS (sizeof functions / sizeof functions[0])

/* Tokens ----------------------------------------------------------------------------------------*/

enum { DEPTH = 64 };

struct parser {
    struct lk_arena *arena;
    const char *text;
    const char *at, *begin; /* after the token, and where it begins */
    int token;
    double number;
    char name[32];
    struct expression_names names; /* a copy: sum() adds to it */
    unsigned depth;
    char *error;
};

static void fail(struct parser *parser, const char *message)
{
    struct lk_buf text = {0};
    if (parser->error)
        return;
    lk_buf_place(&text, "formula", parser->text, strlen(parser->text),
                 (size_t)(parser->begin - parser->text), message);
    parser->error = text.data;
    parser->token = END;
    parser->at = parser->text + strlen(parser->text);
}

static void take_name(struct parser *parser)
{
    size_t length = 0;
    while (isalnum((unsigned char)parser->begin[length]) || parser->begin[length] == '_')
        length++;
    parser->token = NAME;
    parser->at = parser->begin + length;
    if (length >= sizeof parser->name) {
        fail(parser, "this name is too long");
        return;
    }
    memcpy(parser->name, parser->begin, length);
    parser->name[length] = 0;
}

static void next(struct parser *parser)
{
    static const struct {
        char text[3];
        int token;
    } pairs[] = {{"<=", LE}, {">=", GE}, {"==", EQ}, {"!=", NE}, {"&&", AND}, {"||", OR}};
    if (parser->error)
        return;
    while (*parser->at == ' ')
        parser->at++;
    parser->begin = parser->at;
    unsigned char first = (unsigned char)*parser->at;
    if (isalpha(first) || first == '_') {
        take_name(parser);
        return;
    }
    if (isdigit(first)) {
        char *end;
        parser->number = strtod(parser->at, &end);
        parser->at = end;
        parser->token = LITERAL;
        return;
    }
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (strncmp(parser->at, pairs[i].text, 2) == 0) {
            parser->token = pairs[i].token;
            parser->at += 2;
            return;
        }
    parser->token = first;
    if (first == 0)
        return;
    parser->at++;
    if (!strchr("+-*/%()[],<>!?:=", first))
        fail(parser, "this character means nothing here");
}

static void expect(struct parser *parser, int token, const char *message)
{
    if (parser->token != token)
        fail(parser, message);
    else
        next(parser);
}

/* Grammar ---------------------------------------------------------------------------------------*/

static struct expression *parse_choice(struct parser *parser);

static struct expression *make(struct parser *parser, enum expression_kind kind,
                               struct expression *a, struct expression *b, struct expression *c)
{
    struct expression *made = lk_arena_alloc(parser->arena, sizeof *made);
    made->kind = kind;
    made->part[0] = a;
    made->part[1] = b;
    made->part[2] = c;
    return made;
}

static int find(const char *const *names, unsigned count, const char *name)
{
    for (unsigned i = count; i-- > 0;)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

/* sum(p, count, term) and highest(p, count, term): p is a variable of the term alone. */
static struct expression *parse_over(struct parser *parser, enum expression_kind kind)
{
    struct expression *made = make(parser, kind, NULL, NULL, NULL);
    next(parser);
    expect(parser, '(', "sum and highest need '(variable, count, term)'");
    const char *name = lk_arena_printf(parser->arena, "%s", parser->name);
    expect(parser, NAME, "the name of a variable comes first");
    expect(parser, ',', "a ',' is missing here");
    made->part[0] = parse_choice(parser);
    expect(parser, ',', "a ',' is missing here");
    unsigned outer = parser->names.variable_count;
    if (outer == EXPRESSION_VARIABLES) {
        fail(parser, "there are too many variables");
        return made;
    }
    /* Slots of ended sums are not used again: a sum in a sum has its own. */
    parser->names.variable[outer] = name;
    parser->names.variable_count++;
    made->which = outer;
    made->part[1] = parse_choice(parser);
    parser->names.variable[outer] = "";
    expect(parser, ')', "a ')' is missing here");
    return made;
}

static struct expression *parse_call(struct parser *parser, size_t function)
{
    struct expression *made = make(parser, CALL, NULL, NULL, NULL);
    made->op = (int)function;
    next(parser);
    expect(parser, '(', "a '(' is missing here");
    for (; made->count < functions[function].count; made->count++) {
        if (made->count)
            expect(parser, ',', "an argument is missing here");
        made->part[made->count] = parse_choice(parser);
    }
    expect(parser, ')', "a ')' is missing here");
    return made;
}

static struct expression *parse_element(struct parser *parser, unsigned array)
{
    struct expression *made = make(parser, ELEMENT, NULL, NULL, NULL);
    made->which = array;
    next(parser);
    for (; made->count < parser->names.rank[array]; made->count++) {
        expect(parser, '[', "a subscript is missing here");
        made->part[made->count] = parse_choice(parser);
        expect(parser, ']', "a ']' is missing here");
    }
    return made;
}

static struct expression *parse_name(struct parser *parser)
{
    const struct expression_names *names = &parser->names;
    if (strcmp(parser->name, "sum") == 0)
        return parse_over(parser, SUM);
    if (strcmp(parser->name, "highest") == 0)
        return parse_over(parser, HIGHEST);
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, parser->name) == 0)
            return parse_call(parser, i);
    int index = find(names->array, names->array_count, parser->name);
    if (index >= 0)
        return parse_element(parser, (unsigned)index);
    index = find(names->variable, names->variable_count, parser->name);
    struct expression *made = make(parser, VARIABLE, NULL, NULL, NULL);
    if (index < 0) {
        fail(parser, "there is no parameter, buffer or function of this name");
        return made;
    }
    made->which = (unsigned)index;
    next(parser);
    return made;
}

static struct expression *parse_primary(struct parser *parser)
{
    struct expression *made;
    if (++parser->depth > DEPTH)
        fail(parser, "this is nested too deeply");
    if (parser->token == LITERAL) {
        made = make(parser, NUMBER, NULL, NULL, NULL);
        made->number = parser->number;
        next(parser);
    } else if (parser->token == NAME) {
        made = parse_name(parser);
    } else if (parser->token == '-' || parser->token == '!') {
        enum expression_kind kind = parser->token == '-' ? NEGATE : NOT;
        next(parser);
        made = make(parser, kind, parse_primary(parser), NULL, NULL);
    } else if (parser->token == '(') {
        next(parser);
        made = parse_choice(parser);
        expect(parser, ')', "a ')' is missing here");
    } else {
        fail(parser, "a number, a name or '(' is missing here");
        made = make(parser, NUMBER, NULL, NULL, NULL);
    }
    parser->depth--;
    return made;
}

static int precedence(int token)
{
    switch (token) {
    case OR:
        return 1;
    case AND:
        return 2;
    case EQ:
    case NE:
        return 3;
    case '<':
    case '>':
    case LE:
    case GE:
        return 4;
    case '+':
    case '-':
        return 5;
    case '*':
    case '/':
    case '%':
        return 6;
    default:
        return 0;
    }
}

static struct expression *parse_binary(struct parser *parser, int least)
{
    struct expression *left = parse_primary(parser);
    for (int level; (level = precedence(parser->token)) >= least && level;) {
        int op = parser->token;
        next(parser);
        left = make(parser, BINARY, left, parse_binary(parser, level + 1), NULL);
        left->op = op;
    }
    return left;
}

static struct expression *parse_choice(struct parser *parser)
{
    struct expression *condition, *yes, *no;
    if (++parser->depth > DEPTH)
        fail(parser, "this is nested too deeply");
    condition = parse_binary(parser, 1);
    if (parser->token == '?') {
        next(parser);
        yes = parse_choice(parser);
        expect(parser, ':', "a ':' is missing here");
        no = parse_choice(parser);
        condition = make(parser, CHOOSE, condition, yes, no);
    }
    parser->depth--;
    return condition;
}

struct expression *expression_parse(struct lk_arena *arena, const char *text,
                                    const struct expression_names *names, char **message)
{
    struct parser parser = {.arena = arena, .text = text, .at = text, .names = *names};
    next(&parser);
    struct expression *made = parse_choice(&parser);
    if (parser.token != END)
        fail(&parser, "the formula should end here");
    *message = parser.error;
    return parser.error ? NULL : made;
}

bool expression_parse_rule(struct lk_arena *arena, const char *text,
                           const struct expression_names *names, struct expression_rule *rule,
                           char **message)
{
    struct parser parser = {.arena = arena, .text = text, .at = text, .names = *names};
    next(&parser);
    int array = parser.token == NAME ? find(names->array, names->array_count, parser.name) : -1;
    if (array < 0)
        fail(&parser, "a reference begins with a buffer, as in 'y[i] = ...'");
    rule->array = (unsigned)array;
    next(&parser);
    for (unsigned i = 0; array >= 0 && i < names->rank[array]; i++) {
        expect(&parser, '[', "an index is missing here");
        rule->index[i] = parser.names.variable_count;
        if (parser.names.variable_count == EXPRESSION_VARIABLES) {
            fail(&parser, "there are too many variables");
            break;
        }
        parser.names.variable[parser.names.variable_count++] =
            lk_arena_printf(arena, "%s", parser.name);
        expect(&parser, NAME, "an index is a new name, such as i");
        expect(&parser, ']', "a ']' is missing here");
    }
    expect(&parser, '=', "a '=' is missing here");
    rule->value = parse_choice(&parser);
    if (parser.token != END)
        fail(&parser, "the formula should end here");
    *message = parser.error;
    return parser.error == NULL;
}

/* Values ----------------------------------------------------------------------------------------*/

static void note_seen(struct expression_state *state, struct expression_seen now)
{
    for (unsigned i = 0; i < state->seen_count; i++)
        if (state->seen[i].array == now.array && state->seen[i].at == now.at)
            return;
    if (state->seen_count < EXPRESSION_SEEN)
        state->seen[state->seen_count++] = now;
    else
        state->saw_others = true;
}

static double element(const struct expression *expression, struct expression_state *state)
{
    const struct expression_array *array = &state->array[expression->which];
    size_t at = 0;
    for (unsigned i = 0; i < expression->count; i++) {
        double index = expression_eval(expression->part[i], state);
        if (!(index >= 0 && index < (double)array->extent[i])) {
            state->error = "a subscript is out of range";
            return 0;
        }
        at = at * array->extent[i] + (size_t)index;
    }
    note_seen(state, (struct expression_seen){expression->which, at});
    return array->compute ? array->compute(state, expression->which, at)
                          : zoo_get(array->type, array->data, at);
}

/* An element along a variable of a sum: where it is now, and how far the next one is. */
struct run {
    const struct expression_array *array;
    size_t at, step;
};

/* False if a subscript is more than a name or a number, or leaves the array before `end`. */
static bool find_run(const struct expression *element, unsigned variable, double end,
                     const struct expression_state *state, struct run *run)
{
    if (element->kind != ELEMENT || state->array[element->which].compute)
        return false;
    *run = (struct run){&state->array[element->which], 0, 0};
    for (unsigned i = 0; i < element->count; i++) {
        const struct expression *part = element->part[i];
        bool is_name = part->kind == VARIABLE, runs = is_name && part->which == variable;
        double first = is_name ? state->variable[part->which] : part->number;
        size_t extent = run->array->extent[i];
        if ((!is_name && part->kind != NUMBER) || !(first >= 0 && first < (double)extent) ||
            (runs && end > (double)extent))
            return false;
        run->at = run->at * extent + (size_t)first;
        run->step = run->step * extent + runs;
    }
    return true;
}

/* Products of two elements, which most references sum up: the rest of such a sum at once. */
static bool sum_products(const struct expression *term, unsigned variable, double end,
                         struct expression_state *state, double *total)
{
    struct run a, b;
    if (term->kind != BINARY || term->op != '*' || end > EXPRESSION_STEPS ||
        !find_run(term->part[0], variable, end, state, &a) ||
        !find_run(term->part[1], variable, end, state, &b))
        return false;
    double i = state->variable[variable];
    if (a.array->type == ZOO_F32 && b.array->type == ZOO_F32) { /* most of a grader's time */
        const float *x = (const float *)a.array->data + a.at,
                    *y = (const float *)b.array->data + b.at;
        for (; i < end; i++, x += a.step, y += b.step)
            *total += (double)*x * *y;
    }
    for (; i < end; i++, a.at += a.step, b.at += b.step)
        *total += zoo_get(a.array->type, a.array->data, a.at) *
                  zoo_get(b.array->type, b.array->data, b.at);
    state->steps += 2 * (uint64_t)end;
    return true;
}

static double sum(const struct expression *expression, struct expression_state *state)
{
    double count = expression_eval(expression->part[0], state), total = 0;
    for (double i = 0; i < count && !state->error; i++) {
        state->variable[expression->which] = i;
        /* After the first ones, which messages name. */
        if (state->saw_others &&
            sum_products(expression->part[1], expression->which, count, state, &total))
            break;
        total += expression_eval(expression->part[1], state);
    }
    return total;
}

static double highest(const struct expression *expression, struct expression_state *state)
{
    double count = expression_eval(expression->part[0], state), most = -INFINITY;
    for (double i = 0; i < count && !state->error; i++) {
        state->variable[expression->which] = i;
        most = fmax(most, expression_eval(expression->part[1], state));
    }
    return most;
}

static double binary(int op, double a, double b)
{
    switch (op) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
        return a / b;
    case '%':
        return fmod(a, b);
    case '<':
        return a < b;
    case '>':
        return a > b;
    case LE:
        return a <= b;
    case GE:
        return a >= b;
    case EQ:
        return a == b;
    case NE:
        return a != b;
    case AND:
        return a != 0 && b != 0;
    default:
        return a != 0 || b != 0;
    }
}

double expression_eval(const struct expression *expression, struct expression_state *state)
{
    struct expression *const *part = expression->part;
    if (++state->steps > EXPRESSION_STEPS)
        state->error = "the formula takes too long";
    if (state->error)
        return 0;
    switch (expression->kind) {
    case NUMBER:
        return expression->number;
    case VARIABLE:
        return state->variable[expression->which];
    case ELEMENT:
        return element(expression, state);
    case CALL:
        return functions[expression->op].call(
            expression_eval(part[0], state),
            expression->count > 1 ? expression_eval(part[1], state) : 0);
    case SUM:
        return sum(expression, state);
    case HIGHEST:
        return highest(expression, state);
    case BINARY: {
        double left = expression_eval(part[0], state);
        if (expression->op == AND && left == 0)
            return 0;
        if (expression->op == OR && left != 0)
            return 1;
        return binary(expression->op, left, expression_eval(part[1], state));
    }
    case NOT:
        return expression_eval(part[0], state) == 0;
    case NEGATE:
        return -expression_eval(part[0], state);
    case CHOOSE:
        return expression_eval(part[0], state) != 0 ? expression_eval(part[1], state)
                                                    : expression_eval(part[2], state);
    }
    return 0;
}
