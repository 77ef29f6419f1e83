/*
 * page_interactive.c: the pictures that a reader can move: their index, and the page of one, which
 * web/interactive.js fills.
 */
#include "studio/pages.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *title;
} interactives[] = {
#define X(name, title) {#name, title},
#include "learn/interactives.def"
#undef X
};
enum { INTERACTIVES = sizeof interactives / sizeof interactives[0] };

void page_interactives(struct studio_request *request, struct studio_reply *reply)
{
    struct lk_buf *out = &reply->body;
    page_begin(request, reply, &(struct studio_page){.title = "Interactives"});
    lk_buf_printf(out, "<h1>Interactives</h1>\n");
    if (!request->studio->is_site) /* a replay needs the machine */
        page_replay_card(out);
    lk_buf_printf(out, "<p class=\"soft\">Pictures you can move.%s</p>\n<ul class=\"thumbs\">\n",
                  request->studio->is_site ? ""
                                           : " Those of a kernel show your last run, or an "
                                             "example until there is one.");
    for (size_t i = 0; i < INTERACTIVES; i++) {
        lk_buf_printf(out, "<li><a data-interactive=\"%s\" href=\"/interactive/%s\">",
                      interactives[i].name, interactives[i].name);
        page_thumb(out, interactives[i].name, interactives[i].title);
        lk_buf_printf(out, "</a></li>\n");
    }
    lk_buf_printf(out, "</ul>\n");
    page_end(reply);
}

void page_interactive(struct studio_request *request, struct studio_reply *reply)
{
    for (size_t i = 0; i < INTERACTIVES; i++) {
        if (strcmp(interactives[i].name, request->rest) != 0)
            continue;
        char *data = lk_format("data-name=\"%s\"", interactives[i].name);
        page_begin(request, reply,
                   &(struct studio_page){.title = interactives[i].title,
                                         .script = "interactive",
                                         .style = "interactives/interactives",
                                         .body = "interactive-page",
                                         .id = "interactive",
                                         .data = data});
        free(data);
        lk_buf_printf(&reply->body, "<noscript><p>This picture needs JavaScript.</p></noscript>\n");
        page_end(reply);
        return;
    }
    page_missing(request, reply, "There is no such interactive.");
}
