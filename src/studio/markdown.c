/*
 * markdown.c: a lesson's text, or a family's README, as HTML. md4c makes it, with raw HTML switched
 * off, so that every tag in it is md4c's; then links are turned: those to lessons, exercises and
 * variants lead to our pages, interactive:NAME to the picture, and what is neither these nor the
 * web leads nowhere.
 */
#include "studio/pages.h"

#include <ctype.h>
#include <md4c-html.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct link {
    const struct learn_lesson *lesson; /* or, of a README, */
    const struct zoo_family *family;
    const char *key; /* of the exercise that is shown; NULL if none is */
};

static void add_piece(const MD_CHAR *text, MD_SIZE size, void *context)
{
    lk_buf_add(context, text, size);
}

static bool begins(const char *text, size_t size, const char *with)
{
    size_t length = strlen(with);
    return size >= length && memcmp(text, with, length) == 0;
}

/* "../day6_tiling/lesson.md", "../../week2/day1_x/lesson.md": the lesson's part of it. */
static bool link_lesson(struct lk_buf *out, const struct link *link, const char *to, size_t size)
{
    static const char end[] = "/lesson.md";
    size_t tail = sizeof end - 1;
    if (size < tail || memcmp(to + size - tail, end, tail) != 0)
        return false;
    size -= tail;
    if (begins(to, size, "../../"))
        lk_buf_printf(out, "<a href=\"/lesson/%.*s\">", (int)size - 6, to + 6);
    else if (begins(to, size, "../"))
        lk_buf_printf(out, "<a href=\"/lesson/%.*s/%.*s\">", (int)strcspn(link->lesson->id, "/"),
                      link->lesson->id, (int)size - 3, to + 3);
    else
        return false;
    return true;
}

/* "matmul/exercise.cu" */
static bool link_exercise(struct lk_buf *out, const struct link *link, const char *to, size_t size)
{
    for (unsigned i = 0; i < link->lesson->exercise_count; i++) {
        const struct learn_exercise *exercise = &link->lesson->exercise[i];
        size_t length = strlen(exercise->name);
        if (!begins(to, size, exercise->name) || length >= size || to[length] != '/')
            continue;
        lk_buf_printf(out, "<a href=\"");
        page_place(out, exercise);
        lk_buf_printf(out, "\">");
        return true;
    }
    return false;
}

/* "interactive:banks?pad=1": to has its & as &amp; already. */
static void link_interactive(struct lk_buf *out, const struct link *link, const char *to,
                             size_t size)
{
    size_t name = 0;
    while (name < size && (isalnum((unsigned char)to[name]) || to[name] == '_'))
        name++;
    lk_buf_printf(out,
                  "<a class=\"interactive\" data-interactive=\"%.*s\" href=\"/interactive/%.*s",
                  (int)name, to, (int)size, to);
    if (link->key)
        lk_buf_printf(out, "%sexercise=%s", memchr(to, '?', size) ? "&amp;" : "?", link->key);
    lk_buf_printf(out, "\">");
}

/* "look_back.cu", "../scan/README.md" */
static bool link_family(struct lk_buf *out, const struct link *link, const char *to, size_t size)
{
    char name[96];
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    char *message = NULL;
    if (begins(to, size, "../") && size > 13 && memcmp(to + size - 10, "/README.md", 10) == 0)
        snprintf(name, sizeof name, "%.*s", (int)size - 13, to + 3);
    else if (size > 3 && memcmp(to + size - 3, ".cu", 3) == 0)
        snprintf(name, sizeof name, "%s/%.*s", link->family->name, (int)size - 3, to);
    else
        return false;
    bool found = zoo_find(name, &family, &variant, &message);
    free(message);
    if (found)
        lk_buf_printf(out, "<a href=\"/library/%s\">", name);
    return found;
}

static bool link_own(struct lk_buf *out, const struct link *link, const char *to, size_t size)
{
    if (link->family)
        return link_family(out, link, to, size);
    return link_lesson(out, link, to, size) || link_exercise(out, link, to, size);
}

static void turn_link(struct lk_buf *out, const struct link *link, const char *to, size_t size)
{
    if (begins(to, size, "interactive:"))
        link_interactive(out, link, to + 12, size - 12);
    else if (begins(to, size, "https://") || begins(to, size, "http://"))
        lk_buf_printf(out, "<a rel=\"noreferrer noopener\" target=\"_blank\" href=\"%.*s\">",
                      (int)size, to);
    else if (begins(to, size, "#"))
        lk_buf_printf(out, "<a href=\"%.*s\">", (int)size, to);
    else if (!link_own(out, link, to, size))
        lk_buf_printf(out, "<a>");
}

/* <h2>Challenge</h2> can be linked as #part-challenge. */
static const char *turn_heading(struct lk_buf *out, const char *at)
{
    const char *text = at + 4, *end = strstr(text, "</h2>");
    lk_buf_printf(out, "<h2 id=\"part-"); /* apart from the ids of the page itself */
    for (; end && text < end; text++)
        if (isalnum((unsigned char)*text))
            lk_buf_printf(out, "%c", tolower((unsigned char)*text));
        else if (*text == ' ')
            lk_buf_printf(out, "-");
    lk_buf_printf(out, "\">");
    return at + 4;
}

/* A picture beside a README is one of ours; a lesson has none. */
static const char *turn_image(struct lk_buf *out, const struct link *link, const char *at)
{
    if (link->family && strncmp(at + 10 + strspn(at + 10, PICTURE_LETTERS), ".svg\"", 5) == 0) {
        lk_buf_printf(out, "<img src=\"/library/%s/", link->family->name);
        return at + 10;
    }
    lk_buf_printf(out, "<img data-src=\"");
    return at + 10;
}

/* One tag that needs another form; where the text goes on, NULL if it stays as it is. */
static const char *turn_tag(struct lk_buf *out, const struct link *link, const char *tag)
{
    if (strncmp(tag, "<a href=\"", 9) == 0) {
        const char *end = strchr(tag + 9, '"'), *after = end ? strchr(end, '>') : NULL;
        if (!after)
            return NULL;
        turn_link(out, link, tag + 9, (size_t)(end - tag - 9));
        return after + 1;
    }
    if (strncmp(tag, "<img src=\"", 10) == 0)
        return turn_image(out, link, tag);
    if (strncmp(tag, "<h2>", 4) == 0)
        return turn_heading(out, tag);
    if (strncmp(tag, "<table>", 7) == 0) {
        lk_buf_printf(out, "<div class=\"scroll\" tabindex=\"0\"><table>");
        return tag + 7;
    }
    if (strncmp(tag, "</table>", 8) == 0) {
        lk_buf_printf(out, "</table></div>");
        return tag + 8;
    }
    return NULL;
}

static void make_html(struct lk_buf *out, const struct link *link, const char *text, bool *has_math)
{
    struct lk_buf html = {0};
    md_html(text, (MD_SIZE)strlen(text), add_piece, &html,
            MD_FLAG_NOHTML | MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_LATEXMATHSPANS, 0);
    *has_math = html.data && strstr(html.data, "<x-equation");
    for (const char *at = html.data; at && *at;) {
        const char *tag = strchr(at, '<');
        if (!tag) {
            lk_buf_printf(out, "%s", at);
            break;
        }
        lk_buf_add(out, at, (size_t)(tag - at));
        at = turn_tag(out, link, tag);
        if (!at) {
            lk_buf_add(out, "<", 1);
            at = tag + 1;
        }
    }
    lk_buf_free(&html);
}

void markdown_html(struct lk_buf *out, const struct learn_lesson *lesson, const char *text,
                   const char *key, bool *has_math)
{
    make_html(out, &(struct link){.lesson = lesson, .key = key}, text, has_math);
}

/* Its comments mark what scripts/family-tables writes, and are not for readers. */
void markdown_readme(struct lk_buf *out, const struct zoo_family *family, const char *text)
{
    struct lk_buf shown = {0};
    bool has_math;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        length += at[length] == '\n';
        if (strncmp(at, "<!--", 4) != 0)
            lk_buf_add(&shown, at, length);
        at += length;
    }
    make_html(out, &(struct link){.family = family}, shown.data ? shown.data : "", &has_math);
    lk_buf_free(&shown);
}
