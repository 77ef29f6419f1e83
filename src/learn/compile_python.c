/*
 * compile_python.c: an exercise in Python to PTX. Triton's own compiler does it, in a Python
 * process that runs python/lockstep/triton_ptx.py: it gets a request, checks the learner's file,
 * and leaves kernel.ptx and launch.json. docs/learn.md has both formats.
 *
 * Triton compiles a kernel anew for numbers that are multiples of 16. So kernel.ptx is for sizes
 * that are so wherever the measured one is, and ragged.ptx, if there is one, for the others.
 */
#include "learn/compile.h"

#include "host/files.h"

#include <stdlib.h>
#include <string.h>

/* By zoo_type; Triton's names. */
static const char *const types[ZOO_TYPES] = {
    [ZOO_F32] = "*fp32", [ZOO_F64] = "*fp64", [ZOO_F16] = "*fp16",  [ZOO_BF16] = "*bf16",
    [ZOO_I32] = "*i32",  [ZOO_U32] = "*u32",  [ZOO_I64] = "*i64",   [ZOO_U8] = "*u8",
    [ZOO_S8] = "*i8",    [ZOO_E4M3] = "*u8",  [ZOO_E5M2] = "*fp8e5"};

static const char *type_of(const struct learn_exercise *exercise,
                           const struct learn_argument *argument)
{
    switch (argument->kind) {
    case LEARN_INT:
        return "i32";
    case LEARN_LONG:
        return "i64";
    case LEARN_FLOAT:
        return "fp32";
    case LEARN_DOUBLE:
        return "fp64";
    default:
        /* Triton has e4m3 for newer GPUs only; older ones see its bytes. */
        if (exercise->problem.buffer[argument->buffer].type == ZOO_E4M3 &&
            strtoul(exercise->arch, NULL, 10) >= 89)
            return "*fp8e4nv";
        return types[exercise->problem.buffer[argument->buffer].type];
    }
}

static json_t *argument_json(const struct learn_exercise *exercise,
                             const struct learn_argument *argument)
{
    bool whole = argument->kind == LEARN_INT || argument->kind == LEARN_LONG;
    struct expression_state state = {0};
    memcpy(state.variable, exercise->problem.value[exercise->problem.measured],
           sizeof state.variable);
    long long value = whole ? (long long)expression_eval(argument->value, &state) : 1;
    return json_pack("{ss ss sb}", "type", type_of(exercise, argument), "text", argument->text,
                     "divisible", value % 16 == 0);
}

static json_t *request_json(const struct learn_exercise *exercise, const char *path,
                            const char *shown, const char *folder)
{
    json_t *arguments = json_array(), *constants = json_array();
    for (unsigned i = 0; i < exercise->argument_count; i++)
        json_array_append_new(arguments, argument_json(exercise, &exercise->argument[i]));
    for (unsigned i = 0; i < exercise->constant_count; i++)
        json_array_append_new(constants, json_string(exercise->constant[i]));
    return json_pack("{ss ss ss ss ss so so ss*}", "source", path, "shown", shown, "kernel",
                     exercise->kernel, "arch", exercise->arch, "output", folder, "arguments",
                     arguments, "constants", constants, "package", exercise->package);
}

bool compile_python_command(struct lk_arena *arena, const struct learn_grader *grader,
                            const struct learn_exercise *exercise, const char *path,
                            const char *shown, const char *folder, struct lk_list *words,
                            char **said)
{
    const char *file = lk_arena_printf(arena, "%s/request.json", folder);
    const char *package = exercise->package ? exercise->package : "triton";
    if (!grader->python)
        *said = lk_format("%s is in Python, which needs Python 3 with %s: 'apt install python3', "
                          "then 'python3 -m pip install %s'\n",
                          shown, package,
                          strcmp(package, "cupy") == 0 ? "'cupy-cuda13x[ctk]'" : package);
    else if (!grader->python_folder)
        *said = lk_format("%s is in Python, and lockstep's own folder python is missing\n", shown);
    if (*said)
        return false;
    json_t *request = request_json(exercise, path, shown, folder);
    const char *script = lk_arena_printf(arena, "%s/%s", grader->python_folder,
                                         exercise->package ? "run_exercise.py" : "triton_ptx.py");
    if (exercise->package) { /* for the worker, which calls the function: worker_host.c */
        json_object_set_new(request, "python", json_string(grader->python));
        json_object_set_new(request, "script", json_string(script));
    }
    bool fine = request && json_dump_file(request, file, 0) == 0;
    json_decref(request);
    if (!fine)
        *said = lk_format("%s: cannot be written\n", file);
    lk_list_add(words, grader->python);
    lk_list_add(words, script);
    lk_list_add(words, file);
    return fine;
}

bool compile_read_launch(const char *ptx, struct compile_launch *launch, char **message)
{
    const char *slash = strrchr(ptx, '/');
    int length = slash ? (int)(slash - ptx) : 1;
    char *path = lk_format("%.*s/launch.json", length, slash ? ptx : ".");
    json_error_t error;
    *launch = (struct compile_launch){.json = json_load_file(path, 0, &error)};
    if (!launch->json)
        *message = lk_format("%s: %s", path, error.text);
    launch->warps = (unsigned)json_integer_value(json_object_get(launch->json, "num_warps"));
    launch->ragged = json_array_size(json_object_get(launch->json, "shared")) > 1
                         ? lk_format("%.*s/ragged.ptx", length, slash ? ptx : ".")
                         : NULL;
    free(path);
    return launch->json != NULL;
}

double compile_constant(const struct compile_launch *launch, const char *name)
{
    return json_number_value(json_object_get(json_object_get(launch->json, "constants"), name));
}

bool compile_is_ragged(const struct compile_launch *launch, unsigned argument, long long value)
{
    json_t *list = json_object_get(launch->json, "divisible");
    return json_is_true(json_array_get(list, argument)) && value % 16 != 0;
}

unsigned compile_shared(const struct compile_launch *launch, bool ragged)
{
    return (unsigned)json_integer_value(
        json_array_get(json_object_get(launch->json, "shared"), ragged));
}

unsigned compile_scratch(const struct compile_launch *launch, bool ragged)
{
    return (unsigned)json_integer_value(
        json_array_get(json_object_get(launch->json, "scratch"), ragged));
}

void compile_launch_free(struct compile_launch *launch)
{
    free(launch->ragged);
    json_decref(launch->json);
}
