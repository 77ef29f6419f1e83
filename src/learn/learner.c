/*
 * learner.c: the learner's folder and place in the course: lays out exercises, resets one, finds
 * what comes next, keeps notes.
 */
#include "learn/learner.h"

#include "host/files.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Files -----------------------------------------------------------------------------------------*/

/* The learner's own day: at two minutes to midnight it is still today. */
static struct tm today(void)
{
    time_t now = time(NULL);
    struct tm here;
    localtime_r(&now, &here);
    return here;
}

/* Dated, so that the same kata starts afresh when its turn comes again. */
static char *kata_file(const char *folder, const struct learn_exercise *exercise)
{
    char day[32];
    struct tm date = today();
    strftime(day, sizeof day, "%Y-%m-%d", &date);
    return lk_format("%s/kata/%s_%s.%s", folder, day, exercise->name, learn_extension(exercise));
}

char *learner_file(const char *folder, const struct learn_exercise *exercise)
{
    if (exercise->is_kata)
        return kata_file(folder, exercise);
    return lk_format("%s/%s/%s.%s", folder, exercise->lesson->id, exercise->name,
                     learn_extension(exercise));
}

static char *lesson_text(const char *folder, const struct learn_lesson *lesson)
{
    return lk_format("%s/%s/lesson.md", folder, lesson->id);
}

/* A file that is already there stays as it is. Frees text and to. */
static bool write_new(char *text, char *to, char **message)
{
    bool fine = access(to, F_OK) == 0;
    if (!fine && host_make_parents(to, message)) {
        FILE *file = fopen(to, "wxe");
        fine = file && fputs(text, file) >= 0;
        fine = (!file || fclose(file) == 0) && fine;
        if (!fine)
            *message = lk_format("%s: %s", to, strerror(errno));
        if (!fine && file)
            (void)unlink(to); /* half a file would pass for the exercise */
    }
    free(text);
    free(to);
    return fine;
}

/* Frees to. */
static bool copy_file(const char *from, char *to, char **message)
{
    char *text = host_read_text(from, message);
    if (text)
        return write_new(text, to, message);
    free(to);
    return false;
}

static bool is_in_python(const struct learn_lesson *lesson, const char *name, size_t length)
{
    for (unsigned i = 0; i < lesson->exercise_count; i++)
        if (strlen(lesson->exercise[i].name) == length &&
            strncmp(lesson->exercise[i].name, name, length) == 0)
            return lesson->exercise[i].is_python;
    return false;
}

/* The lesson's text, whose links to exercises lead to the learner's files: ](add/exercise.cu) is
 * ](add.cu) there, or ](add.py). Takes text. */
static char *with_own_links(const struct learn_lesson *lesson, char *text)
{
    static const char given[] = "/exercise.c";
    struct lk_buf out = {0};
    const char *at = text;
    for (const char *next, *rest; (next = strstr(at, given)); at = rest) {
        const char *link = next;
        while (link > at && *link != '(' && *link != '\n')
            link--;
        bool is_link = *link == '(';
        bool python = is_link && is_in_python(lesson, link + 1, (size_t)(next - link) - 1);
        rest = next + strlen("/exercise");
        lk_buf_printf(&out, "%.*s%s", (int)(next - at), at,
                      !is_link ? "/exercise"
                      : python ? ".py"
                               : "");
        if (python)
            rest += strncmp(rest, ".cu", 3) == 0 ? 3 : 2;
    }
    lk_buf_printf(&out, "%s", at);
    free(text);
    return out.data;
}

/* Pictures are the studio's: [words](interactive:NAME?STATE) is "words (in `lockstep studio`:
 * /interactive/NAME?STATE)" in a text that an editor shows. Takes text. */
static char *with_pictures_named(char *text)
{
    static const char given[] = "](interactive:";
    struct lk_buf out = {0};
    const char *at = text;
    for (const char *next; (next = strstr(at, given));) {
        const char *words = next, *address = next + strlen(given);
        while (words > at && words[-1] != '[')
            words--;
        lk_buf_printf(&out, "%.*s", (int)(words - at) - (words > at), at);
        lk_buf_printf(&out, "%.*s (in `lockstep studio`: `/interactive/%.*s`)", (int)(next - words),
                      words, (int)strcspn(address, ")"), address);
        at = address + strcspn(address, ")");
        at += *at == ')';
    }
    lk_buf_printf(&out, "%s", at);
    free(text);
    return out.data;
}

static bool copy_text(const char *folder, const struct learn_lesson *lesson, char **message)
{
    char *from = lk_format("%s/lesson.md", lesson->folder);
    char *text = host_read_text(from, message);
    bool fine = text && write_new(with_pictures_named(with_own_links(lesson, text)),
                                  lesson_text(folder, lesson), message);
    free(from);
    return fine;
}

/* What the lessons' words are in Triton: python.md of the course, for whoever writes Python. */
static bool copy_python_text(const char *folder, const struct learn_exercise *exercise,
                             char **message)
{
    const char *from =
        lk_arena_printf(exercise->lesson->arena, "%s/../../python.md", exercise->lesson->folder);
    return !exercise->is_python || access(from, F_OK) != 0 ||
           copy_file(from, lk_format("%s/python.md", folder), message);
}

bool learner_lay_out(const char *folder, const struct learn_exercise *exercise, char **message)
{
    return copy_text(folder, exercise->lesson, message) &&
           copy_python_text(folder, exercise, message) &&
           copy_file(learn_path(exercise, learn_given(exercise)), learner_file(folder, exercise),
                     message);
}

bool learner_lay_out_all(const char *folder, const struct learn_course *course, char **message)
{
    for (unsigned i = 0; i < course->count; i++) {
        const struct learn_lesson *lesson = course->lesson[i];
        if (!copy_text(folder, lesson, message))
            return false;
        for (unsigned j = 0; j < lesson->exercise_count; j++)
            if (!lesson->exercise[j].is_kata && !lesson->exercise[j].is_aside &&
                !learner_lay_out(folder, &lesson->exercise[j], message))
                return false;
    }
    return true;
}

char *learner_begin(const struct learn_course *course, struct learn_progress *progress,
                    const char *asked, char **message)
{
    char *folder = NULL;
    size_t length = strlen(course->folder);
    bool fine = host_make_folder(asked, message);
    if (fine && !(folder = realpath(asked, NULL))) {
        *message = lk_format("%s: %s", asked, strerror(errno));
        fine = false;
    }
    if (fine && strncmp(folder, course->folder, length) == 0 &&
        (folder[length] == '/' || !folder[length])) {
        *message = lk_format("%s is the course itself; take a folder of your own", folder);
        fine = false;
    }
    fine = fine && learner_lay_out_all(folder, course, message);
    if (fine && !learn_progress_set(progress, "folder", folder)) {
        *message = lk_format("the folder was not remembered: %s", learn_progress_error(progress));
        fine = false;
    }
    if (fine)
        return folder;
    free(folder);
    return NULL;
}

bool learner_reset(const char *folder, const struct learn_exercise *exercise, char **kept,
                   char **message)
{
    char *path = learner_file(folder, exercise);
    int lock = host_lock_parent(path); /* against a studio that saves at this moment */
    bool fine = true;
    *kept = NULL;
    if (access(path, F_OK) == 0) {
        for (unsigned i = 1; !*kept || access(*kept, F_OK) == 0; i++) {
            free(*kept);
            *kept = lk_format("%s.%u", path, i);
        }
        fine = rename(path, *kept) == 0;
        if (!fine)
            *message = lk_format("%s: %s", path, strerror(errno));
    }
    if (fine && !learner_lay_out(folder, exercise, message)) {
        if (*kept)
            (void)rename(*kept, path); /* better the learner's than none */
        fine = false;
    }
    host_unlock(lock);
    free(path);
    if (!fine) {
        free(*kept);
        *kept = NULL;
    }
    return fine;
}

/* Places ----------------------------------------------------------------------------------------*/

/* A kata can be done any day: it is neither open nor next. */
static bool is_open(struct learn_progress *progress, const struct learn_exercise *exercise)
{
    return !exercise->is_kata && !exercise->is_aside &&
           !learn_progress_state(progress, exercise).passed;
}

const struct learn_exercise *learner_first_open(const struct learn_lesson *lesson,
                                                struct learn_progress *progress)
{
    for (unsigned i = 0; i < lesson->exercise_count; i++)
        if (is_open(progress, &lesson->exercise[i]))
            return &lesson->exercise[i];
    return lesson->exercise_count ? &lesson->exercise[0] : NULL;
}

/* The i-th lesson, counted from where the learner began; what lies before that comes last. */
static const struct learn_lesson *lesson_from_begin(const struct learn_course *course,
                                                    struct learn_progress *progress, unsigned i)
{
    char *start = learn_progress_get(progress, "start");
    unsigned begin = learn_course_begin(course, start);
    free(start);
    return course->lesson[(begin + i) % course->count];
}

const struct learn_exercise *learner_current(const struct learn_course *course,
                                             struct learn_progress *progress)
{
    char *key = learn_progress_get(progress, "current"), *message = NULL;
    const struct learn_lesson *lesson;
    const struct learn_exercise *exercise = NULL;
    if (key && !learn_course_find(course, key, &lesson, &exercise, &message))
        exercise = NULL; /* the course has changed */
    free(message);
    free(key);
    for (unsigned i = 0; i < course->count && !exercise; i++)
        exercise = learner_first_open(lesson_from_begin(course, progress, i), progress);
    return exercise;
}

const struct learn_exercise *learner_first_unsolved(const struct learn_course *course,
                                                    struct learn_progress *progress)
{
    for (unsigned i = 0; i < course->count; i++) {
        const struct learn_lesson *lesson = lesson_from_begin(course, progress, i);
        for (unsigned j = 0; j < lesson->exercise_count; j++)
            if (is_open(progress, &lesson->exercise[j]))
                return &lesson->exercise[j];
    }
    return NULL;
}

const struct learn_exercise *learner_next(const struct learn_course *course,
                                          struct learn_progress *progress,
                                          const struct learn_exercise *exercise)
{
    bool behind = false;
    if (exercise->is_kata)
        return learner_current(course, progress);
    for (unsigned i = 0; i < course->count; i++)
        for (unsigned j = 0; j < course->lesson[i]->exercise_count; j++) {
            const struct learn_exercise *each = &course->lesson[i]->exercise[j];
            if (behind && !each->is_kata && !each->is_aside)
                return each;
            behind = behind || each == exercise;
        }
    return NULL;
}

const struct learn_exercise *learner_kata(const struct learn_course *course,
                                          struct learn_progress *progress)
{
    const struct learn_exercise *place = learner_current(course, progress);
    struct tm date = today(), noon = {.tm_year = date.tm_year,
                                      .tm_mon = date.tm_mon,
                                      .tm_mday = date.tm_mday,
                                      .tm_hour = 12};
    return place ? learn_course_kata(course, place->lesson, (long)(timegm(&noon) / 86400)) : NULL;
}

void learner_count(const struct learn_course *course, struct learn_progress *progress,
                   unsigned *solved, unsigned *all)
{
    *solved = *all = 0;
    for (unsigned i = 0; i < course->count; i++)
        for (unsigned j = 0; j < course->lesson[i]->exercise_count; j++) {
            const struct learn_exercise *each = &course->lesson[i]->exercise[j];
            bool counts = !each->is_kata && !each->is_aside;
            *solved += counts && learn_progress_state(progress, each).passed;
            *all += counts;
        }
}

const struct learn_lesson *learner_open_quiz(const struct learn_course *course,
                                             struct learn_progress *progress)
{
    for (unsigned i = 0; i < course->count; i++) {
        const struct learn_lesson *lesson = course->lesson[i];
        bool solved = learn_progress_right(progress, lesson) < lesson->question_count;
        for (unsigned j = 0; solved && j < lesson->exercise_count; j++)
            solved = lesson->exercise[j].is_kata || lesson->exercise[j].is_aside ||
                     learn_progress_state(progress, &lesson->exercise[j]).passed;
        if (solved)
            return lesson;
    }
    return NULL;
}

/* Progress for programs -------------------------------------------------------------------------*/

static json_t *exercise_json(struct learn_progress *progress, const struct learn_exercise *exercise)
{
    struct learn_state state = learn_progress_state(progress, exercise);
    json_t *last = learn_progress_last(progress, exercise);
    return json_pack("{ss sb si si sb so so}", "exercise", learn_key(exercise), "passed",
                     state.passed, "attempts", (int)state.attempts, "hints", (int)state.hints,
                     "saw_solution", state.saw_solution, "best",
                     learn_progress_best(progress, exercise), "last", last ? last : json_null());
}

static json_t *lesson_json(const struct learn_lesson *lesson, struct learn_progress *progress)
{
    json_t *exercises = json_array();
    for (unsigned i = 0; i < lesson->exercise_count; i++) {
        const struct learn_exercise *exercise = &lesson->exercise[i];
        struct learn_state state = learn_progress_state(progress, exercise);
        json_array_append_new(exercises,
                              json_pack("{ss ss ss sb si sb sb}", "name", exercise->name, "title",
                                        exercise->title, "language",
                                        exercise->is_python ? "python"
                                        : exercise->is_c    ? "c"
                                                            : "cuda",
                                        "passed", state.passed, "attempts", (int)state.attempts,
                                        "kata", exercise->is_kata, "aside", exercise->is_aside));
    }
    return json_pack("{ss ss si si si so}", "id", lesson->id, "title", lesson->title, "minutes",
                     (int)lesson->minutes, "questions", (int)lesson->question_count,
                     "answered_right", (int)learn_progress_right(progress, lesson), "exercises",
                     exercises);
}

json_t *learner_list_json(const struct learn_course *course, struct learn_progress *progress)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < course->count; i++)
        json_array_append_new(list, lesson_json(course->lesson[i], progress));
    return list;
}

json_t *learner_progress_json(const struct learn_course *course, struct learn_progress *progress)
{
    const struct learn_exercise *next = learner_first_unsolved(course, progress);
    json_t *exercises = json_array(), *lessons = json_array();
    for (unsigned i = 0; i < course->count; i++) {
        const struct learn_lesson *lesson = course->lesson[i];
        json_array_append_new(lessons, json_pack("{ss si si}", "lesson", lesson->id, "questions",
                                                 (int)lesson->question_count, "answered_right",
                                                 (int)learn_progress_right(progress, lesson)));
        for (unsigned j = 0; j < lesson->exercise_count; j++)
            json_array_append_new(exercises, exercise_json(progress, &lesson->exercise[j]));
    }
    const struct learn_lesson *quiz = learner_open_quiz(course, progress);
    return json_pack("{si si so so ss* ss* so so}", "streak", (int)learn_progress_streak(progress),
                     "days", (int)learn_progress_days(progress), "lessons", lessons, "exercises",
                     exercises, "next", next ? learn_key(next) : NULL, "next_quiz",
                     quiz ? quiz->id : NULL, "history", learn_progress_history(progress), "answers",
                     learn_progress_answers(progress));
}

/* Notebook --------------------------------------------------------------------------------------*/

static void write_note(FILE *file, struct learn_progress *progress,
                       const struct learn_exercise *exercise, const char *clock, const char *text)
{
    json_t *last = learn_progress_last(progress, exercise), *value;
    const char *name;
    fprintf(file, "\n## %s %s\n\n", clock, learn_key(exercise));
    if (text)
        fprintf(file, "%s\n\n", text);
    if (last) {
        fprintf(file, "Last verdict: %s\n\n", json_string_value(json_object_get(last, "stage")));
        if (*json_string_value(json_object_get(last, "text")))
            fprintf(file, "```\n%s```\n\n", json_string_value(json_object_get(last, "text")));
        json_object_foreach(json_object_get(last, "counters"), name, value)
            fprintf(file, "- %s: %.6g\n", name, json_number_value(value));
    }
    json_decref(last);
}

char *learner_note(const char *folder, struct learn_progress *progress,
                   const struct learn_exercise *exercise, const char *text, char **message)
{
    char day[32], clock[16];
    time_t now = time(NULL);
    struct tm here;
    localtime_r(&now, &here);
    strftime(day, sizeof day, "%Y-%m-%d", &here);
    strftime(clock, sizeof clock, "%H:%M", &here);
    char *path = lk_format("%s/notes/%s.md", folder, day);
    if (!host_make_parents(path, message)) {
        free(path);
        return NULL;
    }
    bool is_new = access(path, F_OK) != 0;
    FILE *file = fopen(path, "ae");
    if (file) {
        if (is_new)
            fprintf(file, "# %s\n", day);
        write_note(file, progress, exercise, clock, text);
    }
    bool written = file && !ferror(file);
    if (file && fclose(file) == 0 && written)
        return path;
    *message = lk_format("%s: %s", path, strerror(errno));
    free(path);
    return NULL;
}

/* Checks ----------------------------------------------------------------------------------------*/

void learner_check(const struct learn_grader *grader, struct learn_progress *progress,
                   const struct learn_exercise *exercise, const char *path, const char *shown,
                   struct learn_verdict *verdict, char **remark)
{
    char *message;
    *remark = NULL;
    learn_grade(grader, exercise, path, shown, verdict);
    if (verdict->stage != LEARN_BROKEN && !learn_progress_attempt(progress, exercise, verdict))
        *remark = lk_format("this attempt was not saved: %s", learn_progress_error(progress));
    if (!learn_run_save(progress, exercise, verdict, &message)) {
        if (!*remark)
            *remark = lk_format("this run was not saved: %s", message);
        free(message);
    }
}
