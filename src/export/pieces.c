/*
 * pieces.c: carries out the directives of the hand-written parts; see pieces.h.
 */
#include "export/pieces.h"

#include "export/export.h"
#include "zoo/embedded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 8 }; /* of conditions, and of included files */

struct expansion {
    const struct zoo_problem *problem;
    struct lk_buf *text;
    bool (*block)(void *context, const char *line, struct lk_buf *text);
    void *context;
    unsigned depth;                          /* of open conditions */
    bool active[DEPTH + 1], done[DEPTH + 1]; /* is this part in; was one of its parts already */
    const char *path;
    char *message;
};

static bool fail(struct expansion *e, const char *what, const char *line)
{
    if (!e->message)
        e->message = lk_format("kernels/%s: %s: %s", e->path, what, line);
    return false;
}

/* Values ----------------------------------------------------------------------------------------*/

const char *export_c_type(enum zoo_type type)
{
    static const char *const names[ZOO_TYPES] = {
        [ZOO_F32] = "float",
        [ZOO_F64] = "double",
        [ZOO_F16] = "__half",
        [ZOO_BF16] = "unsigned short",
        [ZOO_I32] = "int",
        [ZOO_U32] = "unsigned",
        [ZOO_I64] = "long long",
        [ZOO_U8] = "unsigned char",
        [ZOO_S8] = "signed char",
        [ZOO_E4M3] = "unsigned char",
        [ZOO_E5M2] = "unsigned char",
    };
    return names[type];
}

void export_number(struct lk_buf *text, double value, bool is_float)
{
    char digits[40];
    snprintf(digits, sizeof digits, is_float ? "%.9g" : "%.0f", value);
    lk_buf_printf(text, "%s%s", digits, !is_float ? "" : strpbrk(digits, ".einf") ? "f" : ".0f");
}

static int find_parameter(const struct zoo_family *family, const char *name, size_t length)
{
    for (int i = 0; family->parameters[i].name; i++)
        if (strlen(family->parameters[i].name) == length &&
            strncmp(family->parameters[i].name, name, length) == 0)
            return i;
    return -1;
}

static bool is_float(const struct zoo_problem *problem, int parameter)
{
    return problem->family->parameters[parameter].scalar && problem->value[parameter] >= ZOO_FLOAT;
}

static bool add_value(struct expansion *e, const char *name, size_t length)
{
    const struct zoo_family *family = e->problem->family;
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = family->shape(e->problem, buffers);
    int i = find_parameter(family, name, length);
    if (i >= 0) {
        const struct zoo_parameter *parameter = &family->parameters[i];
        int64_t value = e->problem->value[i];
        if (parameter->words)
            lk_buf_printf(e->text, "%s", parameter->words[value]);
        else
            export_number(e->text, parameter->scalar ? (double)zoo_as_float(value) : (double)value,
                          parameter->scalar);
        return true;
    }
    for (unsigned b = 0; b < count; b++) {
        size_t own = strlen(buffers[b].name);
        if (own > length || strncmp(buffers[b].name, name, own) != 0)
            continue;
        if (own == length)
            lk_buf_printf(e->text, "%s", export_c_type(buffers[b].type));
        else if (length == own + 6 && strncmp(name + own, ":bytes", 6) == 0)
            lk_buf_printf(e->text, "%u", zoo_type_bytes[buffers[b].type]);
        else
            continue;
        return true;
    }
    if (length == 4 && strncmp(name, "seed", 4) == 0) {
        lk_buf_printf(e->text, "%llu", (unsigned long long)e->problem->seed);
        return true;
    }
    return false;
}

/* "per_row>cols" */
static bool is_greater(struct expansion *e, const char *condition, const char *than, bool *value)
{
    const struct zoo_family *family = e->problem->family;
    int a = find_parameter(family, condition, (size_t)(than - condition)),
        b = find_parameter(family, than + 1, strlen(than + 1));
    if (a < 0 || b < 0)
        return fail(e, "there is no such condition", condition);
    *value = e->problem->value[a] > e->problem->value[b];
    return true;
}

/* "op=sum|max" */
static bool holds(struct expansion *e, const char *condition, bool *value)
{
    const char *equals = strchr(condition, '='), *than = strchr(condition, '>');
    if (than)
        return is_greater(e, condition, than, value);
    int i =
        equals ? find_parameter(e->problem->family, condition, (size_t)(equals - condition)) : -1;
    if (i < 0)
        return fail(e, "there is no such condition", condition);
    struct lk_buf is = {0};
    struct expansion one = {.problem = e->problem, .text = &is};
    add_value(&one, condition, (size_t)(equals - condition));
    *value = false;
    for (const char *word = equals + 1; *word && !*value;) {
        size_t length = strcspn(word, "|");
        *value = (strlen(is.data) == length && strncmp(word, is.data, length) == 0) ||
                 (length == 5 && strncmp(word, "float", 5) == 0 && is_float(e->problem, i));
        word += length + (word[length] == '|');
    }
    lk_buf_free(&is);
    return true;
}

/* Lines -----------------------------------------------------------------------------------------*/

static bool expand_file(struct expansion *e, const char *path);

static const char *after(const char *line, const char *directive)
{
    size_t length = strlen(directive);
    if (strncmp(line, directive, length) != 0 || (line[length] && line[length] != ' '))
        return NULL;
    return line + length + (line[length] == ' ');
}

static bool expand_values(struct expansion *e, const char *line)
{
    for (const char *mark; (mark = strstr(line, "@{"));) {
        const char *end = strchr(mark, '}');
        lk_buf_add(e->text, line, (size_t)(mark - line));
        if (!end || !add_value(e, mark + 2, (size_t)(end - mark - 2)))
            return fail(e, "there is no such value", mark);
        line = end + 1;
    }
    lk_buf_printf(e->text, "%s\n", line);
    return true;
}

/* @if, @elif, @else and @end; *taken says that it was one of them. */
static bool branch(struct expansion *e, const char *line, bool *taken)
{
    const char *condition;
    bool value = true;
    *taken = true;
    if ((condition = after(line, "@if"))) {
        if (e->depth == DEPTH || !holds(e, condition, &value))
            return fail(e, "too many conditions in each other", line);
        e->depth++;
        e->done[e->depth] = value;
        e->active[e->depth] = value && e->active[e->depth - 1];
    } else if ((condition = after(line, "@elif")) || after(line, "@else")) {
        if (e->depth == 0 || (condition && !holds(e, condition, &value)))
            return fail(e, "there is no @if", line);
        value = value && !e->done[e->depth];
        e->done[e->depth] |= value;
        e->active[e->depth] = value && e->active[e->depth - 1];
    } else if (after(line, "@end")) {
        if (e->depth == 0)
            return fail(e, "there is no @if", line);
        e->depth--;
    } else {
        *taken = false;
    }
    return true;
}

static bool expand_line(struct expansion *e, const char *line)
{
    const char *file;
    bool taken;
    if (!branch(e, line, &taken) || taken || !e->active[e->depth])
        return !e->message;
    if ((file = after(line, "@include"))) {
        char path[80];
        snprintf(path, sizeof path, "host/%s", file);
        return expand_file(e, path);
    }
    if (line[0] != '@' || line[1] == '{')
        return expand_values(e, line);
    struct lk_buf expanded = {0}, *whole = e->text;
    e->text = &expanded;
    bool fine = expand_values(e, line);
    e->text = whole;
    if (fine) {
        expanded.data[expanded.size - 1] = '\0'; /* the newline */
        fine = e->block(e->context, expanded.data, whole) ||
               fail(e, "there is no such directive", line);
    }
    lk_buf_free(&expanded);
    return fine;
}

static bool expand_file(struct expansion *e, const char *path)
{
    const char *outer = e->path;
    bool fine = false, found = false;
    e->path = path;
    for (size_t i = 0; i < zoo_embedded_file_count && !found; i++) {
        const struct zoo_embedded_file *file = &zoo_embedded_files[i];
        if (strcmp(file->path, path) != 0)
            continue;
        found = fine = true;
        for (const char *line = file->text; line < file->text_end && fine;) {
            size_t length = strcspn(line, "\n");
            char *copy = strndup(line, length);
            fine = expand_line(e, copy);
            free(copy);
            line += length + 1;
        }
    }
    if (!found)
        fail(e, "there is no such file", "");
    e->path = outer;
    return fine;
}

bool export_expand(const struct zoo_problem *problem, const char *path, struct lk_buf *text,
                   bool (*block)(void *context, const char *line, struct lk_buf *text),
                   void *context, char **message)
{
    struct expansion e = {.problem = problem,
                          .text = text,
                          .block = block,
                          .context = context,
                          .active = {true},
                          .path = path};
    bool fine = expand_file(&e, path);
    if (fine && e.depth > 0)
        fine = fail(&e, "an @if has no @end", "");
    *message = e.message;
    return fine;
}

/* A family's pieces -----------------------------------------------------------------------------*/

struct reading {
    struct export_pieces *pieces;
    bool functions; /* past @functions */
};

static bool set_expression(char expression[256], const char *text)
{
    return snprintf(expression, 256, "%s", text) < 256;
}

static bool piece(void *context, const char *line, struct lk_buf *text)
{
    struct reading *reading = context;
    struct export_pieces *pieces = reading->pieces;
    if (after(line, "@functions")) {
        pieces->constants = *text;
        *text = (struct lk_buf){0};
        reading->functions = true;
        return true;
    }
    if (after(line, "@bytes"))
        return set_expression(pieces->bytes, after(line, "@bytes"));
    return after(line, "@flops") && set_expression(pieces->flops, after(line, "@flops"));
}

/* "const long long n = 1048576; // numbers" */
static bool read_constant(struct export_pieces *pieces, const char *line)
{
    struct export_constant *constant = &pieces->constant[pieces->constant_count];
    const char *equals = strstr(line, " = "), *end = strchr(line, ';');
    char before[64], expression[256];
    if (pieces->constant_count == EXPORT_CONSTANTS || !equals || !end || end < equals)
        return false;
    snprintf(before, sizeof before, "%.*s", (int)(equals - line), line);
    snprintf(expression, sizeof expression, "%.*s", (int)(end - equals - 3), equals + 3);
    const char *name = strrchr(before, ' ');
    if (!name)
        return false;
    snprintf(constant->name, sizeof constant->name, "%.31s", name + 1);
    enum export_arithmetic arithmetic = strncmp(line, "const float", 11) == 0    ? EXPORT_SINGLE
                                        : strncmp(line, "const double", 12) == 0 ? EXPORT_REAL
                                                                                 : EXPORT_WHOLE;
    constant->whole = arithmetic == EXPORT_WHOLE;
    return export_evaluate(expression, pieces->constant, pieces->constant_count++, arithmetic,
                           &constant->value);
}

static bool read_constants(struct export_pieces *pieces, char **message)
{
    for (const char *line = pieces->constants.data; line && *line;) {
        size_t length = strcspn(line, "\n");
        char *copy = strndup(line, length);
        bool fine = strncmp(copy, "const ", 6) != 0 || read_constant(pieces, copy);
        if (!fine)
            *message = lk_format("cannot evaluate '%s'", copy);
        free(copy);
        if (!fine)
            return false;
        line += length + (line[length] == '\n');
    }
    return true;
}

bool export_pieces(const struct zoo_problem *problem, struct export_pieces *pieces, char **message)
{
    char path[80];
    struct reading reading = {.pieces = pieces};
    *pieces = (struct export_pieces){0};
    snprintf(path, sizeof path, "%s/host/export.inc", problem->family->name);
    if (!export_expand(problem, path, &pieces->functions, piece, &reading, message) ||
        !read_constants(pieces, message))
        return false;
    if (reading.functions &&
        export_evaluate(pieces->bytes, pieces->constant, pieces->constant_count, EXPORT_REAL,
                        &pieces->bytes_value) &&
        export_evaluate(pieces->flops, pieces->constant, pieces->constant_count, EXPORT_REAL,
                        &pieces->flops_value))
        return true;
    *message = lk_format(
        "kernels/%s lacks @functions, or an @bytes or @flops that can be evaluated", path);
    return false;
}

void export_pieces_free(struct export_pieces *pieces)
{
    lk_buf_free(&pieces->constants);
    lk_buf_free(&pieces->functions);
}

bool export_floor(const struct zoo_problem *problem, double *bytes, double *flops, char **message)
{
    struct export_pieces pieces;
    bool fine = export_pieces(problem, &pieces, message);
    *bytes = pieces.bytes_value;
    *flops = pieces.flops_value;
    export_pieces_free(&pieces);
    return fine;
}
