/*
 * fields.c: reads the declaration of a structure of arguments; see fields.h.
 */
#include "export/fields.h"

#include "base/buf.h"
#include "export/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By the word that a declaration begins with; a pointer whatever that is. */
static const struct kind {
    const char *type;
    size_t bytes, align;
} kinds[] = {
    [EXPORT_FIELD_MAP] = {"tensor_map", 128, 128}, [EXPORT_FIELD_POINTER] = {"void *", 8, 8},
    [EXPORT_FIELD_LONG] = {"long long", 8, 8},     [EXPORT_FIELD_INT] = {"int", 4, 4},
    [EXPORT_FIELD_FLOAT] = {"float", 4, 4},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* What stands between the braces of "struct NAME {", without comments; malloc'd, NULL if it is not
 * there. */
static char *body_of(const char *source, const char *type)
{
    char head[80];
    snprintf(head, sizeof head, "struct %s {", type);
    const char *at = strstr(source, head);
    struct lk_buf body = {0};
    if (!at)
        return NULL;
    for (at += strlen(head); *at && *at != '}'; at++) {
        if (strncmp(at, "/*", 2) == 0) {
            const char *end = strstr(at, "*/");
            at = end ? end + 1 : at + strlen(at) - 1;
        } else if (strncmp(at, "//", 2) == 0) {
            at += strcspn(at, "\n") - 1;
        } else {
            lk_buf_add(&body, *at == '\n' ? " " : at, 1);
        }
    }
    return body.data;
}

static bool add_field(struct export_fields *fields, size_t *align, const char *type,
                      const char *name)
{
    for (unsigned i = 0; i < KINDS; i++) {
        if (strcmp(kinds[i].type, type) != 0 || fields->count == EXPORT_FIELDS || !*name ||
            strlen(name) >= sizeof fields->field[0].name)
            continue;
        unsigned at = fields->count++;
        fields->bytes = (fields->bytes + kinds[i].align - 1) / kinds[i].align * kinds[i].align;
        snprintf(fields->field[at].name, sizeof fields->field[at].name, "%s", name);
        fields->field[at].kind = (enum export_field_kind)i;
        fields->field[at].offset = fields->bytes;
        fields->bytes += kinds[i].bytes;
        *align = kinds[i].align > *align ? kinds[i].align : *align;
        return true;
    }
    return false;
}

/* "const void *a, *b": the type is all before the first name, the star belongs to each. */
static bool add_declaration(struct export_fields *fields, size_t *align, char *declaration)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    char type[64], whole[64], *next, *rest = declaration + strspn(declaration, " ");
    rest += strncmp(rest, "const ", 6) == 0 ? 6 : 0;
    size_t length = strcspn(rest, ",");
    while (length && strchr(letters, rest[length - 1]))
        length--;
    size_t bare = length;
    while (bare && strchr(" *", rest[bare - 1]))
        bare--;
    if (bare >= sizeof type - 4)
        return false;
    snprintf(type, sizeof type, "%.*s", (int)bare, rest);
    for (char *name = strtok_r(rest + bare, ",", &next); name; name = strtok_r(NULL, ",", &next)) {
        size_t stars = strspn(name, " *");
        snprintf(whole, sizeof whole, "%.58s%s", type, memchr(name, '*', stars) ? " *" : "");
        if (!add_field(fields, align, whole, name + stars))
            return false;
    }
    return true;
}

bool export_read_fields(const char *source, const char *kernel, struct export_fields *fields)
{
    char *next;
    size_t align = 1;
    *fields = (struct export_fields){0};
    char *body =
        export_structure_type(source, kernel, fields->type) ? body_of(source, fields->type) : NULL;
    bool fine = body != NULL;
    for (char *one = fine ? strtok_r(body, ";", &next) : NULL; one && fine;
         one = strtok_r(NULL, ";", &next))
        fine = !one[strspn(one, " ")] || add_declaration(fields, &align, one);
    free(body);
    fields->bytes = (fields->bytes + align - 1) / align * align;
    return fine && fields->count > 0;
}
