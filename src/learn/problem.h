/*
 * problem.h: one size of an exercise with its data, and how its kernel is launched; for the worker.
 */
#ifndef LOCKSTEP_LEARN_PROBLEM_H
#define LOCKSTEP_LEARN_PROBLEM_H

#include "base/buf.h"
#include "learn/lesson.h"
#include "zoo/instance.h"

/* False and a malloc'd message if the lesson is at fault or memory is short. */
bool problem_make(const struct learn_problem *problem, unsigned size, struct zoo_instance *instance,
                  char **message);

/* The buffers of a size, without their data. */
bool problem_shape(const struct learn_problem *problem, unsigned size, struct zoo_buffer *shape,
                   char **message);

/* A byte of outputs of drawn sizes before the launch; 0xff elsewhere. */
#define PROBLEM_DRAWN_FILL 75

/* Values of a buffer of the large size, whose reference nobody computes. */
void problem_fill(const struct learn_problem *problem, unsigned size, unsigned buffer, size_t count,
                  void *data);
/* Those of the huge size: four stretches, where the blocks that are run begin; 0 elsewhere, so that
 * the rest of its memory is never touched. Outputs are filled with bytes of 0xff there. */
void problem_fill_huge(const struct learn_problem *problem, unsigned size, unsigned buffer,
                       size_t count, void *data);

/* What a kernel in Python brings itself; NULL for others. */
struct compile_launch;

struct problem_launch {
    unsigned grid[3], block[3], shared;
    unsigned cluster; /* blocks along x that share their shared memory; 0 or 1: none */
    bool is_ragged;   /* of a kernel in Python: the PTX for other sizes is wanted */
    /* Memory that Triton's code wants for itself, as for tensor descriptors; the caller's to get.
     */
    CUdeviceptr scratch;
    size_t scratch_bytes;
    union {
        CUdeviceptr pointer;
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
        CUtensorMap map;
    } value[LEARN_ARGUMENTS];
    void *argument[LEARN_ARGUMENTS + 2]; /* into value; Triton's kernels take two more pointers */
};
bool problem_launch(const struct lk_driver *cuda, const struct learn_exercise *exercise,
                    unsigned size, const struct compile_launch *own, const CUdeviceptr *buffers,
                    struct problem_launch *launch, char **message);
/* Puts the kernel into the stream that everything is in. */
CUresult problem_start(const struct lk_driver *cuda, CUfunction function,
                       const struct problem_launch *launch);
unsigned problem_argument_bytes(const struct learn_argument *argument);

/* Compares result[i], the content of buffer i afterwards; says in text what is wrong: the first
 * wrong element, what went into it, what was expected, and how many are wrong. */
bool problem_verify(const struct learn_problem *problem, unsigned size,
                    const struct zoo_instance *instance, void *const *result, struct lk_buf *text);

/* The same for a sample of what was written: elements that are not bytes of 0xff, or not as
 * problem_fill left them. result[i] is the content of buffer i. Not for problems of a family. */
bool problem_verify_some(const struct learn_problem *problem, unsigned size, void *const *result,
                         struct lk_buf *text);

/* How long a launch takes, in microseconds; measure.c. For a real GPU: what a simulated one takes
 * is modelled. */
struct problem_timed {
    struct zoo_run *run;
    CUfunction function;
    const struct problem_launch *launch;
};
CUresult problem_measure(const struct problem_timed *timed, double *us);

#endif
