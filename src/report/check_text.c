/*
 * check_text.c: findings for people, on a terminal, and for programs.
 */
#include "report/check.h"

#include "host/files.h"

#include <stdlib.h>
#include <string.h>

json_t *report_findings_json(const struct check_findings *findings)
{
    json_t *all = json_object();
    json_object_set(all, "errors", findings->errors);
    json_object_set(all, "remarks", findings->remarks);
    return all;
}

static void put_triple(struct lk_buf *text, const char *name, const json_t *finding)
{
    const json_t *list = json_object_get(finding, name);
    if (json_array_size(list) == 3)
        lk_buf_printf(text, ", %s (%lld,%lld,%lld)", name,
                      (long long)json_integer_value(json_array_get(list, 0)),
                      (long long)json_integer_value(json_array_get(list, 1)),
                      (long long)json_integer_value(json_array_get(list, 2)));
}

void finding_put_thread(struct lk_buf *text, const json_t *finding)
{
    put_triple(text, "block", finding);
    put_triple(text, "thread", finding);
}

/* Terminal --------------------------------------------------------------------------------------*/

struct printer {
    FILE *out;
    const struct report_paint *paint;
};

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void print_source(const struct printer *p, const json_t *object)
{
    const char *file = text_of(object, "file");
    long long line = json_integer_value(json_object_get(object, "line"));
    char *text = file && line > 0 ? host_read_line(file, (unsigned long long)line) : NULL;
    if (text)
        fprintf(p->out, "  %s%5lld |%s %s\n", p->paint->dim, line, p->paint->plain, text);
    free(text);
}

/* The calls that an instruction was inlined at; of many the outermost. */
static void print_calls(const struct printer *p, const json_t *object)
{
    enum { MOST = 4 };
    const json_t *calls = json_object_get(object, "calls");
    size_t count = json_array_size(calls), i = count > MOST ? count - MOST : 0;
    if (i)
        fprintf(p->out, "  through %zu call%s\n", i, i == 1 ? "" : "s");
    for (; i < count; i++) {
        const json_t *call = json_array_get(calls, i);
        fprintf(p->out, "  called at %s:%lld\n", text_of(call, "file"),
                (long long)json_integer_value(json_object_get(call, "line")));
        print_source(p, call);
    }
}

static void print_thread(const struct printer *p, const json_t *object)
{
    struct lk_buf text = {0};
    lk_buf_printf(&text, "kernel %s", text_of(object, "kernel"));
    finding_put_thread(&text, object);
    fprintf(p->out, "%s\n", text.data);
    lk_buf_free(&text);
}

static void print_place(const struct printer *p, const json_t *object)
{
    if (text_of(object, "file"))
        fprintf(p->out, "%s:%lld: ", text_of(object, "file"),
                (long long)json_integer_value(json_object_get(object, "line")));
}

static void print_other(const struct printer *p, const json_t *other)
{
    const char *access = text_of(other, "access");
    if (!text_of(other, "file") && !text_of(other, "kernel"))
        return;
    fprintf(p->out, "  the other side%s%s%s: ", access ? " (" : "", access ? access : "",
            access ? ")" : "");
    print_place(p, other);
    if (text_of(other, "kernel"))
        print_thread(p, other);
    else
        fprintf(p->out, "\n");
    print_source(p, other);
    print_calls(p, other);
}

static void print_finding(const struct printer *p, const json_t *object, const char *colour)
{
    fprintf(p->out, "%s", p->paint->bold);
    print_place(p, object);
    fprintf(p->out, "%s%s%s\n", colour, text_of(object, "text"), p->paint->plain);
    print_source(p, object);
    print_calls(p, object);
    if (text_of(object, "remedy"))
        fprintf(p->out, "  to fix it: %s\n", text_of(object, "remedy"));
    if (json_object_get(object, "limit"))
        fprintf(p->out, "  --limit N or LOCKSTEP_LIMIT=N raises the limit\n");
    if (text_of(object, "kernel")) {
        fprintf(p->out, "  in ");
        print_thread(p, object);
        if (!text_of(object, "file"))
            fprintf(p->out, "  PTX line %lld (compile with -lineinfo for lines of the source)\n",
                    (long long)json_integer_value(json_object_get(object, "ptx_line")));
    }
    print_other(p, json_object_get(object, "other"));
    long long count = json_integer_value(json_object_get(object, "count"));
    if (count == 2)
        fprintf(p->out, "  and once more\n");
    else if (count > 2)
        fprintf(p->out, "  and %lld times more\n", count - 1);
}

void report_findings_text(FILE *out, const struct report_paint *paint,
                          const struct check_findings *findings, int program_status)
{
    enum { REMARKS = 10 }; /* shown one by one */
    const struct printer printer = {out, paint};
    size_t i, errors = json_array_size(findings->errors);
    size_t remarks = json_array_size(findings->remarks);
    const json_t *object;
    json_array_foreach(findings->errors, i, object) print_finding(&printer, object, paint->red);
    json_array_foreach(findings->remarks, i, object)
    {
        if (i == REMARKS) {
            fprintf(out, "%zu more remarks\n", remarks - i);
            break;
        }
        fprintf(out, "remark: ");
        print_finding(&printer, object, paint->yellow);
    }
    if (program_status && !errors)
        fprintf(out, "the program ended with status %d\n", program_status);
    fprintf(out, "%zu error%s\n", errors, errors == 1 ? "" : "s");
}
