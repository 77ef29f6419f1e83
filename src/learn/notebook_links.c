/*
 * notebook_links.c: the links of a lesson's text, for a notebook. Other lessons are the notebooks
 * beside it; an exercise, or an interactive, is a cell below.
 */
#include "learn/notebook.h"

#include <string.h>

struct link {
    const char *words, *target;
    size_t words_size, target_size, size; /* size: of all of it, from [ to ) */
};

/* "[words](target)" at text, which ends at end. Words may have brackets of their own. */
static bool read_link(const char *text, const char *end, struct link *link)
{
    unsigned depth = 0;
    const char *at = text;
    for (; at < end; at++) {
        depth += *at == '[';
        depth -= *at == ']';
        if (depth == 0)
            break;
    }
    if (at + 1 >= end || at[1] != '(')
        return false;
    link->words = text + 1;
    link->words_size = (size_t)(at - link->words);
    link->target = at + 2;
    const char *close = memchr(link->target, ')', (size_t)(end - link->target));
    if (!close || memchr(link->target, '\n', (size_t)(close - link->target)))
        return false;
    link->target_size = (size_t)(close - link->target);
    link->size = (size_t)(close + 1 - text);
    return true;
}

static bool begins(const struct link *link, const char *start)
{
    size_t length = strlen(start);
    return link->target_size >= length && memcmp(link->target, start, length) == 0;
}

/* "../DAY/lesson.md" lies beside us as DAY.ipynb, and "../../WEEK/DAY/lesson.md" as
 * ../WEEK/DAY.ipynb: a notebook is one folder less deep than its lesson. */
static bool add_lesson_link(struct lk_buf *out, const struct link *link)
{
    static const char end[] = "/lesson.md";
    const char *hash = memchr(link->target, '#', link->target_size);
    size_t size = hash ? (size_t)(hash - link->target) : link->target_size, ending = strlen(end);
    if (!begins(link, "../") || size < 3 + ending ||
        memcmp(link->target + size - ending, end, ending) != 0)
        return false;
    lk_buf_printf(out, "[%.*s](%.*s.ipynb)", (int)link->words_size, link->words,
                  (int)(size - 3 - ending), link->target + 3);
    return true;
}

static const struct learn_exercise *find_exercise(const struct learn_lesson *lesson,
                                                  const struct link *link)
{
    for (unsigned i = 0; i < lesson->exercise_count; i++) {
        size_t length = strlen(lesson->exercise[i].name);
        if (begins(link, lesson->exercise[i].name) && link->target_size > length &&
            link->target[length] == '/')
            return &lesson->exercise[i];
    }
    return NULL;
}

/* "interactive:tiles?tile=16&exercise=KEY" as "tiles tile=16": runs in a notebook are shipped ones.
 */
static void add_picture(struct lk_buf *pictures, const struct link *link)
{
    const char *at = link->target + strlen("interactive:"), *end = link->target + link->target_size;
    struct lk_buf line = {0};
    for (bool is_name = true; at < end; is_name = false) {
        size_t size = 0;
        while (at + size < end && at[size] != '?' && at[size] != '&')
            size++;
        if (size < 9 || memcmp(at, "exercise=", 9) != 0)
            lk_buf_printf(&line, "%s%.*s", is_name ? "" : " ", (int)size, at);
        at += size + (at + size < end);
    }
    lk_buf_printf(&line, "\n");
    if (!pictures->data || !strstr(pictures->data, line.data)) /* once in a section */
        lk_buf_add(pictures, line.data, line.size);
    lk_buf_free(&line);
}

static void add_link(struct lk_buf *out, const struct learn_lesson *lesson, const struct link *link,
                     struct lk_buf *pictures)
{
    int size = (int)link->words_size;
    const struct learn_exercise *exercise = find_exercise(lesson, link);
    if (begins(link, "https://") || begins(link, "http://") || begins(link, "#"))
        lk_buf_add(out, link->words - 1, link->size);
    else if (begins(link, "interactive:")) {
        lk_buf_printf(out, "**%.*s** (in a cell below)", size, link->words);
        add_picture(pictures, link);
    } else if (exercise)
        lk_buf_printf(out, "**%.*s** (%s)", size, link->words,
                      exercise->is_aside ? "only in CUDA C" : "its cell is below");
    else if (!add_lesson_link(out, link))
        lk_buf_add(out, link->words, link->words_size);
}

/* The end of a code span or a fenced block that begins here: as many backticks close it. */
static size_t code_size(const char *at, const char *end)
{
    size_t ticks = 0, run = 0;
    while (at + ticks < end && at[ticks] == '`')
        ticks++;
    for (const char *next = at + ticks; next < end; next++) {
        run = *next == '`' ? run + 1 : 0;
        if (run == ticks && (next + 1 == end || next[1] != '`'))
            return (size_t)(next + 1 - at);
    }
    return ticks;
}

char *learn_notebook_links(const struct learn_lesson *lesson, const char *text, size_t size,
                           struct lk_buf *pictures)
{
    struct lk_buf out = {0};
    struct link link;
    const char *end = text + size;
    lk_buf_printf(&out, "%s", "");
    for (const char *at = text; at < end;) {
        size_t length = 1;
        if (*at == '`')
            length = code_size(at, end);
        if (*at == '[' && read_link(at, end, &link)) {
            add_link(&out, lesson, &link, pictures);
            length = link.size;
        } else {
            lk_buf_add(&out, at, length);
        }
        at += length;
    }
    return out.data;
}
