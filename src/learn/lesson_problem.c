/*
 * lesson_problem.c: the problem of an exercise: a family's, or buffers with a reference of its own.
 */
#include "learn/expression_tree.h"
#include "learn/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sizes -----------------------------------------------------------------------------------------*/

/* "n=1000 alpha=2.5": names in the order of the first line, and the same ones in every line. */
static bool read_size(struct lesson_reader *reader, struct learn_problem *problem, const char *line)
{
    unsigned size = problem->size_count, count = 0;
    struct expression_names *names = &problem->names;
    for (const char *at = line; *at; count++) {
        size_t length = strcspn(at, "= ");
        char *end, *name = lk_arena_strndup(reader->arena, at, length);
        if (at[length] != '=' || length == 0 || count == EXPRESSION_VARIABLES / 2)
            return reader_fail(reader, "sizes", "'%s' is not of the form 'n=1000 alpha=2.5'", line);
        double value = strtod(at + length + 1, &end);
        if (end == at + length + 1 || (*end && *end != ' ') || !isfinite(value))
            return reader_fail(reader, "sizes", "'%s': %s needs a number", line, name);
        if (size == 0 && problem->listed == 0)
            names->variable[names->variable_count++] = name;
        else if (count >= names->variable_count || strcmp(names->variable[count], name) != 0)
            return reader_fail(reader, "sizes", "'%s' must name the same parameters as '%s'", line,
                               problem->size[0]);
        problem->value[size][count] = value;
        for (at = end; *at == ' ';)
            at++;
    }
    if (count != names->variable_count || count == 0)
        return reader_fail(reader, "sizes", "'%s' must name the same parameters as the first",
                           line);
    return true;
}

static bool read_family_size(struct lesson_reader *reader, struct learn_problem *problem,
                             const char *line)
{
    size_t count;
    char *message;
    struct zoo_problem *made = zoo_problems(problem->family, line, &count, &message);
    if (!made || count != 1) {
        reader_fail(reader, "sizes", "%s", made ? "one line is one problem" : message);
        free(made);
        return false;
    }
    struct zoo_problem *kept = &problem->instance[problem->size_count];
    *kept = *made;
    free(made);
    for (unsigned i = 0; problem->family->parameters[i].name; i++) {
        bool is_float = kept->value[i] >= ZOO_FLOAT && problem->family->parameters[i].scalar;
        problem->value[problem->size_count][i] =
            is_float ? (double)zoo_as_float(kept->value[i]) : (double)kept->value[i];
    }
    return true;
}

bool lesson_add_size(struct lesson_reader *reader, struct learn_problem *problem, const char *line)
{
    if (problem->family ? !read_family_size(reader, problem, line)
                        : !read_size(reader, problem, line))
        return false;
    problem->seed[problem->size_count] = LESSON_LISTED_SEED;
    problem->size[problem->size_count++] = line;
    return true;
}

/* The large size and the huge one are checked here, and kept as text: only a sample of them runs.
 */
static bool is_size(struct lesson_reader *reader, struct learn_problem *problem, const char *line)
{
    bool fine = !line || lesson_add_size(reader, problem, line);
    problem->size_count = problem->listed;
    return fine;
}

bool lesson_read_beyond(struct lesson_reader *reader, json_t *object, struct learn_problem *problem)
{
    json_t *far = reader_array(reader, object, "far", false);
    const char *large = reader_text(reader, object, "large", false);
    if (far)
        problem->far = far;
    if (large)
        problem->large = large;
    if (json_array_size(far) > LEARN_FAR)
        return reader_fail(reader, "far", "must be at most %d lines", LEARN_FAR);
    return !reader->error && is_size(reader, problem, large);
}

static bool read_large(struct lesson_reader *reader, json_t *object, struct learn_problem *problem)
{
    problem->hidden = reader_array(reader, object, "hidden", false);
    problem->huge = reader_text(reader, object, "huge", false);
    return lesson_read_beyond(reader, object, problem) && is_size(reader, problem, problem->huge);
}

static bool read_sizes(struct lesson_reader *reader, json_t *object, struct learn_problem *problem)
{
    json_t *list = reader_array(reader, object, "sizes", true), *each;
    const char *measured = reader_text(reader, object, "measured", false);
    size_t i;
    bool found = !measured;
    if (!list || json_array_size(list) == 0 || json_array_size(list) > LEARN_SIZES)
        return reader_fail(reader, "sizes", "must be 1 to %d lines", LEARN_SIZES);
    json_array_foreach(list, i, each)
    {
        const char *line = json_string_value(each);
        if (!line)
            return reader_fail(reader, "sizes", "must be texts such as \"n=1000\"");
        if (measured && strcmp(measured, line) == 0) {
            problem->measured = problem->size_count;
            found = true;
        }
        if (!lesson_add_size(reader, problem, line))
            return false;
    }
    problem->listed = problem->size_count;
    if (!read_large(reader, object, problem))
        return false;
    return found || reader_fail(reader, "measured", "'%s' is not one of the sizes", measured);
}

/* Buffers ---------------------------------------------------------------------------------------*/

static int word_index(const char *const *words, unsigned count, const char *word)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return (int)i;
    return -1;
}

static bool read_shape(struct lesson_reader *reader, json_t *shape, struct learn_problem *problem,
                       struct learn_buffer *buffer)
{
    json_t *each;
    size_t i;
    if (json_array_size(shape) == 0 || json_array_size(shape) > EXPRESSION_RANK)
        return reader_fail(reader, "buffers", "%s: a shape has 1 to %d extents", buffer->name,
                           EXPRESSION_RANK);
    json_array_foreach(shape, i, each)
    {
        buffer->extent[i] = reader_formula(reader, each, "shape", &problem->names, NULL);
        if (!buffer->extent[i])
            return false;
        buffer->rank++;
    }
    return true;
}

static bool read_buffer(struct lesson_reader *reader, json_t *object, struct learn_problem *problem)
{
    static const char *const roles[] = {
        [ZOO_IN] = "in", [ZOO_OUT] = "out", [ZOO_IN_OUT] = "in out"};
    struct learn_buffer *buffer = &problem->buffer[problem->buffer_count];
    if (!reader_keys(reader, object, "name type role shape times mean ties fine"))
        return false;
    buffer->name = reader_text(reader, object, "name", true);
    const char *type = reader_text(reader, object, "type", true);
    const char *role = reader_text(reader, object, "role", true);
    json_t *shape = reader_array(reader, object, "shape", true);
    if (!buffer->name || !type || !role || !shape)
        return false;
    int index = word_index(zoo_type_names, ZOO_TYPES, type);
    if (index < 0)
        return reader_fail(reader, "buffers", "%s: there is no type '%s'", buffer->name, type);
    buffer->type = (enum zoo_type)index;
    index = word_index(roles, 3, role);
    if (index < 0)
        return reader_fail(reader, "buffers", "%s: the role is in, out or 'in out', not '%s'",
                           buffer->name, role);
    buffer->role = (enum zoo_role)index;
    json_t *times = json_object_get(object, "times");
    buffer->times = times ? json_number_value(times) : 1;
    buffer->mean = json_number_value(json_object_get(object, "mean"));
    buffer->ties = json_number_value(json_object_get(object, "ties"));
    buffer->is_fine = json_is_true(json_object_get(object, "fine"));
    if (!(buffer->times > 0))
        return reader_fail(reader, "buffers", "%s: times must be a number above 0", buffer->name);
    if (!read_shape(reader, shape, problem, buffer))
        return false;
    problem->buffer_count++;
    return true;
}

static bool read_buffers(struct lesson_reader *reader, json_t *object,
                         struct learn_problem *problem)
{
    json_t *list = reader_array(reader, object, "buffers", true), *each;
    struct expression_names *names = &problem->names;
    size_t i;
    if (!list || json_array_size(list) > ZOO_BUFFERS)
        return reader_fail(reader, "buffers", "must be at most %d", ZOO_BUFFERS);
    json_array_foreach(list, i, each) if (!read_buffer(reader, each, problem)) return false;
    for (unsigned b = 0; b < problem->buffer_count; b++) {
        names->array[b] = problem->buffer[b].name;
        names->rank[b] = problem->buffer[b].rank;
    }
    names->array_count = problem->buffer_count;
    return true;
}

/* Sums and products of short numbers are exact in f32, and so is whatever else picks, compares or
 * counts. Anything of these is not. */
static bool is_exact(const char *rule)
{
    static const char *const rounding[] = {"/ ",   "exp(", "log(",  "sqrt(", "round(",
                                           "f32(", "f16(", "e4m3(", "e5m2(", "e2m1("};
    for (size_t i = 0; i < sizeof rounding / sizeof *rounding; i++)
        if (strstr(rule, rounding[i]))
            return false;
    return true;
}

/* "sum(p, k, a[i][p] * b[p][j])" and nothing else. What stands in brackets is no arithmetic of
 * values. */
static bool is_plain_sum(const char *rule)
{
    const char *at = strchr(rule, '=');
    unsigned depth = 0, products = 0;
    if (!at || strncmp(at + 1 + strspn(at + 1, " "), "sum(", 4) != 0)
        return false;
    for (const char *term = strrchr(at, ','); *++at;) {
        depth += *at == '[';
        depth -= *at == ']';
        if (depth || at < term)
            continue;
        if (strchr("+-/%?<>&|!", *at) || strncmp(at, "sum(", 4) == 0)
            return false;
        products += *at == '*';
    }
    return products <= 1;
}

static void judge_rule(struct learn_problem *problem, const char *rule)
{
    problem->is_exact &= is_exact(rule);
    problem->has_exponentials |= strstr(rule, "exp(") != NULL;
    if (strstr(rule, "sum(")) {
        problem->is_plain = is_plain_sum(rule) && (problem->is_plain || !problem->has_sums);
        problem->has_sums = true;
    }
}

/* {"name": "s", "shape": ["n", "m"], "rule": "s[i][j] = .."}: what several rules need is computed
 * once; a step sees the inputs and the steps before it. */
static bool read_step(struct lesson_reader *reader, json_t *object, struct learn_problem *problem)
{
    unsigned at = problem->buffer_count + problem->step_count;
    struct learn_buffer *buffer = &problem->buffer[at];
    char *message = NULL;
    if (!reader_keys(reader, object, "name shape rule"))
        return false;
    buffer->name = reader_text(reader, object, "name", true);
    const char *rule = reader_text(reader, object, "rule", true);
    json_t *shape = reader_array(reader, object, "shape", true);
    buffer->type = ZOO_F64;
    if (!buffer->name || !rule || !shape || !read_shape(reader, shape, problem, buffer))
        return false;
    judge_rule(problem, rule);
    problem->names.array[at] = buffer->name;
    problem->names.rank[at] = buffer->rank;
    problem->names.array_count = at + 1;
    struct expression_rule *parsed = &problem->step[problem->step_count++];
    if (!expression_parse_rule(reader->arena, rule, &problem->names, parsed, &message)) {
        reader_fail(reader, "steps", "%s", message);
        free(message);
        return false;
    }
    return parsed->array == at ||
           reader_fail(reader, "steps", "the rule of %s must define it", buffer->name);
}

static bool read_steps(struct lesson_reader *reader, json_t *object, struct learn_problem *problem)
{
    json_t *list = reader_array(reader, object, "steps", false), *each;
    size_t i;
    if (list && json_array_size(list) > LEARN_RULES)
        return reader_fail(reader, "steps", "must be at most %d", LEARN_RULES);
    json_array_foreach(list, i, each) if (!read_step(reader, each, problem)) return false;
    return true;
}

/* Elements, or a choice between them: what a NaN, an infinity or -0 has to come out of as it is. */
static bool is_copy(const struct expression *tree)
{
    return tree->kind == ELEMENT ||
           (tree->kind == CHOOSE && is_copy(tree->part[1]) && is_copy(tree->part[2]));
}

/* Every output needs a rule, and only outputs have one. */
static bool check_rules(struct lesson_reader *reader, const struct learn_problem *problem)
{
    for (unsigned b = 0; b < problem->buffer_count; b++) {
        unsigned rules = 0;
        for (unsigned r = 0; r < problem->rule_count; r++)
            rules += problem->rule[r].array == b;
        if (rules != (problem->buffer[b].role != ZOO_IN))
            return reader_fail(reader, "reference",
                               "%s has %u rules; outputs have one, inputs none",
                               problem->buffer[b].name, rules);
    }
    return true;
}

static bool read_rules(struct lesson_reader *reader, json_t *object, struct learn_problem *problem)
{
    json_t *list = reader_array(reader, object, "reference", true), *each;
    size_t i;
    problem->is_copy = problem->step_count == 0;
    if (!list || json_array_size(list) > LEARN_RULES)
        return reader_fail(reader, "reference", "must be at most %d rules", LEARN_RULES);
    json_array_foreach(list, i, each)
    {
        char *message = NULL;
        const char *text = json_string_value(each);
        if (!text)
            return reader_fail(reader, "reference", "must be texts such as \"y[i] = 2 * x[i]\"");
        judge_rule(problem, text);
        if (!expression_parse_rule(reader->arena, text, &problem->names,
                                   &problem->rule[problem->rule_count++], &message)) {
            reader_fail(reader, "reference", "%s", message);
            free(message);
            return false;
        }
        problem->is_copy &= is_copy(problem->rule[problem->rule_count - 1].value);
    }
    return check_rules(reader, problem);
}

static bool read_family(struct lesson_reader *reader, json_t *object, struct learn_problem *problem)
{
    const struct zoo_variant *variant;
    char *message;
    const char *name = reader_text(reader, object, "family", true);
    struct zoo_buffer shape[ZOO_BUFFERS];
    if (!name || !reader_keys(reader, object, "family sizes measured hidden far large"))
        return false;
    if (!zoo_find(name, &problem->family, &variant, &message) || variant) {
        reader_fail(reader, "family", "'%s' is not a family", name);
        return false;
    }
    for (unsigned i = 0; problem->family->parameters[i].name; i++)
        problem->names.variable[problem->names.variable_count++] =
            problem->family->parameters[i].name;
    if (!read_sizes(reader, object, problem))
        return false;
    problem->buffer_count = problem->family->shape(&problem->instance[0], shape);
    for (unsigned i = 0; i < problem->buffer_count; i++)
        problem->buffer[i] = (struct learn_buffer){
            .name = shape[i].name, .role = shape[i].role, .type = shape[i].type};
    return true;
}

bool lesson_read_problem(struct lesson_reader *reader, json_t *object,
                         struct learn_problem *problem)
{
    json_t *tolerance;
    if (json_object_get(object, "family"))
        return read_family(reader, object, problem);
    if (!reader_keys(
            reader, object,
            "sizes measured hidden far large huge buffers steps reference tolerance floor"))
        return false;
    tolerance = json_object_get(object, "tolerance");
    if (tolerance && !json_is_number(tolerance))
        return reader_fail(reader, "tolerance", "must be a number");
    problem->tolerance = tolerance ? json_number_value(tolerance) : 1e-6;
    json_t *least = json_object_get(object, "floor");
    if (least && !json_is_number(least))
        return reader_fail(reader, "floor", "must be a number");
    problem->floor = least ? json_number_value(least) : 1;
    problem->is_exact = true;
    return read_sizes(reader, object, problem) && read_buffers(reader, object, problem) &&
           read_steps(reader, object, problem) && read_rules(reader, object, problem);
}
