/*
 * api.h: inside the public calls (include/lockstep.h).
 *
 *   api_calls.c  the functions, made from api.def
 *   api.c        one call: arguments checked, variant chosen, kernels launched
 *   api_gpu.c    contexts, their kernels, and the few calls for programs without CUDA
 *   api_error.c  messages
 */
#ifndef LOCKSTEP_ZOO_API_H
#define LOCKSTEP_ZOO_API_H

#include "lockstep.h"
#include "zoo/table.h"

enum api_trait { API_IN_PLACE = 1 };

enum api_form {
#define FORM(form, sizes, scalars, buffers, traits) API_FORM_##form,
#define CALL(form, name, family, problem, ...)
#include "zoo/api.def"
    API_FORMS
};

enum api_id {
#define FORM(form, sizes, scalars, buffers, traits)
#define CALL(form, name, family, problem, ...) API_##name,
#include "zoo/api.def"
    API_CALLS
};

/* One row of api.def, read. */
struct api_call {
    const char *name; /* "reduce_sum_f32" */
    struct zoo_problem problem;
    unsigned traits;
    unsigned size_count, scalar_count, buffer_count;
    unsigned parameter[ZOO_PARAMETERS]; /* which of the family's each size, then each scalar is */
    char buffer[ZOO_BUFFERS][24];       /* the C arguments' names */
};
const struct api_call *api_call(enum api_id id);

/* sizes is followed by the scalars, each by zoo_from_float. */
lk_status api_run(enum api_id id, void *stream, const int64_t *sizes, const void *const *buffers,
                  void *workspace, size_t workspace_bytes);
lk_status api_workspace(enum api_id id, const int64_t *sizes, size_t *bytes);

/* Contexts --------------------------------------------------------------------------------------*/

/* What is known about a context of the program; lives as long as the process. */
struct api_context {
    struct api_context *next;
    CUcontext context;
    unsigned long long id; /* another one may get the same address later */
    struct zoo_device device;
    struct zoo_table table;
    struct api_loaded *loaded;
    bool takes_host_memory; /* kernels can read what malloc gave */
};

/* Of the calling thread. call is for the message. */
lk_status api_current(const char *call, struct api_context **context);
/* The kernels for problem, loaded if they are not yet; *choice says which. */
lk_status api_kernels(const char *call, struct api_context *context,
                      const struct zoo_problem *problem, struct zoo_choice *choice,
                      const struct zoo_kernels **kernels);
void api_remarks(const struct api_context *context, struct lk_buf *text); /* of its table */
/* Forgets all kernels of a context that was reset behind our back. */
void api_forget(struct api_context *context);

/* Messages --------------------------------------------------------------------------------------*/

/* Sets lk_last_error of this thread to "lk_CALL: ..", and returns status. */
lk_status api_fail(lk_status status, const char *call, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* For what the driver answered while doing what. */
lk_status api_driver_failed(const struct lk_driver *cuda, CUresult result, const char *call,
                            const char *what);

#endif
