/*
 * ready.c: reads course/ready.json, and recommends a start; see ready.h.
 */
#include "learn/ready.h"

#include "host/files.h"
#include "learn/reader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *path_of(struct lk_arena *arena, const struct learn_course *course)
{
    return lk_arena_printf(arena, "%s/ready.json", course->folder);
}

static bool read_topic(struct lesson_reader *reader, json_t *object,
                       const struct learn_course *course, struct learn_ready *ready)
{
    unsigned at = ready->quiz->question_count;
    const char *id = reader_text(reader, object, "lesson", true);
    ready->topic[at] = reader_text(reader, object, "topic", true);
    if (!id || !ready->topic[at] || !reader_keys(reader, object, "topic lesson question"))
        return false;
    unsigned lesson = 0;
    while (lesson < course->count && strcmp(course->lesson[lesson]->id, id) != 0)
        lesson++;
    if (lesson == course->count)
        return reader_fail(reader, "lesson", "the course has no lesson '%s'", id);
    ready->lesson[at] = lesson;
    json_t *question = json_object_get(object, "question");
    if (!json_is_object(question))
        return reader_fail(reader, "question", "must be an object, as in a quiz");
    size_t place = reader_enter(reader, "question");
    ready->quiz->question_count++;
    bool fine = lesson_read_question(reader, question, &ready->quiz->question[at]);
    reader_leave(reader, place);
    return fine;
}

static bool read_all(struct lesson_reader *reader, const struct learn_course *course,
                     struct learn_ready *ready)
{
    json_error_t error;
    struct learn_lesson *quiz = ready->quiz;
    json_t *each;
    size_t i;
    char *text = host_read_text(reader->path, &reader->error);
    if (!text)
        return false;
    quiz->json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    free(text);
    if (!quiz->json) {
        reader->error =
            lk_format("%s:%d:%d: %s", reader->path, error.line, error.column, error.text);
        return false;
    }
    if (!json_is_array(quiz->json) || json_array_size(quiz->json) == 0 ||
        json_array_size(quiz->json) > LEARN_READY_QUESTIONS)
        return reader_fail(reader, NULL, "must be a list of 1 to %d questions",
                           LEARN_READY_QUESTIONS);
    quiz->question =
        lk_arena_alloc(quiz->arena, json_array_size(quiz->json) * sizeof *quiz->question);
    json_array_foreach(quiz->json, i, each)
    {
        snprintf(reader->where, sizeof reader->where, "[%zu]", i);
        if (!read_topic(reader, each, course, ready))
            return false;
    }
    return true;
}

struct learn_ready *learn_ready_read(const struct learn_course *course, char **message)
{
    struct lk_arena *arena = lk_arena_create();
    struct learn_ready *ready = lk_arena_alloc(arena, sizeof *ready);
    struct lesson_reader reader = {.arena = arena, .path = path_of(arena, course)};
    ready->quiz = lk_arena_alloc(arena, sizeof *ready->quiz);
    *ready->quiz = (struct learn_lesson){.arena = arena, .id = "ready", .title = "Are you ready?"};
    *message = NULL;
    if (read_all(&reader, course, ready) && !reader.error)
        return ready;
    *message = reader.error;
    learn_ready_free(ready);
    return NULL;
}

void learn_ready_free(struct learn_ready *ready)
{
    if (ready)
        learn_lesson_free(ready->quiz); /* whose arena has it all */
}

unsigned learn_ready_start(const struct learn_ready *ready, const struct learn_course *course,
                           const bool *right)
{
    unsigned first = course->count;
    for (unsigned i = 0; i < ready->quiz->question_count; i++)
        if (!right[i] && ready->lesson[i] < first)
            first = ready->lesson[i];
    return first < course->count ? first : learn_course_begin(course, NULL);
}

unsigned learn_ready_audit(const struct learn_course *course, learn_audit_note *note, void *context)
{
    struct lk_arena *arena = lk_arena_create();
    bool there = access(path_of(arena, course), F_OK) == 0;
    lk_arena_destroy(arena);
    if (!there)
        return 0;
    char *message = NULL;
    struct learn_ready *ready = learn_ready_read(course, &message);
    note(context, "ready.json", message);
    unsigned bad = !ready;
    learn_ready_free(ready);
    free(message);
    return bad;
}
