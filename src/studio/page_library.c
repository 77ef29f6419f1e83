/*
 * page_library.c: the kernel library: its families, the journey of one with the roofline, a
 * variant's profile; and the profile of the learner's own kernel. Sources and texts can be read
 * without JavaScript; web/profile.js draws the profiles.
 */
#include "base/text.h"
#include "host/files.h"
#include "studio/pages.h"
#include "zoo/embedded.h"

#include <stdlib.h>
#include <string.h>

static unsigned variant_count(const struct zoo_family *family)
{
    unsigned count = 0;
    while (family->variants[count].name)
        count++;
    return count;
}

void page_library(struct studio_request *request, struct studio_reply *reply)
{
    struct lk_buf *out = &reply->body;
    page_begin(request, reply, &(struct studio_page){.title = "Library"});
    lk_buf_printf(out,
                  "<h1>The kernel library</h1>\n<p>Each family is one problem and a journey: "
                  "from the kernel that one writes first to the one that reaches the "
                  "hardware's limit, each step with its counters.</p>\n<ul class=\"cards\">\n");
    for (size_t i = 0; zoo_families[i]; i++) {
        const struct zoo_family *family = zoo_families[i];
        lk_buf_printf(out,
                      "<li class=\"card\" data-family=\"%s\"><h3><a href=\"/library/%s\">%s</a>"
                      "</h3>\n<p>",
                      family->name, family->name, family->name);
        lk_buf_html(out, family->title);
        lk_buf_printf(out, "</p><p class=\"soft\">%u variants</p></li>\n", variant_count(family));
    }
    lk_buf_printf(out, "</ul>\n");
    page_end(reply);
}

/* One family -----------------------------------------------------------------------------------*/

/* On the CPU there are no counters: such a variant has no profile. */
static void show_variants(struct lk_buf *out, const struct zoo_family *family)
{
    lk_buf_printf(out,
                  "<h2 id=\"variants\">The profile of each step</h2>\n<ol class=\"variants\">\n");
    for (const struct zoo_variant *variant = family->variants; variant->name; variant++) {
        if (variant->cpu)
            lk_buf_printf(out, "<li><strong>%s</strong> (CPU): ", variant->name);
        else
            lk_buf_printf(out, "<li><a data-variant=\"%s\" href=\"/library/%s/%s\">%s</a>: ",
                          variant->name, family->name, variant->name, variant->name);
        lk_buf_html(out, variant->technique);
        lk_buf_printf(out, "</li>\n");
    }
    lk_buf_printf(out, "</ol>\n");
}

static void show_roofline(struct lk_buf *out, const struct zoo_family *family)
{
    struct zoo_problem problem = zoo_problem_normal(family);
    if (!(family->flops(&problem) > 0))
        return; /* nothing is computed: it has no place under a roof */
    lk_buf_printf(out,
                  "<h2 id=\"roofline\">Under the roof</h2>\n<p class=\"soft\">Modelled here, now; "
                  "it can take a few seconds.</p>\n<img id=\"roofline-plot\" loading=\"lazy\" "
                  "src=\"/library/%s/roofline.svg\" alt=\"Roofline of the variants of %s\">\n",
                  family->name, family->name);
}

static void show_family(struct studio_request *request, struct studio_reply *reply,
                        const struct zoo_family *family)
{
    struct lk_buf *out = &reply->body;
    const char *folder = request->studio->options.kernels;
    char *message = NULL, *path = lk_format("%s/%s/README.md", folder ? folder : "", family->name);
    char *readme = folder ? host_read_text(path, &message) : NULL;
    page_begin(request, reply, &(struct studio_page){.title = family->name, .body = "family"});
    lk_buf_printf(out, "<p><a href=\"/library\">The library</a></p>\n");
    if (readme) {
        markdown_readme(out, family, readme);
    } else {
        lk_buf_printf(out, "<h1>%s</h1>\n<p>", family->name);
        lk_buf_html(out, family->problem);
        lk_buf_printf(out, "</p>\n");
    }
    show_variants(out, family);
    show_roofline(out, family);
    page_end(reply);
    free(readme);
    free(message);
    free(path);
}

/* A profile ------------------------------------------------------------------------------------*/

/* back: the address of the page that it belongs to, and what that is called. */
static void show_profile(struct studio_request *request, struct studio_reply *reply,
                         const char *title, const char *run, const char *source, const char *back,
                         const char *back_words)
{
    char *data = lk_format("data-run=\"%s\"", run);
    page_begin(request, reply,
               &(struct studio_page){.title = title,
                                     .script = "profile",
                                     .style = "interactives/interactives",
                                     .body = "profile-page",
                                     .id = "profile",
                                     .data = data});
    lk_buf_printf(&reply->body, "<p class=\"back\"><a href=\"%s\">%s</a></p>\n<h1>", back,
                  back_words);
    lk_buf_html(&reply->body, title);
    lk_buf_printf(
        &reply->body,
        "</h1>\n<p id=\"making\" hidden>The profile is being made.</p>\n<noscript><p>The profile "
        "needs JavaScript; this is the source.</p></noscript>\n<pre><code>");
    lk_buf_html(&reply->body, source);
    lk_buf_printf(&reply->body, "</code></pre>\n");
    page_end(reply);
    free(data);
}

static void show_variant(struct studio_request *request, struct studio_reply *reply,
                         const struct zoo_family *family, const struct zoo_variant *variant)
{
    char *title = lk_format("%s/%s", family->name, variant->name);
    char *run = lk_format("/api/profile?variant=%s", title);
    char *back = lk_format("/library/%s", family->name),
         *words = lk_format("The family %s</a> · <a id=\"replay-link\" href=\"/replay/%s\">Play it "
                            "back",
                            family->name, title);
    const char *source = NULL;
    for (size_t i = 0; i < zoo_embedded_count; i++)
        if (strcmp(zoo_embedded[i].family, family->name) == 0 &&
            strcmp(zoo_embedded[i].variant, variant->name) == 0)
            source = zoo_embedded[i].text;
    if (source)
        show_profile(request, reply, title, run, source, back, words);
    else
        page_missing(request, reply, "%s runs on the CPU and has no profile.", title);
    free(words);
    free(back);
    free(run);
    free(title);
}

/* "transpose/journey.svg", "transpose/roofline.svg": a family of the table, and a name of letters
 * and underscores, so no path leads out of its folder. */
static bool show_picture(struct studio_request *request, struct studio_reply *reply)
{
    const char *folder = request->studio->options.kernels;
    for (size_t i = 0; zoo_families[i]; i++) {
        const struct zoo_family *family = zoo_families[i];
        size_t length = strlen(family->name);
        if (strncmp(request->rest, family->name, length) != 0 || request->rest[length] != '/')
            continue;
        const char *name = request->rest + length + 1;
        if (strcmp(name, "roofline.svg") == 0) {
            library_roofline(request, reply, family);
            return true;
        }
        if (strcmp(name + strspn(name, PICTURE_LETTERS), ".svg") != 0 || !folder)
            return false;
        char *path = lk_format("%s/%s/%s", folder, family->name, name);
        bool sent = file_send(reply, path, "image/svg+xml", "no-cache");
        free(path);
        return sent;
    }
    return false;
}

void page_family(struct studio_request *request, struct studio_reply *reply)
{
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    char *message = NULL;
    if (strchr(request->rest, '.')) {
        if (!show_picture(request, reply))
            page_missing(request, reply, "There is no such picture.");
    } else if (!zoo_find(request->rest, &family, &variant, &message)) {
        page_missing(request, reply, "%s", message);
    } else if (variant) {
        show_variant(request, reply, family, variant);
    } else {
        show_family(request, reply, family);
    }
    free(message);
}

void page_profile(struct studio_request *request, struct studio_reply *reply)
{
    const struct learn_exercise *exercise = request->exercise;
    char *run = lk_format("/api/run?exercise=%s", exercise->key);
    char *path = request->studio->folder ? learner_file(request->studio->folder, exercise) : NULL;
    char *message = NULL, *source = path ? host_read_text(path, &message) : NULL;
    struct lk_buf back = {0};
    page_place(&back, exercise);
    show_profile(request, reply, exercise->key, run, source ? source : "", back.data,
                 "To the exercise");
    lk_buf_free(&back);
    free(source);
    free(message);
    free(path);
    free(run);
}
