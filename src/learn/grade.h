/*
 * grade.h: a verdict on a learner's kernel: does it compile, is it right on every size, is it free
 * of races and stray accesses, does it keep the limits on its counters.
 */
#ifndef LOCKSTEP_LEARN_GRADE_H
#define LOCKSTEP_LEARN_GRADE_H

#include "learn/verdict.h"

#include <signal.h>

/* What grading needs to know about this machine. */
struct learn_grader {
    const char *compiler; /* nvcc or clang, or NVRTC's library */
    bool is_nvcc, is_nvrtc;
    const char *headers;       /* NVRTC: NVIDIA's, or NULL */
    const char *c_compiler;    /* clang, for exercises in C; NULL if there is none */
    const char *python;        /* the learner's, for exercises in Python; NULL if there is none */
    const char *python_folder; /* our package lockstep; NULL if it is missing */
    const char *self;          /* this program, for 'learn grade-worker' */
    const char *gpu;           /* "sim:h200" */
    const char *real;          /* "cuda:0": also run correct kernels there; NULL: nowhere else */
    uint64_t seed;             /* of sizes and values; 0: drawn anew for each check */
    unsigned seconds, mib;     /* the most that compiling or running may take; 0: as usual */
    const volatile sig_atomic_t *interrupted; /* ends a verdict early; may be NULL */
};

/* Grades the kernel in path, which the verdict calls shown. */
void learn_grade(const struct learn_grader *grader, const struct learn_exercise *exercise,
                 const char *path, const char *shown, struct learn_verdict *verdict);

/* The child's part: worker.c. seed 0: only the large size, unchecked. False if the result cannot
 * be written. */
struct learn_worker_files {
    const char *ptx, *gpu, *result;
};
bool learn_worker(const struct learn_exercise *exercise, const struct learn_worker_files *files,
                  uint64_t seed);

/* NULL, or an error with its line: the text names files outside the folders that exercises may
 * include from; includes.c. */
char *learn_check_includes(const char *text, const char *shown);
/* Compiles path to PTX in folder/kernel.ptx; compile.c. LEARN_PASSED; or LEARN_COMPILE and what the
 * compiler said; or LEARN_BROKEN, if there is no compiler. */
enum learn_stage learn_compile(const struct learn_grader *grader,
                               const struct learn_exercise *exercise, const char *path,
                               const char *shown, const char *folder, char **said);

/* {"source": "yours", "exercise", "file", "code", "trace", "profile"} of a launch of the kernel in
 * path; run.c. NULL if the file cannot be read. */
struct profile;
json_t *learn_run_json(const struct learn_exercise *exercise, const char *path,
                       struct profile *profile);

/* What warp 0 of block 0 touched, from the launch's trace; picture.c. NULL if there is no trace. */
struct profile_launch;
char *learn_picture(const struct profile_launch *launch);

#endif
