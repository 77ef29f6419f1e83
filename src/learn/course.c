/*
 * course.c: the lessons of a course in order, and what a learner's words name among them.
 */
#include "base/text.h"
#include "gpu/gpu.h"
#include "learn/lesson.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reading ---------------------------------------------------------------------------------------*/

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static bool add_lesson(struct learn_course *course, const char *id, char **message)
{
    char folder[PATH_MAX], probe[PATH_MAX + 16];
    if (snprintf(folder, sizeof folder, "%s/%s", course->folder, id) >= (int)sizeof folder)
        return true;
    snprintf(probe, sizeof probe, "%s/lesson.json", folder);
    if (access(probe, F_OK) != 0)
        return true; /* no lesson */
    struct learn_lesson *lesson = learn_lesson_read(folder, id, message);
    if (!lesson)
        return false;
    course->lesson = lk_realloc(course->lesson, (course->count + 1) * sizeof *course->lesson);
    course->lesson[course->count++] = lesson;
    return true;
}

/* week2 goes before week10: versionsort. */
static bool add_week(struct learn_course *course, const char *week, char **message)
{
    char folder[PATH_MAX], id[PATH_MAX];
    struct dirent **days;
    bool fine = true;
    snprintf(folder, sizeof folder, "%s/%s", course->folder, week);
    int count = scandir(folder, &days, is_visible, versionsort);
    for (int i = 0; i < count; i++) {
        int length = snprintf(id, sizeof id, "%s/%s", week, days[i]->d_name);
        fine = fine && length < (int)sizeof id && add_lesson(course, id, message);
        free(days[i]);
    }
    if (count >= 0)
        free(days);
    return fine;
}

bool learn_course_open(const char *folder, struct learn_course *course, char **message)
{
    struct dirent **weeks;
    *course = (struct learn_course){.folder = strdup(folder)};
    *message = NULL;
    int count = scandir(folder, &weeks, is_visible, versionsort);
    bool fine = count >= 0;
    if (!fine)
        *message = lk_format("%s: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        fine = fine && add_week(course, weeks[i]->d_name, message);
        free(weeks[i]);
    }
    if (count >= 0)
        free(weeks);
    if (fine && course->count == 0) {
        *message = lk_format("%s: there is no lesson in it (WEEK/DAY/lesson.json)", folder);
        fine = false;
    }
    if (!fine)
        learn_course_free(course);
    return fine;
}

void learn_course_free(struct learn_course *course)
{
    for (unsigned i = 0; i < course->count; i++)
        learn_lesson_free(course->lesson[i]);
    free(course->lesson);
    free(course->folder);
    *course = (struct learn_course){0};
}

/* Twins trade places, so that whoever holds a lesson sees one language. */
void learn_course_speak(struct learn_course *course, bool python)
{
    for (unsigned i = 0; i < course->count; i++) {
        struct learn_lesson *lesson = course->lesson[i];
        for (unsigned j = 0; j < lesson->exercise_count; j++) {
            struct learn_exercise *here = &lesson->exercise[j], *twin = here->twin;
            here->is_aside = python && lesson->python && !twin;
            if (!twin || here->is_python == python)
                continue;
            struct learn_exercise moved = *here;
            *here = *twin;
            *twin = moved;
            here->twin = twin;
            twin->twin = here;
        }
    }
}

bool learn_is_before(const struct learn_lesson *lesson)
{
    return strncmp(lesson->id, "week", 4) != 0;
}

unsigned learn_course_begin(const struct learn_course *course, const char *start)
{
    for (unsigned i = 0; i < course->count; i++)
        if (start ? strcmp(course->lesson[i]->id, start) == 0 : !learn_is_before(course->lesson[i]))
            return i;
    return start ? learn_course_begin(course, NULL) : 0;
}

/* Katas -----------------------------------------------------------------------------------------*/

const struct learn_exercise *learn_course_kata(const struct learn_course *course,
                                               const struct learn_lesson *last, long day)
{
    unsigned count = 0, wanted = 0;
    for (int pass = 0; pass < 2; pass++) {
        unsigned at = 0;
        for (unsigned i = 0; i < course->count; i++) {
            const struct learn_lesson *lesson = course->lesson[i];
            for (unsigned j = 0; j < lesson->exercise_count; j++)
                if (lesson->exercise[j].is_kata && at++ == wanted && pass == 1)
                    return &lesson->exercise[j];
            if (lesson == last)
                break;
        }
        count = at;
        if (count == 0)
            return NULL;
        long turn = day % (long)count;
        wanted = (unsigned)(turn < 0 ? turn + (long)count : turn);
    }
    return NULL;
}

/* Finding ---------------------------------------------------------------------------------------*/

static const char *last_part(const char *id)
{
    const char *slash = strrchr(id, '/');
    return slash ? slash + 1 : id;
}

/* "week1/day4_first_kernel", "day4_first_kernel", "day4", and with the week "week1/day4". Other
 * weeks have days too, and leave the short word to the first one: "week2/day4", "preflight/day4".
 */
static bool names_lesson(const struct learn_lesson *lesson, const char *word, size_t length)
{
    const char *ids[] = {lesson->id, last_part(lesson->id)};
    bool is_short = strncmp(lesson->id, "week1/", 6) != 0 && strncmp(ids[1], word, length) == 0 &&
                    ids[1][length];
    for (int i = 0; i < 2 && !(i == 1 && is_short); i++)
        if (strncmp(ids[i], word, length) == 0 && (ids[i][length] == 0 || ids[i][length] == '_'))
            return length > 0;
    return false;
}

static bool names_exercise(const struct learn_exercise *exercise, const char *word)
{
    const char *name = last_part(word);
    if (strcmp(exercise->name, name) != 0)
        return false;
    return name == word || names_lesson(exercise->lesson, word, (size_t)(name - 1 - word));
}

/* Of all that was tried, the nearest name that is less than 4 edits away. */
static char *suggest(const struct learn_course *course, const char *word)
{
    struct lk_guess whole = {.wanted = word, .distance = 4};
    struct lk_guess last = {.wanted = last_part(word), .distance = 4};
    for (unsigned i = 0; i < course->count; i++) {
        const struct learn_lesson *lesson = course->lesson[i];
        lk_guess_try(&whole, lesson->id);
        lk_guess_try(&whole, last_part(lesson->id));
        for (unsigned j = 0; j < lesson->exercise_count; j++)
            lk_guess_try(&last, lesson->exercise[j].name);
    }
    const char *nearest = whole.distance <= last.distance ? whole.nearest : last.nearest;
    return nearest
               ? lk_format("there is no lesson or exercise '%s'; did you mean '%s'?", word, nearest)
               : lk_format("there is no lesson or exercise '%s'; 'lockstep learn list' names them",
                           word);
}

bool learn_course_find(const struct learn_course *course, const char *word,
                       const struct learn_lesson **lesson, const struct learn_exercise **exercise,
                       char **message)
{
    unsigned found = 0;
    const struct learn_lesson *lessons[2] = {0};
    const struct learn_exercise *exercises[2] = {0};
    for (unsigned i = 0; i < course->count; i++) {
        const struct learn_lesson *each = course->lesson[i];
        if (names_lesson(each, word, strlen(word)) && found < 2)
            lessons[found++] = each;
        for (unsigned j = 0; j < each->exercise_count; j++)
            if (names_exercise(&each->exercise[j], word) && found < 2) {
                exercises[found] = &each->exercise[j];
                lessons[found++] = each;
            }
    }
    *message = found == 0 ? suggest(course, word)
               : found == 2
                   ? lk_format("'%s' could be %s%s%s or %s%s%s", word, lessons[0]->id,
                               exercises[0] ? "/" : "", exercises[0] ? exercises[0]->name : "",
                               lessons[1]->id, exercises[1] ? "/" : "",
                               exercises[1] ? exercises[1]->name : "")
                   : NULL;
    *lesson = lessons[0];
    *exercise = exercises[0];
    return found == 1;
}
