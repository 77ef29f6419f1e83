/*
 * route.c: which function answers to which path. A page is one line here; with a title it is in the
 * navigation too.
 */
#include "studio/pages.h"

#include <string.h>

const struct studio_route studio_routes[] = {
    {"GET", "/", page_course, false, "Course"},
    {"GET", "/interactives", page_interactives, false, "Interactives"},
    {"GET", "/library", page_library, false, "Library"},
    {"GET", "/progress", page_progress, false, "Progress"},
    {"GET", "/lesson/", page_lesson, false, NULL},
    {"GET", "/library/", page_family, false, NULL},
    {"GET", "/profile", page_profile, true, NULL},
    {"GET", "/interactive/", page_interactive, false, NULL},
    {"GET", "/replay", page_replay, false, NULL},
    {"GET", "/replay/", page_replay_variant, false, NULL},
    {"POST", "/begin", page_begin_course, false, NULL},
    {"POST", "/quiz/", page_quiz, false, NULL},
    {"GET", "/web/", file_web, false, NULL},
    {"GET", "/lib/codemirror/", file_codemirror, false, NULL},
    {"GET", "/lib/katex/", file_katex, false, NULL},
    {"GET", "/api/file", studio_api_file, true, NULL},
    {"POST", "/api/file", studio_api_save, true, NULL},
    {"POST", "/api/check", studio_api_check, true, NULL},
    {"POST", "/api/hint", studio_api_hint, true, NULL},
    {"POST", "/api/solution", studio_api_solution, true, NULL},
    {"POST", "/api/reset", studio_api_reset, true, NULL},
    {"POST", "/api/answer", studio_api_answer, false, NULL},
    {"GET", "/api/progress", studio_api_progress, false, NULL},
    {"GET", "/api/profile", studio_api_profile, false, NULL},
    {"GET", "/api/run", studio_api_run, false, NULL},
    {"GET", "/api/replay", studio_api_replay, false, NULL},
    {"GET", "/api/events", studio_api_events, true, NULL},
};
const size_t studio_route_count = sizeof studio_routes / sizeof studio_routes[0];

/* The rest of path after the route's; NULL if it is another path. */
static const char *rest_of(const struct studio_route *route, const char *path)
{
    size_t length = strlen(route->path);
    if (length > 1 && route->path[length - 1] == '/')
        return strncmp(path, route->path, length) == 0 ? path + length : NULL;
    return strcmp(path, route->path) == 0 ? path + length : NULL;
}

static const struct learn_exercise *find_exercise(const struct studio_request *request)
{
    const struct learn_course *course = request->studio->options.course;
    const char *key = studio_query(request, "exercise");
    for (unsigned i = 0; i < course->count; i++)
        for (unsigned j = 0; j < course->lesson[i]->exercise_count; j++)
            if (strcmp(course->lesson[i]->exercise[j].key, key) == 0)
                return &course->lesson[i]->exercise[j];
    return NULL;
}

void studio_route(struct studio_request *request, struct studio_reply *reply)
{
    bool known = false, api = strncmp(request->path, "/api/", 5) == 0;
    const char *method = strcmp(request->method, "HEAD") == 0 ? "GET" : request->method;
    request->exercise = find_exercise(request);
    for (size_t i = 0; i < studio_route_count; i++) {
        const struct studio_route *route = &studio_routes[i];
        request->rest = rest_of(route, request->path);
        known = known || request->rest;
        if (!request->rest || strcmp(method, route->method) != 0)
            continue;
        if (route->exercise && !request->exercise)
            reply_error(reply, 404, "there is no exercise '%s' in this course",
                        studio_query(request, "exercise"));
        else
            route->answer(request, reply);
        return;
    }
    if (api)
        reply_error(reply, known ? 405 : 404,
                    known ? "this path needs another method" : "there is nothing here");
    else if (known)
        reply_refusal(reply, 405, "This page needs another method.");
    else
        page_missing(request, reply, "There is no such page.");
}
