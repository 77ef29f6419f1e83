/*
 * site_script.c: the pages' JavaScript modules as one plain script, for pages that are opened from
 * a disk: browsers load neither modules nor JSON from there. Each module becomes a function that
 * fills its exports. Only the forms of import and export that web/ uses are known; another one is
 * refused with its file and line.
 */
#include "studio/site.h"

#include "base/text.h"
#include "host/files.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { MODULES = 128 };

struct bundle {
    const char *web;
    struct lk_buf *out;
    char *done[MODULES]; /* modules that are written, or being written: malloc'd paths in web/ */
    unsigned count;
    char **message;
};

static bool add_module(struct bundle *bundle, const char *path);

static bool refuse(struct bundle *bundle, const char *path, const char *text, const char *at)
{
    unsigned line = 1;
    for (const char *c = text; c < at; c++)
        line += *c == '\n';
    *bundle->message = lk_format("%s/%s:%u: this form of import or export cannot go into a site",
                                 bundle->web, path, line);
    return false;
}

/* "../draw.js" as seen from "interactives/warp.js": "draw.js"; malloc'd. */
static char *resolve(const char *from, const char *to, size_t length)
{
    const char *slash = strrchr(from, '/');
    size_t folder = slash ? (size_t)(slash - from) + 1 : 0;
    while (length > 2 && to[0] == '.') {
        size_t skip = to[1] == '.' ? 3 : 2;
        if (skip == 3 && folder)
            for (folder--; folder && from[folder - 1] != '/';)
                folder--;
        to += skip;
        length -= skip;
    }
    return lk_format("%.*s%.*s", (int)folder, from, (int)length, to);
}

/* import { a, b } from "./x.js";  import * as x from "./x.js";  import "./x.js"; */
static const char *turn_import(struct bundle *bundle, struct lk_buf *body, const char *path,
                               const char *at)
{
    const char *end = strchr(at, ';'), *words = at + 7,
               *quote = end ? memchr(at, '"', (size_t)(end - at)) : NULL;
    const char *close = quote ? memchr(quote + 1, '"', (size_t)(end - quote - 1)) : NULL;
    if (!close)
        return NULL;
    char *name = resolve(path, quote + 1, (size_t)(close - quote - 1));
    bool fine = add_module(bundle, name);
    if (fine && *words == '{') {
        const char *brace = memchr(words, '}', (size_t)(end - words));
        lk_buf_printf(body, "const %.*s = load(\"%s\");", (int)(brace - words + 1), words, name);
    } else if (fine && strncmp(words, "* as ", 5) == 0) {
        lk_buf_printf(body, "const %.*s = load(\"%s\");", (int)strcspn(words + 5, " "), words + 5,
                      name);
    } else if (fine) {
        lk_buf_printf(body, "load(\"%s\");", name);
    }
    free(name);
    return fine ? end + 1 : NULL;
}

static size_t name_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '$')
        length++;
    return length;
}

/* The names of "const LANES = 32, SECTOR = 32;": those before a '=', outside of brackets. */
static void note_names(struct lk_buf *names, const char *at)
{
    int depth = 0;
    bool expected = true;
    for (; *at && *at != ';' && *at != '\n'; at++) {
        size_t length = name_length(at);
        if (expected && length) {
            lk_buf_printf(names, "%.*s, ", (int)length, at);
            expected = false;
            at += length - 1;
        }
        depth += strchr("([{", *at) ? 1 : strchr(")]}", *at) ? -1 : 0;
        expected = expected || (depth == 0 && *at == ',');
    }
}

/* export default ..; export function f; export const a = ..; what remains of the line stays. */
static const char *turn_export(struct lk_buf *body, struct lk_buf *names, const char *at)
{
    static const char *const kinds[] = {"async function ", "function ", "class ", "const "};
    const char *rest = at + 7;
    if (strncmp(rest, "default ", 8) == 0) {
        lk_buf_printf(body, "exports.default = ");
        return rest + 8;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i]);
        if (strncmp(rest, kinds[i], length) != 0)
            continue;
        if (strcmp(kinds[i], "const ") == 0)
            note_names(names, rest + length);
        else
            lk_buf_printf(names, "%.*s, ", (int)name_length(rest + length), rest + length);
        return rest;
    }
    return NULL;
}

static bool turn_module(struct bundle *bundle, const char *path, const char *text)
{
    struct lk_buf body = {0}, names = {0};
    const char *at = text;
    while (at && *at) {
        const char *begin = at;
        if (strncmp(at, "import ", 7) == 0)
            at = turn_import(bundle, &body, path, at);
        else if (strncmp(at, "export ", 7) == 0)
            at = turn_export(&body, &names, at);
        if (!at && !*bundle->message)
            refuse(bundle, path, text, begin);
        if (!at)
            break;
        size_t length = strcspn(at, "\n");
        length += at[length] == '\n';
        lk_buf_add(&body, at, length);
        at += length;
    }
    if (at)
        lk_buf_printf(bundle->out,
                      "modules[\"%s\"] = (exports) => {\n%s\nObject.assign(exports, { %s});\n};\n",
                      path, body.data ? body.data : "", names.data ? names.data : "");
    lk_buf_free(&body);
    lk_buf_free(&names);
    return at != NULL;
}

static bool add_module(struct bundle *bundle, const char *path)
{
    for (unsigned i = 0; i < bundle->count; i++)
        if (strcmp(bundle->done[i], path) == 0)
            return true;
    if (bundle->count == MODULES) {
        *bundle->message = lk_format("%s has more than %u modules", bundle->web, MODULES);
        return false;
    }
    bundle->done[bundle->count++] = lk_format("%s", path);
    char *file = lk_format("%s/%s", bundle->web, path);
    char *text = host_read_text(file, bundle->message);
    bool fine = text && turn_module(bundle, path, text);
    free(text);
    free(file);
    return fine;
}

/* The shipped runs, by name. */
static bool add_runs(struct bundle *bundle)
{
    char *folder = lk_format("%s/runs", bundle->web);
    DIR *files = opendir(folder);
    struct dirent *entry;
    bool fine = files != NULL;
    if (!fine)
        *bundle->message = lk_format("%s cannot be read", folder);
    lk_buf_printf(bundle->out, "const runs = {};\n");
    while (fine && (entry = readdir(files))) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0)
            continue;
        char *path = lk_format("%s/%s", folder, entry->d_name);
        struct lk_buf text = {0};
        fine = host_read_file(path, &text, bundle->message);
        if (fine)
            lk_buf_printf(bundle->out, "runs[\"%.*s\"] = %s;\n", (int)length - 5, entry->d_name,
                          text.data);
        lk_buf_free(&text);
        free(path);
    }
    if (files)
        closedir(files);
    free(folder);
    return fine;
}

bool site_script(struct lk_buf *out, const char *web, char **message)
{
    static const char *const entries[] = {
        "interactive.js",
        "frames.js",
        "math.js",
#define X(name, title) "interactives/" #name ".js",
#include "learn/interactives.def"
#undef X
    };
    struct bundle bundle = {.web = web, .out = out, .message = message};
    bool fine = true;
    *message = NULL;
    lk_buf_printf(out, "/* site.js: made by 'lockstep learn site' from the studio's modules. */\n"
                       "\"use strict\";\n(() => {\nconst modules = {}, made = {};\n"
                       "function load(name) {\n    if (!made[name]) {\n        made[name] = {};\n"
                       "        modules[name](made[name]);\n    }\n    return made[name];\n}\n");
    fine = add_runs(&bundle);
    for (size_t i = 0; fine && i < sizeof entries / sizeof *entries; i++)
        fine = add_module(&bundle, entries[i]);
    lk_buf_printf(out, "globalThis.lockstepSite = { load, runs };\n"
                       "addEventListener(\"DOMContentLoaded\", () => {\n"
                       "    if (document.getElementById(\"interactive\"))\n"
                       "        load(\"interactive.js\");\n"
                       "    load(\"math.js\").showMath();\n"
                       "    load(\"frames.js\").showFrames();\n});\n})();\n");
    for (unsigned i = 0; i < bundle.count; i++)
        free(bundle.done[i]);
    return fine;
}
