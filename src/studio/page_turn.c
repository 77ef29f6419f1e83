/*
 * page_turn.c: where a lesson stands in the course, for the reader: week and day, its sections, and
 * the days before and after it.
 */
#include "studio/pages.h"

#include "base/text.h"

#include <string.h>

static unsigned number_of(const struct learn_course *course, const struct learn_lesson *lesson)
{
    unsigned at = 0;
    while (at < course->count && course->lesson[at] != lesson)
        at++;
    return at;
}

static void show_turn(struct lk_buf *out, const struct learn_lesson *to, const char *id,
                      const char *words)
{
    lk_buf_printf(out, "<a id=\"%s\" href=\"/lesson/%s\"><span class=\"eyebrow\">%s \302\267 ", id,
                  to->id, words);
    page_when(out, to);
    lk_buf_printf(out, "</span> <strong>");
    lk_buf_html(out, to->title);
    lk_buf_printf(out, "</strong></a>");
}

void page_turns(struct studio_request *request, struct lk_buf *out,
                const struct learn_lesson *lesson)
{
    const struct learn_course *course = request->studio->options.course;
    unsigned at = number_of(course, lesson);
    lk_buf_printf(out, "<nav class=\"turns\" aria-label=\"Days before and after\">");
    if (at > 0)
        show_turn(out, course->lesson[at - 1], "day-back", "Back");
    if (at + 1 < course->count)
        show_turn(out, course->lesson[at + 1], "day-next", "Next");
    lk_buf_printf(out, "</nav>\n");
}

/* A small arrow at the top, to a neighbour that may not be there. */
static void show_arrow(struct lk_buf *out, const struct learn_lesson *to, const char *words,
                       const char *sign)
{
    if (!to)
        return;
    lk_buf_printf(out, "<a class=\"arrow\" href=\"/lesson/%s\" aria-label=\"%s: ", to->id, words);
    lk_buf_html(out, to->title);
    lk_buf_printf(out, "\">%s</a>", sign);
}

void page_where(struct studio_request *request, struct lk_buf *out,
                const struct learn_lesson *lesson)
{
    const struct learn_course *course = request->studio->options.course;
    unsigned at = number_of(course, lesson), first = 0, last = 0;
    while (last <= at && last < course->count) {
        first = last;
        last = page_week_end(course, first);
    }
    int week = (int)strcspn(lesson->id, "/");
    lk_buf_printf(out, "<p class=\"where\"><a href=\"/#%.*s\">", week, lesson->id);
    html_words(out, lesson->id, (size_t)week);
    lk_buf_printf(out, "</a> \302\267 Day %u of %u \302\267 %u min", at - first + 1, last - first,
                  lesson->minutes);
    lk_buf_printf(out, "<span class=\"arrows\">");
    show_arrow(out, at > 0 ? course->lesson[at - 1] : NULL, "Day before", "\342\206\220");
    show_arrow(out, at + 1 < course->count ? course->lesson[at + 1] : NULL, "Day after",
               "\342\206\222");
    lk_buf_printf(out, "</span></p>\n");
}

/* From the ids that markdown.c gave the headings: <h2 id="part-challenge">Challenge</h2>. */
void page_sections(struct lk_buf *out, const char *html, bool has_quiz)
{
    static const char mark[] = "<h2 id=\"part-";
    lk_buf_printf(out, "<nav class=\"sections\" aria-label=\"Sections\">");
    for (const char *at = html; at && (at = strstr(at, mark)); at++) {
        const char *id = at + sizeof mark - 1, *words = strchr(id, '>');
        const char *end = words ? strstr(words, "</h2>") : NULL;
        if (!end)
            break;
        lk_buf_printf(out, "<a href=\"#part-%.*s\">%.*s</a>", (int)strcspn(id, "\""), id,
                      (int)(end - words - 1), words + 1);
    }
    if (has_quiz)
        lk_buf_printf(out, "<a href=\"#quiz\">Quiz</a>");
    lk_buf_printf(out, "</nav>\n");
}
