/*
 * check_read.c: from the checker's file to findings: counts are merged into the errors they belong
 * to, addresses of the host program become lines of its source (if it has -g), and paths under the
 * current folder are made short.
 */
#include "report/check.h"
#include "report/client_terms.h"

#include "base/buf.h"
#include "host/child.h"
#include "host/headers.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lines of host code ------------------------------------------------------------------------------
 */

/* Code that nvcc writes around a launch: __device_stub__... and a host function with the kernel's
 * name. */
static bool is_stub(const char *function, const char *file, const char *stub)
{
    return strstr(file, ".cudafe1.") || strstr(function, "__device_stub__") ||
           (stub && strcmp(function, stub) == 0);
}

/* "file:line" of an address, through addr2line; the first that is the program's own. */
static bool host_line(const char *program, const char *address, const char *stub, char *file,
                      size_t size, unsigned *line)
{
    struct lk_arena *arena = lk_arena_create();
    const char *const words[] = {
        host_find_program(arena, "addr2line"), "-i", "-f", "-e", program, address, NULL};
    struct host_command command = {.words = words, .input = "/dev/null", .errors = "/dev/null"};
    struct lk_buf output = {0};
    bool found = false;
    if (words[0])
        host_capture(&command, &output);
    char *rest = output.data;
    for (char *function, *text;
         !found && (function = strsep(&rest, "\n")) && (text = strsep(&rest, "\n"));) {
        char *colon = strrchr(text, ':');
        if (!colon)
            continue;
        *line = (unsigned)strtoul(colon + 1, NULL, 10);
        *colon = 0;
        if (host_is_toolkit_header(text) || host_is_system_header(text) ||
            is_stub(function, text, stub))
            continue;
        found = *line != 0;
        if (found)
            snprintf(file, size, "%s", text);
    }
    lk_buf_free(&output);
    lk_arena_destroy(arena);
    return found;
}

static void resolve_callers(json_t *object, const char *program)
{
    json_t *callers = json_object_get(object, "callers"), *caller;
    const char *stub = json_string_value(json_object_get(object, "stub"));
    size_t i;
    json_array_foreach(callers, i, caller)
    {
        if (!program)
            break;
        char file[PATH_MAX + 32];
        unsigned line;
        if (!host_line(program, json_string_value(caller), stub, file, sizeof file, &line))
            continue;
        json_object_set_new(object, "file", json_string(file));
        json_object_set_new(object, "line", json_integer(line));
        break;
    }
    json_object_del(object, "callers");
    json_object_del(object, "stub");
}

static void shorten_file(json_t *object)
{
    const char *file = json_string_value(json_object_get(object, "file"));
    char folder[PATH_MAX], *resolved = file ? realpath(file, NULL) : NULL;
    if (resolved && getcwd(folder, sizeof folder)) {
        size_t length = strlen(folder);
        if (strncmp(resolved, folder, length) == 0 && resolved[length] == '/')
            json_object_set_new(object, "file", json_string(resolved + length + 1));
        else
            json_object_set_new(object, "file", json_string(resolved));
    }
    free(resolved);
}

/* A side's file, and those of the calls that it was inlined at. */
static void shorten_files(json_t *side)
{
    size_t i;
    json_t *call;
    shorten_file(side);
    json_array_foreach(json_object_get(side, "calls"), i, call) shorten_file(call);
}

/* The file
 * ------------------------------------------------------------------------------------------ */

struct reading {
    const char *program;
    const struct check_names *names;
    struct check_findings *findings;
    json_t *by_id; /* errors whose count may follow */
};

static char *name_allocation(const struct check_names *names, const json_t *allocation)
{
    unsigned number = (unsigned)json_integer_value(json_object_get(allocation, "number"));
    uint64_t bytes = (uint64_t)json_integer_value(json_object_get(allocation, "bytes"));
    char *name = names ? names->allocation(names->context, number, bytes) : NULL;
    return name ? name
                : lk_format("allocation #%u of %llu bytes", number, (unsigned long long)bytes);
}

/* The checker leaves the name of the allocation open. */
static void complete_text(json_t *object, const struct check_names *names)
{
    static const char open[] = "{allocation}";
    const json_t *allocation = json_object_get(object, "allocation");
    const char *text = json_string_value(json_object_get(object, "text"));
    const char *at = text && allocation ? strstr(text, open) : NULL;
    if (!at)
        return;
    char *name = name_allocation(names, allocation);
    char *whole = lk_format("%.*s%s%s", (int)(at - text), text, name, at + strlen(open));
    json_object_set_new(object, "text", json_string(whole));
    free(whole);
    free(name);
}

static void finish(const struct reading *reading, json_t *object)
{
    static const char *const fields[] = {"space",  "kernel",  "file",       "line", "block",
                                         "thread", "address", "allocation", "text"};
    json_t *other = json_object_get(object, "other");
    resolve_callers(object, reading->program);
    shorten_files(object);
    complete_text(object, reading->names);
    if (other) {
        resolve_callers(other, reading->program);
        shorten_files(other);
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (!json_object_get(object, fields[i]))
            json_object_set_new(object, fields[i], json_null());
}

static const struct {
    const char *key, *severity;
} kinds[] = {
#define FINDING(name, key, severity) {key, severity},
#include "gpu/finding_kinds.def"
#undef FINDING
};

enum finding_kind finding_kind(const json_t *finding)
{
    const char *kind = json_string_value(json_object_get(finding, "kind"));
    unsigned i = 0;
    while (kind && i < FINDING_KINDS && strcmp(kinds[i].key, kind) != 0)
        i++;
    return kind ? (enum finding_kind)i : FINDING_KINDS;
}

/* Once all of the file is read: a race that was later seen further apart needs more than was said
 * at first, and a kernel of Python has its client's words. */
static void put_terms(json_t *object)
{
    const char *text = json_string_value(json_object_get(object, "text"));
    const char *also = json_string_value(json_object_get(object, "also"));
    const char *symbol = json_string_value(json_object_get(object, "symbol"));
    const char *file = json_string_value(json_object_get(object, "file"));
    bool warps = also && strcmp(also, "warps") == 0, blocks = also && !warps;
    bool one_block = text && !strstr(text, "between blocks") && !blocks;
    bool one_warp = text && strstr(text, "between threads of a warp") && !also;
    unsigned line = (unsigned)json_integer_value(json_object_get(object, "line"));
    enum terms_client client = terms_client(terms_is_python_line(file, line), symbol);
    const char *remedy = terms_remedy(client, finding_kind(object), one_block, one_warp);
    struct lk_buf changed = {0};
    char *whole = lk_format("%s%s", text ? text : "",
                            warps ? "; also between warps of the block, which need __syncthreads()"
                            : blocks ? "; also between blocks, which no barrier of a block orders"
                                     : "");
    if (text)
        json_object_set_new(object, "text", json_string(terms_of(client, whole, &changed)));
    if (remedy)
        json_object_set_new(object, "remedy", json_string(remedy));
    json_object_del(object, "symbol");
    json_object_del(object, "also");
    json_object_del(json_object_get(object, "other"), "symbol");
    lk_buf_free(&changed);
    free(whole);
}

static void add_line(const struct reading *reading, const char *text)
{
    json_error_t error;
    json_t *object = json_loads(text, 0, &error);
    if (!object)
        return; /* the last line of a program that died */
    json_t *id = json_object_get(object, "id"), *count = json_object_get(object, "count");
    char key[32];
    snprintf(key, sizeof key, "%lld", (long long)json_integer_value(id));
    if (id && count) {
        json_t *known = json_object_get(reading->by_id, key);
        json_object_del(object, "id");
        if (known)
            json_object_update(known, object);
        json_decref(object);
        return;
    }
    if (id) {
        json_object_set(reading->by_id, key, object);
        json_object_del(object, "id");
    }
    finish(reading, object);
    enum finding_kind kind = finding_kind(object);
    const char *severity = kind < FINDING_KINDS ? kinds[kind].severity : "error";
    bool is_remark = strcmp(severity, "remark") == 0;
    json_object_set_new(object, "severity", json_string(severity));
    json_array_append_new(is_remark ? reading->findings->remarks : reading->findings->errors,
                          object);
}

bool check_read(const char *path, const char *program, const struct check_names *names,
                struct check_findings *findings, char **message)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t capacity = 0, i;
    json_t *object;
    if (!file) {
        *message = lk_format("%s: %s", path, strerror(errno));
        return false;
    }
    findings->errors = json_array();
    findings->remarks = json_array();
    struct reading reading = {program, names, findings, json_object()};
    while (getline(&text, &capacity, file) > 0)
        add_line(&reading, text);
    json_array_foreach(findings->errors, i, object) put_terms(object);
    json_array_foreach(findings->remarks, i, object) put_terms(object);
    json_decref(reading.by_id);
    free(text);
    fclose(file);
    return true;
}

void check_free(struct check_findings *findings)
{
    json_decref(findings->errors);
    json_decref(findings->remarks);
}
