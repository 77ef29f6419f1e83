/*
 * api.h: inside the public calls (include/lockstep.h).
 *
 *   api_calls.c    the functions, made from api.def
 *   api.c          one of them: its row read, its sizes checked
 *   api_submit.c   any call whose problem is known: buffers checked, kernels launched
 *   api_known.c    what a thread has asked the driver before and need not ask again
 *   api_context.c  contexts, and the kernels that are loaded in each
 *   api_gpu.c      the few calls for programs without CUDA
 *   api_explain.c  lk_explain
 *   api_error.c    messages
 */
#ifndef LOCKSTEP_ZOO_API_H
#define LOCKSTEP_ZOO_API_H

#include "lockstep.h"
#include "zoo/table.h"

enum api_trait {
    API_IN_PLACE = 1,
    API_ALIGNED = 2, /* if all buffers are at multiples of 16, variants run that need it */
};

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
    const char *buffer[ZOO_BUFFERS];    /* the C arguments' names */
};
const struct api_call *api_call(enum api_id id);

/* sizes is followed by the scalars, each by zoo_from_float. */
lk_status api_run(enum api_id id, void *stream, const int64_t *sizes, const void *const *buffers,
                  void *workspace, size_t workspace_bytes);
lk_status api_workspace(enum api_id id, const int64_t *sizes, size_t *bytes);

/* Any call --------------------------------------------------------------------------------------*/

/* A call that is no row of api.def fills in the first five, and calls api_shape and api_submit. */
struct api_request {
    const char *name;               /* of the call, for messages */
    const char *const *buffer_name; /* of its arguments, likewise */
    unsigned traits;                /* of enum api_trait */
    const char *const *alone;       /* names of what is no other buffer in place either, then NULL;
                                       NULL: none. Of the size of a row or a column, they could be
                                       taken for a matrix that has one */
    struct zoo_problem problem;     /* its sizes within their limits */
    unsigned count;                 /* this and the next two: by api_shape */
    struct zoo_buffer buffer[ZOO_BUFFERS];
    size_t bytes[ZOO_BUFFERS];
    uintptr_t address[ZOO_BUFFERS]; /* this and the rest: by api_submit */
    struct api_context *context;
    const struct api_chosen *chosen;
};

lk_status api_shape(struct api_request *request);
/* Checks everything else about the call and puts its kernels into the stream. */
lk_status api_submit(struct api_request *request, void *stream, const void *const *buffers,
                     void *workspace, size_t workspace_bytes);
/* Only sets context and chosen: for lk_NAME_workspace and lk_explain. */
lk_status api_choose(struct api_request *request);
/* " on GPU: FAMILY/VARIANT ..", and why: behind the call's name, after api_choose. */
void api_explain_choice(const struct api_request *request, struct lk_buf *text);
/* All of lk_NAME_explain for a request that api_shape has seen; the text is cut to size. */
lk_status api_explain_problem(struct api_request *request, char *text, size_t size);
/* A size in a description against the limits of the family's parameter. */
lk_status api_check_size(const char *call, const struct zoo_family *family, unsigned parameter,
                         int64_t value);
/* For row `id`, as far as api_shape. */
lk_status api_request_row(struct api_request *request, enum api_id id, const int64_t *sizes,
                          bool with_scalars);

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

/* What runs a problem, and the workspace that it needs, with room to align it. */
enum { API_WORKSPACE_ALIGN = 256 };
struct api_chosen {
    struct zoo_choice choice;
    const struct zoo_kernels *kernels;
    size_t workspace_bytes;
};

/* The driver, and the context that is current on this thread; call is for the message. */
lk_status api_need_context(const char *call, const struct lk_driver **cuda, CUcontext *context);
/* What is known about that context. */
lk_status api_current(const char *call, struct api_context **context);
/* What solves problem, loaded if it is not yet. *chosen is good until this thread's next call.
 * Scalars do not matter: lk_NAME_workspace does not have them either. */
lk_status api_kernels(const char *call, struct api_context *context,
                      const struct zoo_problem *problem, bool aligned,
                      const struct api_chosen **chosen);
/* A variant by its name, loaded if it is not yet; what `call` then launches is its business. */
lk_status api_variant(const char *call, struct api_context *context,
                      const struct zoo_family *family, const char *name,
                      const struct zoo_kernels **kernels);
void api_remarks(const struct api_context *context, struct lk_buf *text); /* of its table */
/* Forgets all kernels of a context that was reset behind our back, `stale` among them, unless
 * another thread has done so already. */
void api_forget(struct api_context *context, const struct zoo_kernels *stale);

/* What the driver need not be asked again -------------------------------------------------------*/

/* Each of these is an error only if the driver says so, and it is asked once for each context,
 * buffer and stream, as long as this thread has room to remember. */
lk_status api_check_memory(const char *call, const struct api_context *context, const char *name,
                           uintptr_t address, size_t bytes);
lk_status api_check_stream(const char *call, const struct api_context *context, void *stream);
/* The context with this id, and what solves a problem in a context; NULL: not remembered. */
struct api_context *api_known_context(unsigned long long id);
void api_know_context(unsigned long long id, struct api_context *context);
const struct api_chosen *api_known_choice(const struct api_context *context,
                                          const struct zoo_problem *problem,
                                          struct zoo_demand demand);
const struct api_chosen *api_know_choice(const struct api_context *context,
                                         const struct zoo_problem *problem,
                                         struct zoo_demand demand, const struct api_chosen *chosen);
/* Forget: what this thread remembers; all buffers; everything. The last two go for all threads,
 * each at the beginning of its next call. */
void api_ask_again(void);
void api_memory_freed(void);
void api_kernels_gone(void);

/* Messages --------------------------------------------------------------------------------------*/

/* Sets lk_last_error of this thread to "lk_CALL: ..", and returns status. */
lk_status api_fail(lk_status status, const char *call, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* For what the driver answered while doing what. */
lk_status api_driver_failed(const struct lk_driver *cuda, CUresult result, const char *call,
                            const char *what);

#endif
