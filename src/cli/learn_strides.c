/*
 * learn_strides.c: lockstep learn strides: predicts what reshapes, permutes and slices do to a
 * tensor, step by step: its shape and strides, and whether the numbers are copied. It needs neither
 * course nor progress.
 */
#include "cli/learn.h"
#include "learn/strides.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: lockstep learn strides SHAPE [OPERATION VALUE] ... [--json]\n"
    "\n"
    "Says step by step which shape and strides a tensor has, and whether a step is a view (only\n"
    "shape and strides change) or a copy (the numbers move), as in NumPy and PyTorch.\n"
    "\n"
    "  permute 2,0,1     dimensions in a new order\n"
    "  transpose 0,1     two of them change places\n"
    "  slice ::2,1:3,0   FIRST:END:STEP or an index for each dimension\n"
    "  reshape 6,-1      a new shape; -1 is what is left over\n"
    "  view 6,4          the same, and refused where it would need a copy\n"
    "  contiguous        row by row\n"
    "\n"
    "Strides count elements, as PyTorch's do; NumPy's count bytes. Exit status 1 if a view was\n"
    "refused.\n"
    "\n"
    "examples:\n"
    "  lockstep learn strides 2,3,4 permute 2,0,1 reshape 6,4\n"
    "  lockstep learn strides 4,6 slice :,:3 view 12 --json\n";

static void print_numbers(struct lk_buf *text, const int64_t *numbers, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        lk_buf_printf(text, "%s%lld", i ? ", " : "", (long long)numbers[i]);
}

/* "reshape 6,4       (6, 4)        strides (4, 1)       contiguous" */
static void print_tensor(const char *what, const struct strides_tensor *tensor)
{
    struct lk_buf shape = {0}, strides = {0};
    lk_buf_printf(&shape, "(");
    print_numbers(&shape, tensor->shape, tensor->rank);
    lk_buf_printf(&shape, ")");
    lk_buf_printf(&strides, "(");
    print_numbers(&strides, tensor->stride, tensor->rank);
    lk_buf_printf(&strides, ")");
    printf("%s%-20s%s shape %-16s strides %-16s %s", host_style(stdout, HOST_BOLD), what,
           host_style(stdout, HOST_PLAIN), shape.data, strides.data,
           strides_is_contiguous(tensor) ? "contiguous" : "not contiguous");
    if (tensor->offset)
        printf(", begins at element %lld", (long long)tensor->offset);
    putchar('\n');
    lk_buf_free(&shape);
    lk_buf_free(&strides);
}

static void print_step(const char *what, const struct strides_step *step)
{
    static const char *const words[STRIDES_WAYS] = {"view", "copy", "no view"};
    print_tensor(what, &step->tensor);
    printf("%-20s %s%s%s: %s\n", "",
           host_style(stdout, step->way == STRIDES_VIEW ? HOST_GREEN : HOST_YELLOW),
           words[step->way], host_style(stdout, HOST_PLAIN), step->why);
}

static json_t *numbers_json(const int64_t *numbers, unsigned count)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(list, json_integer(numbers[i]));
    return list;
}

static json_t *tensor_json(const char *what, const struct strides_tensor *tensor)
{
    return json_pack("{ss so so sI sb}", "operation", what, "shape",
                     numbers_json(tensor->shape, tensor->rank), "strides",
                     numbers_json(tensor->stride, tensor->rank), "offset",
                     (json_int_t)tensor->offset, "contiguous", strides_is_contiguous(tensor));
}

static int walk(int count, char **words, bool json)
{
    struct strides_tensor tensor;
    struct strides_step step = {0};
    char *message;
    unsigned copies = 0;
    if (!strides_read_shape(words[0], &tensor, &message)) {
        host_error("strides: %s", message);
        free(message);
        return CLI_USAGE;
    }
    json_t *steps = json_array();
    json_array_append_new(steps, tensor_json("", &tensor));
    if (!json)
        print_tensor(words[0], &tensor);
    for (int at = 1; at < count && step.way != STRIDES_REFUSED; at++) {
        bool takes = false;
        char what[80];
        const char *word = words[at];
        strides_is_operation(word, &takes);
        const char *value = takes && at + 1 < count ? words[++at] : NULL;
        snprintf(what, sizeof what, "%s%s%s", word, value ? " " : "", value ? value : "");
        if (!strides_apply(&tensor, word, value, &step, &message)) {
            host_error("strides: %s", message);
            free(message);
            json_decref(steps);
            return CLI_USAGE;
        }
        copies += step.way == STRIDES_COPY;
        tensor = step.tensor;
        json_t *object = tensor_json(what, &tensor);
        json_object_set_new(object, "how", json_string(strides_way_names[step.way]));
        json_object_set_new(object, "why", json_string(step.why));
        json_array_append_new(steps, object);
        if (!json)
            print_step(what, &step);
        free(step.why);
    }
    if (json)
        cli_print_json(json_pack("{so si}", "steps", steps, "copies", (int)copies));
    else
        json_decref(steps);
    return step.way == STRIDES_REFUSED ? CLI_FINDINGS : CLI_OK;
}

int cli_learn_strides(int count, char **words)
{
    bool json = false;
    int kept = 0;
    char **rest = lk_alloc(((size_t)count + 1) * sizeof *rest);
    for (int at = 0; at < count;) {
        if (cli_flag(words, &at, "--json"))
            json = true;
        else
            rest[kept++] = words[at++];
    }
    int status = CLI_USAGE;
    if (kept == 0)
        fprintf(stderr, "lockstep: strides needs a shape\n%s", help);
    else
        status = walk(kept, rest, json);
    free(rest);
    return status;
}
