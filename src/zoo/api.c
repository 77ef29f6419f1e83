/*
 * api.c: the public calls that are rows of api.def: the rows read, and a call's sizes taken by its
 * row. The rest is api_submit's.
 */
#include "zoo/api.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The table -------------------------------------------------------------------------------------*/

static struct api_call calls[API_CALLS];

/* The words of text, which are few and short. */
static unsigned split(const char *text, char words[][24], unsigned most)
{
    unsigned count = 0;
    for (int used; count < most && sscanf(text, "%23s%n", words[count], &used) == 1; text += used)
        count++;
    return count;
}

struct form {
    const char *sizes, *scalars, *buffers;
    unsigned traits;
};

/* api.def is wrong: no program gets further than its first test. */
static _Noreturn void bad_row(const char *name, const char *message)
{
    fprintf(stderr, "lockstep: api.def: %s: %s\n", name, message);
    abort();
}

static unsigned find_parameter(const struct zoo_family *family, const char *name, const char *call)
{
    for (unsigned i = 0; family->parameters[i].name; i++)
        if (strcmp(family->parameters[i].name, name) == 0)
            return i;
    bad_row(call, name);
}

static void read_call(struct api_call *call, const char *name, const struct zoo_family *family,
                      const char *problem, const struct form *form)
{
    char words[ZOO_PARAMETERS][24], *message;
    size_t count;
    struct zoo_problem *parsed = zoo_problems(family, problem, &count, &message);
    if (!parsed)
        bad_row(name, message);
    *call = (struct api_call){.name = name, .problem = *parsed, .traits = form->traits};
    free(parsed);
    call->size_count = split(form->sizes, words, ZOO_PARAMETERS);
    call->scalar_count =
        split(form->scalars, words + call->size_count, ZOO_PARAMETERS - call->size_count);
    for (unsigned i = 0; i < call->size_count + call->scalar_count; i++)
        call->parameter[i] = find_parameter(family, words[i], name);
    call->buffer_count = split(form->buffers, words, ZOO_BUFFERS);
    for (unsigned i = 0; i < call->buffer_count; i++)
        if (!(call->buffer[i] = strdup(words[i])))
            bad_row(name, "no memory");
}

#define FORM(form, sizes, scalars, buffers, traits)
#define CALL(form, name, family, problem, ...) extern const struct zoo_family zoo_##family;
#include "zoo/api.def"

static void read_calls(void)
{
    static const struct form forms[] = {
#define FORM(form, sizes, scalars, buffers, traits) {sizes, scalars, buffers, traits},
#define CALL(form, name, family, problem, ...)
#include "zoo/api.def"
    };
    static const struct {
        enum api_form form;
        const char *name;
        const struct zoo_family *family;
        const char *problem;
    } rows[] = {
#define FORM(form, sizes, scalars, buffers, traits)
#define CALL(form, name, family, problem, ...) {API_FORM_##form, #name, &zoo_##family, problem},
#include "zoo/api.def"
    };
    for (unsigned i = 0; i < API_CALLS; i++)
        read_call(&calls[i], rows[i].name, rows[i].family, rows[i].problem, &forms[rows[i].form]);
}

const struct api_call *api_call(enum api_id id)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_calls);
    return &calls[id];
}

/* Calls -----------------------------------------------------------------------------------------*/

lk_status api_request_row(struct api_request *request, enum api_id id, const int64_t *sizes,
                          bool with_scalars)
{
    const struct api_call *call = api_call(id);
    unsigned count = call->size_count + (with_scalars ? call->scalar_count : 0);
    request->name = call->name;
    request->buffer_name = call->buffer;
    request->traits = call->traits;
    request->alone = NULL;
    request->problem = call->problem;
    for (unsigned i = 0; i < call->size_count; i++) {
        const struct zoo_parameter *parameter =
            &call->problem.family->parameters[call->parameter[i]];
        if (sizes[i] < parameter->least || sizes[i] > parameter->most)
            return api_fail(LK_BAD_ARGUMENT, call->name, "%s is %lld; it goes from %lld to %lld",
                            parameter->name, (long long)sizes[i], (long long)parameter->least,
                            (long long)parameter->most);
    }
    for (unsigned i = 0; i < count; i++)
        request->problem.value[call->parameter[i]] = sizes[i];
    return api_shape(request);
}

lk_status api_run(enum api_id id, void *stream, const int64_t *sizes, const void *const *buffers,
                  void *workspace, size_t workspace_bytes)
{
    struct api_request request; /* not cleared: it is large, and everything in it is set */
    lk_status status = api_request_row(&request, id, sizes, true);
    if (status != LK_OK)
        return status;
    return api_submit(&request, stream, buffers, workspace, workspace_bytes);
}

lk_status api_workspace(enum api_id id, const int64_t *sizes, size_t *bytes)
{
    struct api_request request;
    if (!bytes)
        return api_fail(LK_BAD_ARGUMENT, api_call(id)->name, "bytes is NULL; it gets the answer");
    *bytes = 0;
    lk_status status = api_request_row(&request, id, sizes, false);
    if (status == LK_OK)
        status = api_choose(&request);
    if (status == LK_OK)
        *bytes = request.chosen->workspace_bytes;
    return status;
}
