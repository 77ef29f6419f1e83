/*
 * check_print.c: findings for people and for programs.
 */
#include "cli/check.h"

#include "cli/cli.h"
#include "host/files.h"

#include <stdlib.h>
#include <string.h>

void check_print_json(const struct check_findings *findings)
{
    json_t *all = json_object();
    json_object_set(all, "errors", findings->errors);
    json_object_set(all, "remarks", findings->remarks);
    json_dumpf(all, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    putchar('\n');
    json_decref(all);
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void print_source(const char *file, long long line)
{
    char *text = file && line > 0 ? host_read_line(file, (unsigned long long)line) : NULL;
    if (text)
        printf("  %s%5lld |%s %s\n", host_style(stdout, HOST_DIM), line,
               host_style(stdout, HOST_PLAIN), text);
    free(text);
}

static void print_triple(const char *name, const json_t *object)
{
    const json_t *list = json_object_get(object, name);
    if (json_array_size(list) == 3)
        printf(", %s (%lld,%lld,%lld)", name,
               (long long)json_integer_value(json_array_get(list, 0)),
               (long long)json_integer_value(json_array_get(list, 1)),
               (long long)json_integer_value(json_array_get(list, 2)));
}

static void print_thread(const json_t *object)
{
    if (text_of(object, "kernel"))
        printf("kernel %s", text_of(object, "kernel"));
    print_triple("block", object);
    print_triple("thread", object);
    printf("\n");
}

static void print_place(const json_t *object)
{
    if (text_of(object, "file"))
        printf("%s:%lld: ", text_of(object, "file"),
               (long long)json_integer_value(json_object_get(object, "line")));
}

static void print_finding(const json_t *object, enum host_style style)
{
    const json_t *other = json_object_get(object, "other");
    long long line = json_integer_value(json_object_get(object, "line"));
    printf("%s", host_style(stdout, HOST_BOLD));
    print_place(object);
    printf("%s%s%s\n", host_style(stdout, style), text_of(object, "text"),
           host_style(stdout, HOST_PLAIN));
    print_source(text_of(object, "file"), line);
    if (json_object_get(object, "limit"))
        printf("  --limit N or LOCKSTEP_LIMIT=N raises the limit\n");
    if (text_of(object, "kernel")) {
        printf("  in ");
        print_thread(object);
        if (!text_of(object, "file"))
            printf("  PTX line %lld (compile with -lineinfo for lines of the source)\n",
                   (long long)json_integer_value(json_object_get(object, "ptx_line")));
    }
    if (other && (text_of(other, "file") || text_of(other, "kernel"))) {
        const char *access = text_of(other, "access");
        printf("  the other side%s%s%s: ", access ? " (" : "", access ? access : "",
               access ? ")" : "");
        print_place(other);
        if (text_of(other, "kernel"))
            print_thread(other);
        else
            printf("\n");
        print_source(text_of(other, "file"), json_integer_value(json_object_get(other, "line")));
    }
    long long count = json_integer_value(json_object_get(object, "count"));
    if (count > 1)
        printf("  and %lld times more\n", count - 1);
}

void check_print(const struct check_findings *findings, int program_status)
{
    size_t i, errors = json_array_size(findings->errors);
    size_t remarks = json_array_size(findings->remarks);
    const json_t *object;
    fflush(stdout);
    json_array_foreach(findings->errors, i, object) print_finding(object, HOST_RED);
    json_array_foreach(findings->remarks, i, object)
    {
        if (i == 10) {
            printf("%zu more leaks\n", remarks - i);
            break;
        }
        printf("remark: ");
        print_finding(object, HOST_YELLOW);
    }
    if (program_status && !errors)
        printf("the program ended with status %d\n", program_status);
    printf("%zu error%s\n", errors, errors == 1 ? "" : "s");
}
