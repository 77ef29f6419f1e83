/*
 * page.c: the frame of every page: head, navigation, main. Pages are whole without JavaScript; a
 * script only adds to them.
 */
#include "studio/pages.h"

#include "base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void html_path(struct lk_buf *out, const char *path)
{
    const char *home = getenv("HOME");
    size_t length = home ? strlen(home) : 0;
    bool inside = length > 1 && strncmp(path, home, length) == 0 && path[length] == '/';
    lk_buf_html(out, inside ? "~" : "");
    lk_buf_html(out, inside ? path + length : path);
}

void html_words(struct lk_buf *out, const char *name, size_t length)
{
    for (size_t i = 0; i < length && name[i]; i++) {
        char letter[2] = {name[i] == '_' ? ' ' : name[i], 0};
        if (i == 0)
            letter[0] = (char)toupper((unsigned char)letter[0]);
        else if (isdigit((unsigned char)name[i]) && isalpha((unsigned char)name[i - 1]))
            lk_buf_printf(out, " ");
        lk_buf_html(out, letter);
    }
}

void page_when(struct lk_buf *out, const struct learn_lesson *lesson)
{
    const char *day = strchr(lesson->id, '/') + 1;
    html_words(out, lesson->id, strcspn(lesson->id, "/"));
    lk_buf_printf(out, " \302\267 ");
    html_words(out, day, strcspn(day, "_"));
}

void page_place(struct lk_buf *out, const struct learn_exercise *exercise)
{
    lk_buf_printf(out, "/lesson/%s?exercise=%s", exercise->lesson->id, exercise->name);
}

static void add_scripts(struct studio_request *request, struct lk_buf *out,
                        const struct studio_page *page)
{
    static const char *const editor[] = {"codemirror.js", "mode/clike/clike.js",
                                         "mode/python/python.js", "addon/edit/matchbrackets.js",
                                         "addon/selection/active-line.js"};
    if (page->editor && request->studio->codemirror) {
        lk_buf_printf(out, "<link rel=\"stylesheet\" href=\"/lib/codemirror/codemirror.css\">\n");
        for (size_t i = 0; i < sizeof editor / sizeof *editor; i++)
            lk_buf_printf(out, "<script defer src=\"/lib/codemirror/%s\"></script>\n", editor[i]);
    }
    if (page->math && request->studio->katex)
        lk_buf_printf(out, "<link rel=\"stylesheet\" href=\"/lib/katex/katex.css\">\n"
                           "<script defer src=\"/lib/katex/katex.js\"></script>\n");
    if (request->studio->is_site)
        lk_buf_printf(out, "<script src=\"/web/site.js\"></script>\n");
    if (page->style)
        lk_buf_printf(out, "<link rel=\"stylesheet\" href=\"/web/%s.css\">\n", page->style);
    if (page->script && !request->studio->is_site)
        lk_buf_printf(out, "<script type=\"module\" src=\"/web/%s.js\"></script>\n", page->script);
}

static bool in_site(const struct studio_route *route)
{
    return route->answer == page_course || route->answer == page_interactives;
}

static void add_navigation(struct studio_request *request, struct lk_buf *out)
{
    lk_buf_printf(out, "<nav aria-label=\"Studio\"><a class=\"name\" href=\"/\">Lockstep</a>");
    for (size_t i = 0; i < studio_route_count; i++)
        if (studio_routes[i].title && (!request->studio->is_site || in_site(&studio_routes[i])))
            lk_buf_printf(
                out, "<a href=\"%s\"%s>%s</a>", studio_routes[i].path,
                strcmp(request->path, studio_routes[i].path) == 0 ? " aria-current=\"page\"" : "",
                studio_routes[i].title);
    lk_buf_printf(out, "<button type=\"button\" id=\"theme\" hidden>Dark</button></nav>\n");
}

void page_begin(struct studio_request *request, struct studio_reply *reply,
                const struct studio_page *page)
{
    struct lk_buf *out = &reply->body;
    bool embedded = *studio_query(request, "embed") != 0; /* in a lesson: no frame around it */
    const char *id = page->id ? page->id : "main";
    reply->status = 200;
    reply->type = "text/html; charset=utf-8";
    lk_buf_printf(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<title>");
    lk_buf_html(out, page->title);
    lk_buf_printf(out, " - Lockstep</title>\n<link rel=\"icon\" href=\"/web/icon.svg\">\n"
                       "<script src=\"/web/theme.js\"></script>\n");
    add_scripts(request, out, page);
    lk_buf_printf(out, "<link rel=\"stylesheet\" href=\"/web/style.css\">\n"); /* ours wins */
    lk_buf_printf(out, "</head>\n<body class=\"%s%s\">\n", page->body ? page->body : "",
                  embedded ? " embed" : "");
    if (!embedded) {
        lk_buf_printf(out, "<a class=\"skip\" href=\"#%s\">Skip to the text</a>\n<header>", id);
        add_navigation(request, out);
        lk_buf_printf(out, "</header>\n");
    }
    lk_buf_printf(out, "<main id=\"%s\"%s%s>\n", id, page->data ? " " : "",
                  page->data ? page->data : "");
}

void page_end(struct studio_reply *reply)
{
    lk_buf_printf(&reply->body, "</main>\n</body>\n</html>\n");
}

void page_missing(struct studio_request *request, struct studio_reply *reply, const char *format,
                  ...)
{
    struct lk_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    page_begin(request, reply, &(struct studio_page){.title = "Not found"});
    reply->status = 404;
    lk_buf_printf(&reply->body, "<h1>Not found</h1>\n<p id=\"refusal\">");
    lk_buf_html(&reply->body, text.data);
    lk_buf_printf(&reply->body,
                  "</p>\n<p><a class=\"button primary\" href=\"/\">To the course</a></p>\n");
    page_end(reply);
    lk_buf_free(&text);
}
