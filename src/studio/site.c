/*
 * site.c: writes the site: the studio's own pages, made without a learner, with links turned into
 * relative ones, beside the files that they load.
 */
#include "studio/site.h"
#include "studio/pages.h"

#include "base/text.h"
#include "host/files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct site {
    struct studio studio;
    const char *folder;
    unsigned pages;
    char **message;
};

/* Links
 * --------------------------------------------------------------------------------------------*/

/* Where "/lesson/week1/day5_x?exercise=y" is in the site: "lesson/week1/day5_x.html#exercise-y".
 * False if the site has no such page. */
static bool turn_path(struct lk_buf *out, const char *path, size_t size)
{
    size_t bare = strcspn(path, "?#\""), tail = size - bare;
    const char *rest = path + bare;
    if (strncmp(path, "/web/", 5) == 0 || strncmp(path, "/lib/", 5) == 0) {
        lk_buf_printf(out, "%.*s", (int)size - 1, path + 1);
    } else if (bare == 1) {
        lk_buf_printf(out, "index.html%.*s", (int)tail, rest);
    } else if (strncmp(path, "/lesson/", 8) == 0) {
        static const char mark[] = "?exercise=";
        bool exercise = strncmp(rest, mark, sizeof mark - 1) == 0;
        lk_buf_printf(out, "%.*s.html", (int)bare - 1, path + 1);
        if (exercise)
            lk_buf_printf(out, "#exercise-%.*s", (int)(tail - sizeof mark + 1),
                          rest + sizeof mark - 1);
        else
            lk_buf_printf(out, "%.*s", (int)tail, rest);
    } else if (strncmp(path, "/interactive", 12) == 0) {
        lk_buf_printf(out, "%.*s.html%.*s", (int)bare - 1, path + 1, (int)tail, rest);
    } else {
        return false;
    }
    return true;
}

/* A page of the studio for a file that lies `depth` folders deep. What the site does not have leads
 * nowhere. */
static void turn_links(struct lk_buf *out, const char *html, unsigned depth)
{
    static const char *const attributes[] = {" href=\"/", " src=\"/"};
    while (*html) {
        const char *next = NULL, *end;
        size_t skip = 0;
        for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
            const char *found = strstr(html, attributes[i]);
            if (found && (!next || found < next)) {
                next = found;
                skip = strlen(attributes[i]) - 1;
            }
        }
        if (!next || !(end = strchr(next + skip, '"'))) {
            lk_buf_printf(out, "%s", html);
            return;
        }
        struct lk_buf path = {0};
        lk_buf_add(out, html, (size_t)(next - html));
        if (turn_path(&path, next + skip, (size_t)(end - next) - skip)) {
            lk_buf_add(out, next, skip);
            for (unsigned i = 0; i < depth; i++)
                lk_buf_printf(out, "../");
            lk_buf_add(out, path.data, path.size);
            lk_buf_printf(out, "\"");
        } else {
            lk_buf_printf(out, " data-absent");
        }
        lk_buf_free(&path);
        html = end + 1;
    }
}

/* Files
 * --------------------------------------------------------------------------------------------*/

static bool write_page(struct site *site, studio_answer *answer, const char *path, const char *rest,
                       const char *name)
{
    struct studio_request request = {
        .studio = &site->studio, .method = "GET", .path = path, .rest = rest};
    struct studio_reply reply = {0};
    struct lk_buf page = {0};
    unsigned depth = 0;
    answer(&request, &reply);
    for (const char *at = name; *at; at++)
        depth += *at == '/';
    turn_links(&page, reply.body.data, depth);
    char *file = lk_format("%s/%s", site->folder, name);
    bool fine = host_replace_file(file, page.data, page.size, site->message);
    site->pages += fine;
    free(file);
    lk_buf_free(&page);
    lk_buf_free(&reply.body);
    return fine;
}

static bool copy_file(struct site *site, const char *from, const char *name)
{
    struct lk_buf content = {0};
    char *file = lk_format("%s/%s", site->folder, name);
    bool fine = host_read_file(from, &content, site->message) &&
                host_replace_file(file, content.data, content.size, site->message);
    lk_buf_free(&content);
    free(file);
    return fine;
}

/* Every file of a folder whose name ends so; deeper folders are not entered. */
static bool copy_kind(struct site *site, const char *from, const char *to, const char *ending)
{
    DIR *files = opendir(from);
    struct dirent *entry;
    bool fine = files != NULL;
    if (!fine)
        *site->message = lk_format("%s cannot be read", from);
    while (fine && (entry = readdir(files))) {
        size_t length = strlen(entry->d_name), tail = strlen(ending);
        if (length <= tail || strcmp(entry->d_name + length - tail, ending) != 0)
            continue;
        char *path = lk_format("%s/%s", from, entry->d_name);
        char *name = lk_format("%s/%s", to, entry->d_name);
        fine = copy_file(site, path, name);
        free(path);
        free(name);
    }
    if (files)
        closedir(files);
    return fine;
}

static bool copy_files(struct site *site)
{
    const char *web = site->studio.options.web;
    char *inner = lk_format("%s/interactives", web), *theme = lk_format("%s/theme.js", web);
    struct lk_buf script = {0};
    char *file = lk_format("%s/web/site.js", site->folder);
    bool fine = copy_kind(site, web, "web", ".css") && copy_kind(site, web, "web", ".svg") &&
                copy_kind(site, inner, "web/interactives", ".css") &&
                copy_file(site, theme, "web/theme.js") &&
                site_script(&script, web, site->message) &&
                host_replace_file(file, script.data, script.size, site->message);
    if (fine && site->studio.katex)
        fine = copy_kind(site, STUDIO_KATEX, "lib/katex", "katex.css") &&
               copy_file(site, STUDIO_KATEX "/katex.css", "lib/katex/katex.css") &&
               copy_file(site, STUDIO_KATEX "/katex.js", "lib/katex/katex.js") &&
               copy_kind(site, STUDIO_KATEX "/fonts", "lib/katex/fonts", ".woff2");
    lk_buf_free(&script);
    free(inner);
    free(theme);
    free(file);
    return fine;
}

static bool write_pages(struct site *site)
{
    static const char *const interactives[] = {
#define X(name, title) #name,
#include "learn/interactives.def"
#undef X
    };
    const struct learn_course *course = site->studio.options.course;
    bool fine = write_page(site, page_course, "/", "", "index.html") &&
                write_page(site, page_interactives, "/interactives", "", "interactives.html");
    for (unsigned i = 0; fine && i < course->count; i++) {
        char *path = lk_format("/lesson/%s", course->lesson[i]->id);
        char *name = lk_format("lesson/%s.html", course->lesson[i]->id);
        fine = write_page(site, page_lesson, path, course->lesson[i]->id, name);
        free(path);
        free(name);
    }
    for (size_t i = 0; fine && i < sizeof interactives / sizeof *interactives; i++) {
        char *path = lk_format("/interactive/%s", interactives[i]);
        char *name = lk_format("interactive/%s.html", interactives[i]);
        fine = write_page(site, page_interactive, path, interactives[i], name);
        free(path);
        free(name);
    }
    return fine;
}

/* Is there anything in it that no earlier site has put there? */
static bool is_free(struct site *site)
{
    char *script = lk_format("%s/web/site.js", site->folder);
    DIR *files = opendir(site->folder);
    struct dirent *entry;
    bool fine = true;
    while (files && (entry = readdir(files)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            fine = false;
    fine = fine || access(script, F_OK) == 0;
    if (!fine)
        *site->message =
            lk_format("%s is not empty, and not a site; take a new folder", site->folder);
    if (files)
        closedir(files);
    free(script);
    return fine;
}

unsigned studio_site(const struct learn_course *course, const char *web, const char *folder,
                     char **message)
{
    struct site site = {.folder = folder, .message = message};
    site.studio =
        (struct studio){.is_site = true, .katex = access(STUDIO_KATEX "/katex.js", R_OK) == 0};
    site.studio.options = (struct studio_options){.course = course, .web = web};
    site.studio.options.progress = learn_progress_open(":memory:", message); /* nobody's */
    bool fine =
        site.studio.options.progress && is_free(&site) && copy_files(&site) && write_pages(&site);
    learn_progress_close(site.studio.options.progress);
    return fine ? site.pages : 0;
}
