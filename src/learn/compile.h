/*
 * compile.h: exercises in Python: the command that compiles one, and how its kernel is launched.
 */
#ifndef LOCKSTEP_LEARN_COMPILE_H
#define LOCKSTEP_LEARN_COMPILE_H

#include "base/list.h"
#include "learn/grade.h"

/* False and a malloc'd message if it cannot be compiled here. The words are in the arena. */
bool compile_python_command(struct lk_arena *arena, const struct learn_grader *grader,
                            const struct learn_exercise *exercise, const char *path,
                            const char *shown, const char *folder, struct lk_list *words,
                            char **said);

/* launch.json, beside the PTX: what the learner's file and Triton chose. */
struct compile_launch {
    json_t *json;
    unsigned warps;
    char
        *ragged; /* PTX for sizes that are not the multiples of 16 that the other is for; or NULL */
};
bool compile_read_launch(const char *ptx, struct compile_launch *launch, char **message);
void compile_launch_free(struct compile_launch *launch);
double compile_constant(const struct compile_launch *launch, const char *name);
bool compile_is_ragged(const struct compile_launch *launch, unsigned argument, long long value);
unsigned compile_shared(const struct compile_launch *launch, bool ragged);  /* bytes */
unsigned compile_scratch(const struct compile_launch *launch, bool ragged); /* of a program */

#endif
