/*
 * api_explain.c: lk_explain: which variant a call would use, and why.
 */
#include "zoo/api.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

void api_explain_choice(const struct api_request *request, struct lk_buf *text)
{
    const struct zoo_choice *choice = &request->chosen->choice;
    const struct zoo_family *family = request->problem.family;
    const struct zoo_device *device = &request->context->device;
    const struct zoo_source *source = zoo_source(family, choice->variant);
    lk_buf_printf(text, " on %s%s: %s/%s", device->name,
                  device->cuda->simulated ? " (simulated)" : "", family->name,
                  choice->variant->name);
    for (unsigned i = 0; i < source->tunable_count; i++)
        lk_buf_printf(text, " %s=%d", source->tunables[i].name, choice->tuning.value[i]);
    lk_buf_printf(text, "\n  what: %s; %s; %zu bytes of workspace\n", choice->variant->technique,
                  choice->variant->traits & ZOO_DETERMINISTIC
                      ? "the same bits in every run"
                      : "the last bits may differ from run to run",
                  request->chosen->workspace_bytes);
    const struct zoo_row *row = choice->row;
    if (row)
        lk_buf_printf(text, "  why: the row '%s', %s", *row->where ? row->where : "for all",
                      row->origin);
    else
        lk_buf_printf(text,
                      "  why: no table has a row for it on this GPU, so the last variant of "
                      "the family that takes it; 'lockstep tune %s' measures",
                      family->name);
    if (row && row->seconds > 0)
        lk_buf_printf(text, ": %.3g us for %s", row->seconds * 1e6, row->measured);
    lk_buf_printf(text, "\n");
    api_remarks(request->context, text);
}

lk_status api_explain_problem(struct api_request *request, char *text, size_t size)
{
    if (!text || size == 0)
        return api_fail(LK_BAD_ARGUMENT, request->name, "explain: text is NULL or has no room");
    *text = 0;
    lk_status status = api_choose(request);
    if (status != LK_OK)
        return status;
    struct lk_buf words = {0};
    lk_buf_printf(&words, "lk_%s(", request->name);
    zoo_problem_print(&request->problem, &words);
    lk_buf_printf(&words, ")");
    api_explain_choice(request, &words);
    snprintf(text, size, "%s", words.data);
    lk_buf_free(&words);
    return LK_OK;
}

static void explain(const struct api_request *request, const struct api_call *call,
                    struct lk_buf *text)
{
    lk_buf_printf(text, "lk_%s", call->name);
    for (unsigned i = 0; i < call->size_count; i++)
        lk_buf_printf(text, "%s%s=%lld", i ? ", " : "(",
                      request->problem.family->parameters[call->parameter[i]].name,
                      (long long)request->problem.value[call->parameter[i]]);
    lk_buf_printf(text, ")");
    api_explain_choice(request, text);
}

static lk_status find_call(const char *name, enum api_id *id)
{
    if (!name)
        return api_fail(LK_BAD_ARGUMENT, "explain", "call is NULL; it is a name such as '%s'",
                        api_call(0)->name);
    if (strncmp(name, "lk_", 3) == 0)
        name += 3;
    struct lk_guess guess = {.wanted = name, .distance = 4};
    for (unsigned i = 0; i < API_CALLS; i++) {
        if (strcmp(api_call(i)->name, name) == 0) {
            *id = i;
            return LK_OK;
        }
        lk_guess_try(&guess, api_call(i)->name);
    }
    if (guess.nearest)
        return api_fail(LK_BAD_ARGUMENT, "explain", "there is no call '%s'; did you mean '%s'?",
                        name, guess.nearest);
    return api_fail(LK_BAD_ARGUMENT, "explain", "there is no call '%s'; lockstep.h has them", name);
}

lk_status lk_explain(const char *name, const int64_t *sizes, size_t count, char *text, size_t size)
{
    struct api_request request;
    enum api_id id = 0;
    if (!text || size == 0)
        return api_fail(LK_BAD_ARGUMENT, "explain", "text is NULL or has no room");
    *text = 0;
    lk_status status = find_call(name, &id);
    if (status == LK_OK && (!sizes || count != api_call(id)->size_count))
        status =
            api_fail(LK_BAD_ARGUMENT, "explain", "count is %zu; lk_%s has %u integer arguments",
                     count, api_call(id)->name, api_call(id)->size_count);
    if (status == LK_OK && sizes)
        status = api_request_row(&request, id, sizes, false);
    if (status == LK_OK)
        status = api_choose(&request);
    if (status != LK_OK)
        return status;
    struct lk_buf words = {0};
    explain(&request, api_call(id), &words);
    snprintf(text, size, "%s", words.data);
    lk_buf_free(&words);
    return LK_OK;
}
