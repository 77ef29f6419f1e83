/*
 * notebook.c: builds a lesson's notebook: the cell that loads the magic, the text split at its
 * headings, the exercises after the section "Code", the quiz at the end.
 */
#include "learn/notebook.h"

#include "base/hash.h"
#include "host/files.h"
#include "learn/ready.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct maker {
    const struct learn_lesson *lesson;
    bool solutions;
    json_t *cells;
    unsigned texts;       /* Markdown cells so far */
    unsigned pictures;    /* interactives so far */
    char **message;       /* of the first error */
    bool in_code, placed; /* the section "Code"; the exercises have their cells */
};

static const char guide[] =
    "*In this notebook you need no files.* Where the lesson says to open and save a file, change "
    "the exercise's cell and run it (Shift-Enter): below it you see the verdict, and what the "
    "first "
    "warp touched. Exercises are broken on purpose: fixing them is the course. What you solve "
    "here "
    "counts in `lockstep learn` and in the studio as well.";

/* Cells -----------------------------------------------------------------------------------------*/

/* A list of lines, each with its newline but the last, as Jupyter writes it. */
static json_t *lines_of(const char *text, size_t size)
{
    json_t *lines = json_array();
    while (size) {
        const char *newline = memchr(text, '\n', size);
        size_t length = newline ? (size_t)(newline + 1 - text) : size;
        json_array_append_new(lines, json_stringn(text, length));
        text += length;
        size -= length;
    }
    return lines;
}

/* Ids are [A-Za-z0-9_-], at most 64 of them. */
static void add_cell(struct maker *maker, bool code, const char *id, const char *text, size_t size)
{
    char short_id[64];
    while (size && text[size - 1] == '\n')
        size--;
    snprintf(short_id, sizeof short_id, "%s", id);
    json_t *cell = json_pack("{ss ss s{} so}", "cell_type", code ? "code" : "markdown", "id",
                             short_id, "metadata", "source", lines_of(text, size));
    if (code) {
        json_object_set_new(cell, "execution_count", json_null());
        json_object_set_new(cell, "outputs", json_array());
    }
    json_array_append_new(maker->cells, cell);
}

static void add_text(struct maker *maker, const char *text, size_t size)
{
    char id[24];
    snprintf(id, sizeof id, "text-%u", ++maker->texts);
    add_cell(maker, false, id, text, size);
}

/* A file that JSON can hold; NULL, and the message is set. */
static char *read_text(struct maker *maker, const char *path)
{
    char *text = host_read_text(path, maker->message);
    json_t *probe = text ? json_string(text) : NULL;
    if (text && !probe) {
        *maker->message = lk_format("%s: is not UTF-8", path);
        free(text);
        text = NULL;
    }
    json_decref(probe);
    return text;
}

/* Plain words, where Markdown and formulas would see signs of theirs. */
static void add_plain(struct lk_buf *out, const char *text)
{
    for (; *text; text++)
        lk_buf_printf(out, strchr("\\`*_[]<>#$|~", *text) ? "\\%c" : "%c", *text);
}

/* Exercises -------------------------------------------------------------------------------------*/

static const char *key_of(const struct learn_exercise *exercise)
{
    return lk_arena_printf(exercise->lesson->arena, "%s/%s", exercise->lesson->id, exercise->name);
}

static bool add_exercise(struct maker *maker, const struct learn_exercise *exercise)
{
    struct lk_arena *arena = exercise->lesson->arena;
    const char *key = key_of(exercise);
    const char *file = maker->solutions ? learn_solution(exercise) : learn_given(exercise);
    char *code = read_text(maker, learn_path(exercise, file));
    if (!code)
        return false;
    struct lk_buf text = {0};
    lk_buf_printf(&text, "### ");
    add_plain(&text, exercise->name);
    lk_buf_printf(&text,
                  exercise->is_kata ? "\n\nA kata, to be done again any day: " : "\n\nYour task: ");
    add_plain(&text, exercise->title);
    lk_buf_printf(&text, ".");
    add_text(maker, text.data, text.size);
    lk_buf_free(&text);
    lk_buf_printf(&text, "%%%%lockstep exercise %s\n%s", key, code);
    add_cell(maker, true, lk_arena_printf(arena, "exercise-%s", exercise->name), text.data,
             text.size);
    lk_buf_free(&text);
    free(code);
    if (maker->solutions)
        return true;
    lk_buf_printf(&text,
                  "# Stuck? Take away the last line's # and run this cell for a hint: first the "
                  "idea,\n# the next time the line, then the change.\n# %%lockstep hint %s",
                  key);
    add_cell(maker, true, lk_arena_printf(arena, "hint-%s", exercise->name), text.data, text.size);
    lk_buf_free(&text);
    return true;
}

static bool add_exercises(struct maker *maker)
{
    maker->placed = true;
    for (unsigned i = 0; i < maker->lesson->exercise_count; i++)
        if (!maker->lesson->exercise[i].is_aside &&
            !add_exercise(maker, &maker->lesson->exercise[i]))
            return false;
    return true;
}

/* Text ------------------------------------------------------------------------------------------*/

/* How deep a heading the line is; 0 if it is not one. */
static unsigned heading_of(const char *line)
{
    size_t depth = strspn(line, "#");
    return depth > 0 && depth <= 6 && line[depth] == ' ' ? (unsigned)depth : 0;
}

/* A cell for each of the section's interactives. */
static void add_pictures(struct maker *maker, const char *lines)
{
    for (size_t size; *lines; lines += size + 1) {
        char id[32];
        size = strcspn(lines, "\n");
        struct lk_buf text = {0};
        lk_buf_printf(&text, "%%lockstep interactive %.*s", (int)size, lines);
        snprintf(id, sizeof id, "interactive-%u", ++maker->pictures);
        add_cell(maker, true, id, text.data, text.size);
        lk_buf_free(&text);
    }
}

/* One piece of the text, from a heading to the next. */
static bool add_section(struct maker *maker, const char *text, size_t size)
{
    unsigned depth = heading_of(text);
    if (depth && depth <= 2) { /* a deeper one goes on with its section */
        if (maker->in_code && !maker->placed && !add_exercises(maker))
            return false;
        maker->in_code = strncmp(text, "## Code\n", 8) == 0;
    }
    struct lk_buf pictures = {0};
    char *linked = learn_notebook_links(maker->lesson, text, size, &pictures);
    if (linked[strspn(linked, " \n")])
        add_text(maker, linked, strlen(linked));
    add_pictures(maker, pictures.data ? pictures.data : "");
    lk_buf_free(&pictures);
    free(linked);
    return true;
}

static bool add_lesson_text(struct maker *maker)
{
    const char *path = lk_arena_printf(maker->lesson->arena, "%s/lesson.md", maker->lesson->folder);
    char *text = read_text(maker, path);
    if (!text)
        return false;
    const char *begin = text;
    bool fenced = false, fine = true;
    for (const char *line = text; *line && fine; line += strcspn(line, "\n"), line += *line != 0) {
        if (strncmp(line, "```", 3) == 0)
            fenced = !fenced;
        if (!fenced && heading_of(line) && line > begin) {
            fine = add_section(maker, begin, (size_t)(line - begin));
            begin = line;
        }
    }
    fine = fine && add_section(maker, begin, strlen(begin));
    free(text);
    return fine && (maker->placed || add_exercises(maker));
}

/* Quiz ------------------------------------------------------------------------------------------*/

static void add_question_text(struct maker *maker, unsigned number)
{
    const struct learn_question *question = &maker->lesson->question[number];
    struct lk_buf text = {0};
    lk_buf_printf(&text, "**%u.** ", number + 1);
    add_plain(&text, question->question);
    lk_buf_printf(&text, "\n");
    for (unsigned i = 0; i < question->choice_count; i++) {
        lk_buf_printf(&text, "\n%u. ", i + 1);
        add_plain(&text, question->choices[i]);
    }
    add_text(maker, text.data, text.size);
    lk_buf_free(&text);
}

static void add_question(struct maker *maker, unsigned number)
{
    const struct learn_question *question = &maker->lesson->question[number];
    struct lk_buf text = {0};
    char id[32];
    add_question_text(maker, number);
    lk_buf_printf(&text, "%%lockstep quiz %s %u answer=", maker->lesson->id, number + 1);
    if (maker->solutions)
        lk_buf_printf(&text, "%u", question->answer + 1);
    snprintf(id, sizeof id, "quiz-%u", number + 1);
    add_cell(maker, true, id, text.data, text.size);
    lk_buf_free(&text);
}

static void add_quiz(struct maker *maker)
{
    static const char intro[] = "## Quiz\n\nRun the next cell and click, where ipywidgets is "
                                "installed. Or write the number "
                                "of your answer after `answer=`, and run that cell.";
    if (maker->lesson->question_count) {
        const char *ask =
            lk_arena_printf(maker->lesson->arena, "%%lockstep quiz %s", maker->lesson->id);
        add_text(maker, intro, strlen(intro));
        add_cell(maker, true, "click", ask, strlen(ask));
    }
    for (unsigned i = 0; i < maker->lesson->question_count; i++)
        add_question(maker, i);
}

/* The whole -------------------------------------------------------------------------------------*/

/* FNV-1a of all but the mark itself. */
static void hash_notebook(json_t *notebook, char hash[17])
{
    json_t *copy = json_deep_copy(notebook);
    json_object_del(json_object_get(copy, "metadata"), "lockstep");
    char *text = json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS);
    uint64_t sum = lk_hash64(LK_HASH64, text, text ? strlen(text) : 0);
    snprintf(hash, 17, "%016" PRIx64, sum);
    free(text);
    json_decref(copy);
}

bool learn_notebook_is_ours(json_t *notebook)
{
    char hash[17];
    json_t *mark = json_object_get(json_object_get(notebook, "metadata"), "lockstep");
    const char *written = json_string_value(json_object_get(mark, "written"));
    if (!written)
        return false;
    hash_notebook(notebook, hash);
    return strcmp(written, hash) == 0;
}

static void add_load(struct maker *maker)
{
    static const char load[] =
        "# \"No module named 'lockstep'\"? Start Jupyter the way 'lockstep learn notebooks' "
        "says.\n%load_ext lockstep";
    add_cell(maker, true, "load", load, strlen(load));
}

static json_t *whole(const struct maker *maker)
{
    char hash[17];
    json_t *notebook =
        json_pack("{so s{s{ss ss ss} s{ss}} si si}", "cells", maker->cells, "metadata",
                  "kernelspec", "display_name", "Python 3", "language", "python", "name", "python3",
                  "language_info", "name", "python", "nbformat", 4, "nbformat_minor", 5);
    hash_notebook(notebook, hash);
    json_object_set_new(json_object_get(notebook, "metadata"), "lockstep",
                        json_pack("{ss ss}", "lesson", maker->lesson->id, "written", hash));
    return notebook;
}

/* What the lesson's words are in Triton: course/python.md, if there is one. */
static bool add_python_text(struct maker *maker)
{
    const struct learn_lesson *lesson = maker->lesson;
    const char *path = lk_arena_printf(lesson->arena, "%s/../../python.md", lesson->folder);
    bool python = false;
    for (unsigned i = 0; i < lesson->exercise_count; i++)
        python |= lesson->exercise[i].is_python;
    if (!python || access(path, F_OK) != 0)
        return true;
    char *text = read_text(maker, path);
    if (text)
        add_text(maker, text, strlen(text));
    free(text);
    return text != NULL;
}

json_t *learn_notebook(const struct learn_lesson *lesson, bool solutions, char **message)
{
    struct maker maker = {lesson, solutions, json_array(), .message = message};
    *message = NULL;
    add_load(&maker);
    add_text(&maker, guide, strlen(guide));
    if (!add_python_text(&maker) || !add_lesson_text(&maker)) {
        json_decref(maker.cells);
        return NULL;
    }
    add_quiz(&maker);
    return whole(&maker);
}

json_t *learn_notebook_ready(const struct learn_ready *ready, bool solutions)
{
    static const char intro
        [] =
            "# Are you ready?\n\nRun the cells from top to bottom (Shift-Enter). The next one "
            "looks "
            "at this computer: what exercises need, what the Python path needs besides, and how to "
            "get what is missing. A GPU is not needed.",
   asks[] = "## Where to begin\n\nThe questions below are about what the course builds on. Answer "
            "them without looking anything up: what you miss says where to begin.",
   last[] =
        "Write the numbers of your answers after `answer=`, with commas between them, and run the "
        "cell: `answer=2,4,1` and so on, one for each question.";
    struct maker maker = {ready->quiz, solutions, json_array()};
    struct lk_buf text = {0};
    add_load(&maker);
    add_text(&maker, intro, strlen(intro));
    add_cell(&maker, true, "look", "%lockstep ready", strlen("%lockstep ready"));
    add_text(&maker, asks, strlen(asks));
    for (unsigned i = 0; i < ready->quiz->question_count; i++)
        add_question_text(&maker, i);
    add_text(&maker, last, strlen(last));
    lk_buf_printf(&text, "%%lockstep ready answer=");
    for (unsigned i = 0; solutions && i < ready->quiz->question_count; i++)
        lk_buf_printf(&text, "%s%u", i ? "," : "", ready->quiz->question[i].answer + 1);
    add_cell(&maker, true, "answers", text.data, text.size);
    lk_buf_free(&text);
    return whole(&maker);
}
