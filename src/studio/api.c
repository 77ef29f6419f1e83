/*
 * api.c: what the pages ask for, as JSON. docs/studio.md lists it. Verdicts are in check.c.
 */
#include "studio/pages.h"

#include "base/utf8.h"
#include "host/files.h"
#include "learn/large.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

json_t *studio_api_next(struct studio *studio, const struct learn_exercise *exercise)
{
    const struct learn_exercise *next =
        learner_next(studio->options.course, studio->options.progress, exercise);
    if (!next)
        return json_null();
    struct lk_buf url = {0};
    page_place(&url, next);
    json_t *object = json_pack("{ss ss ss ss}", "exercise", next->key, "title", next->title,
                               "lesson", next->lesson->title, "url", url.data);
    lk_buf_free(&url);
    return object;
}

static bool need_folder(struct studio_request *request, struct studio_reply *reply)
{
    if (!request->studio->folder)
        reply_error(reply, 409,
                    "you have no folder for the exercises yet; the first page makes one");
    return request->studio->folder != NULL;
}

/* The progress file keeps the large size's time among the counters. It is shown as in a verdict,
 * beside figures.json, which is of an H200. */
static void tell_gain(const struct studio *studio, const struct learn_exercise *exercise,
                      json_t *last)
{
    json_t *counters = json_object_get(last, "counters");
    double us = json_number_value(json_object_get(counters, "large_us"));
    json_object_del(counters, "large_us");
    if (us <= 0 || !exercise->problem.large || strcmp(studio->options.grader.gpu, "sim:h200") != 0)
        return;
    struct learn_gain gain = large_gain(exercise, us);
    json_object_set_new(last, "gain", learn_gain_json(&gain));
}

/* The learner's file as it is now. */
void studio_api_file(struct studio_request *request, struct studio_reply *reply)
{
    struct learn_progress *progress = request->studio->options.progress;
    const struct learn_exercise *exercise = request->exercise;
    char version[LEARNER_VERSION], *message = NULL, *text = NULL;
    if (!need_folder(request, reply))
        return;
    char *path = learner_file(request->studio->folder, exercise);
    if (access(path, F_OK) == 0 && !(text = learner_read(path, &message))) {
        reply_error(reply, 500, "%s", message);
        free(message);
        free(path);
        return;
    }
    learner_version(text, version);
    lk_replace_bad_utf8(text);
    json_t *last = learn_progress_last(progress, exercise);
    tell_gain(request->studio, exercise, last);
    struct learn_state state = learn_progress_state(progress, exercise);
    reply_json(
        reply, 200,
        json_pack("{ss ss ss? ss sb si sI so so}", "exercise", exercise->key, "path", path, "text",
                  text, "version", version, "passed", state.passed, "hints", (int)state.hints,
                  "attempt", (json_int_t)learn_progress_attempts(progress, exercise), "last",
                  last ? last : json_null(), "next", studio_api_next(request->studio, exercise)));
    free(text);
    free(path);
}

void studio_api_hint(struct studio_request *request, struct studio_reply *reply)
{
    unsigned seen =
        learn_progress_look(request->studio->options.progress, request->exercise, "hint");
    unsigned rung = seen < LEARN_HINTS ? seen : LEARN_HINTS - 1;
    reply_json(reply, 200,
               json_pack("{ss ss si si ss}", "exercise", request->exercise->key, "kind",
                         learn_hint_names[rung], "rung", (int)rung + 1, "rungs", LEARN_HINTS,
                         "text", request->exercise->hint[rung]));
}

void studio_api_solution(struct studio_request *request, struct studio_reply *reply)
{
    const struct learn_exercise *exercise = request->exercise;
    char *message = NULL,
         *text = host_read_text(learn_path(exercise, learn_solution(exercise)), &message);
    if (!text) {
        reply_error(reply, 500, "%s", message);
        free(message);
        return;
    }
    learn_progress_look(request->studio->options.progress, exercise, "solution");
    reply_json(reply, 200, json_pack("{ss ss}", "exercise", exercise->key, "solution", text));
    free(text);
}

void studio_api_reset(struct studio_request *request, struct studio_reply *reply)
{
    char *kept, *message, version[LEARNER_VERSION];
    if (!need_folder(request, reply))
        return;
    if (!learner_reset(request->studio->folder, request->exercise, &kept, &message)) {
        reply_error(reply, 500, "%s", message);
        free(message);
        return;
    }
    char *path = learner_file(request->studio->folder, request->exercise);
    char *text = learner_read(path, &message);
    learner_version(text, version);
    if (text) {
        reply_json(reply, 200,
                   json_pack("{ss ss ss ss?}", "exercise", request->exercise->key, "text", text,
                             "version", version, "kept", kept));
    } else {
        reply_error(reply, 500, "%s", message);
        free(message);
    }
    free(text);
    free(path);
    free(kept);
}

/* {"lesson": ID, "question": from 0, "choice": from 1} */
void studio_api_answer(struct studio_request *request, struct studio_reply *reply)
{
    const struct learn_course *course = request->studio->options.course;
    struct learn_progress *progress = request->studio->options.progress;
    json_t *asked = json_loadb(request->body, request->body_size, 0, NULL);
    const char *id = json_string_value(json_object_get(asked, "lesson"));
    json_int_t number = json_integer_value(json_object_get(asked, "question"));
    json_int_t choice = json_integer_value(json_object_get(asked, "choice"));
    const struct learn_lesson *lesson = NULL;
    for (unsigned i = 0; id && i < course->count; i++)
        if (strcmp(course->lesson[i]->id, id) == 0)
            lesson = course->lesson[i];
    if (!lesson || !json_is_integer(json_object_get(asked, "question")) || number < 0 ||
        number >= lesson->question_count || choice < 1 ||
        choice > lesson->question[number].choice_count) {
        reply_error(reply, 400, "this needs a lesson, a question from 0 and a choice from 1");
    } else {
        const struct learn_question *question = &lesson->question[number];
        bool right = choice == (json_int_t)question->answer + 1;
        bool kept =
            learn_progress_answer(progress, lesson, (unsigned)number, (unsigned)choice, right);
        reply_json(reply, 200,
                   json_pack("{sb ss si si sb}", "right", right, "why", question->why,
                             "answered_right", (int)learn_progress_right(progress, lesson),
                             "questions", (int)lesson->question_count, "kept", kept));
    }
    json_decref(asked);
}

void studio_api_progress(struct studio_request *request, struct studio_reply *reply)
{
    if (*studio_query(request, "download"))
        reply->download = lk_format("lockstep-progress.json");
    reply_json(
        reply, 200,
        learner_progress_json(request->studio->options.course, request->studio->options.progress));
}

/* The last run of the measured size of ?exercise, or of the current one. Nothing (204) if there is
 * none: that is not an error, and for a 404 a browser would log one in its console. */
void studio_api_run(struct studio_request *request, struct studio_reply *reply)
{
    struct studio *studio = request->studio;
    const struct learn_exercise *exercise = request->exercise;
    if (!exercise && *studio_query(request, "exercise")) {
        reply_error(reply, 404, "there is no exercise '%s' in this course",
                    studio_query(request, "exercise"));
        return;
    }
    if (!exercise)
        exercise = learner_current(studio->options.course, studio->options.progress);
    char *path = exercise ? learn_run_path(studio->options.progress, exercise) : NULL;
    char *message = NULL, *text = path ? host_read_text(path, &message) : NULL;
    reply->status = text ? 200 : 204;
    reply->type = "application/json";
    if (text)
        lk_buf_printf(&reply->body, "%s", text);
    free(message);
    free(text);
    free(path);
}
