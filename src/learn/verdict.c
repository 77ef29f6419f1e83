/*
 * verdict.c: puts a verdict together, and writes it as JSON; see verdict.h.
 */
#include "learn/verdict.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const learn_stage_names[LEARN_STAGES] = {"passed", "compile", "wrong", "fault",
                                                     "check",  "limit",   "broken"};

void verdict_stop(struct learn_verdict *verdict, enum learn_stage stage, unsigned line)
{
    if (verdict->stage != LEARN_PASSED)
        return;
    verdict->stage = stage;
    verdict->line = line;
}

/* Messages --------------------------------------------------------------------------------------*/

/* Takes text, which may contain any name or string of the learner's. */
static void add_message(struct learn_verdict *verdict, unsigned line, char *text)
{
    lk_replace_bad_utf8(text);
    verdict->message =
        lk_realloc(verdict->message, (verdict->message_count + 1) * sizeof *verdict->message);
    verdict->message[verdict->message_count++] = (struct learn_message){line, text, NULL};
}

static void add_detail(struct learn_verdict *verdict, const char *text)
{
    struct learn_message *last = &verdict->message[verdict->message_count - 1];
    char *longer = last->detail ? lk_format("%s\n%s", last->detail, text) : strdup(text);
    lk_replace_bad_utf8(longer);
    free(last->detail);
    last->detail = longer;
}

/* The checker and the log may both tell that a launch was stopped. */
static bool is_said(const struct learn_verdict *verdict, unsigned line, const char *text)
{
    for (unsigned i = 0; i < verdict->message_count; i++)
        if (verdict->message[i].line == line && strcmp(verdict->message[i].text, text) == 0)
            return true;
    return false;
}

void verdict_add_message(struct learn_verdict *verdict, unsigned line, const char *format, ...)
{
    struct lk_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    if (is_said(verdict, line, text.data)) {
        lk_buf_free(&text);
        return;
    }
    char *more = strchr(text.data, '\n');
    if (more)
        *more++ = 0;
    char *detail = more && *more ? strdup(more) : NULL;
    add_message(verdict, line, text.data);
    if (detail)
        add_detail(verdict, detail);
    free(detail);
}

void verdict_add_detail(struct learn_verdict *verdict, const char *format, ...)
{
    struct lk_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    add_detail(verdict, text.data);
    lk_buf_free(&text);
}

/* Compilers -------------------------------------------------------------------------------------*/

/* "SHOWN:12:7: words", "SHOWN(12): words" or "SHOWN: words": false if it is none of these. */
static bool read_place(const char *row, const char *shown, unsigned *line, const char **words)
{
    size_t length = strlen(shown);
    char *end;
    if (strncmp(row, shown, length) != 0 || (row[length] != ':' && row[length] != '('))
        return false;
    *line = (unsigned)strtoul(row + length + 1, &end, 10);
    end += strspn(end, ":,0123456789)");
    *words = end + strspn(end, " ");
    return true;
}

void verdict_take_compiler(struct learn_verdict *verdict, char *said, const char *shown)
{
    char *copy = strdup(said), *place = NULL;
    for (char *row = strtok_r(copy, "\n", &place); row; row = strtok_r(NULL, "\n", &place)) {
        const char *words = row;
        unsigned line = 0;
        bool is_place = read_place(row, shown, &line, &words);
        if (is_place && strncmp(words, "note:", 5) != 0)
            add_message(verdict, line, strdup(words));
        else if (verdict->message_count)
            add_detail(verdict, row);
        else
            add_message(verdict, 0, strdup(row));
    }
    free(copy);
    verdict->text = said;
}

void verdict_add_unset(struct learn_verdict *verdict, const char *said, const char *shown)
{
    char *copy = strdup(said), *place = NULL;
    for (char *row = strtok_r(copy, "\n", &place); row; row = strtok_r(NULL, "\n", &place)) {
        const char *words = row;
        unsigned line = 0;
        bool is_unset = strstr(row, "uninitialized") || strstr(row, "before its value is set");
        if (is_unset && read_place(row, shown, &line, &words) && strstr(words, "warning"))
            verdict_add_message(verdict, line, "%.*s", (int)strcspn(words, "["), words);
    }
    free(copy);
}

/* The whole -------------------------------------------------------------------------------------*/

static void print_message(struct lk_buf *text, const char *shown,
                          const struct learn_message *message)
{
    lk_buf_printf(text, "%s:", shown);
    if (message->line)
        lk_buf_printf(text, "%u:", message->line);
    lk_buf_printf(text, " %s\n", message->text);
    for (const char *row = message->detail; row && *row;) {
        int length = (int)strcspn(row, "\n");
        lk_buf_printf(text, "    %.*s\n", length, row);
        row += length + (row[length] == '\n');
    }
}

void verdict_finish(struct learn_verdict *verdict, const char *shown)
{
    struct lk_buf text = {0};
    if (!verdict->text) {
        for (unsigned i = 0; i < verdict->message_count; i++)
            print_message(&text, shown, &verdict->message[i]);
        verdict->text = text.data ? text.data : strdup("");
    }
    lk_replace_bad_utf8(verdict->text);
    lk_replace_bad_utf8(verdict->picture);
    lk_replace_bad_utf8(verdict->printed);
}

void learn_verdict_free(struct learn_verdict *verdict)
{
    for (unsigned i = 0; i < verdict->message_count; i++) {
        free(verdict->message[i].text);
        free(verdict->message[i].detail);
    }
    free(verdict->message);
    free(verdict->text);
    free(verdict->picture);
    free(verdict->printed);
    json_decref(verdict->run);
    json_decref(verdict->replay);
    *verdict = (struct learn_verdict){0};
}

const char *learn_duration(char text[32], double us)
{
    const char *unit = us < 1000 ? "us" : us < 1e6 ? "ms" : "s";
    double value = us < 1000 ? us : us < 1e6 ? us / 1e3 : us / 1e6;
    snprintf(text, 32,
             value < 9.995   ? "%.2f %s"
             : value < 99.95 ? "%.1f %s"
                             : "%.0f %s",
             value, unit);
    return text;
}

const char *learn_rate(char text[32], double work, bool is_flops, double us)
{
    double rate = us > 0 ? work / us * 1e-3 : 0; /* 1e9 a second */
    const char *unit = is_flops ? "FLOP/s" : "B/s";
    if (rate <= 0)
        text[0] = '\0';
    else
        snprintf(text, 32, rate < 99.5 ? "%.2g %c%s" : "%.0f %c%s",
                 rate < 999.5 ? rate : rate / 1e3, rate < 999.5 ? 'G' : 'T', unit);
    if (rate >= 999.5)
        snprintf(text, 32, "%.3g T%s", rate / 1e3, unit);
    return text;
}

/* JSON ------------------------------------------------------------------------------------------*/

json_t *learn_messages_json(const struct learn_verdict *verdict)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < verdict->message_count; i++) {
        const struct learn_message *message = &verdict->message[i];
        json_array_append_new(list, json_pack("{si ss ss*}", "line", (int)message->line, "text",
                                              message->text, "detail", message->detail));
    }
    return list;
}

static json_t *counters_json(const struct learn_verdict *verdict)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < verdict->counter_count; i++) {
        const struct learn_counter *counter = &verdict->counter[i];
        json_array_append_new(list, json_pack("{ss sf sf sb}", "name", counter->name, "value",
                                              counter->value, "most", counter->most, "kept",
                                              counter->kept));
    }
    return list;
}

json_t *learn_gain_json(const struct learn_gain *gain)
{
    char text[32];
    json_t *object = json_pack("{ss sb}", "size", gain->size, "is_given", gain->is_given);
    const struct {
        const char *name;
        double us;
    } rows[] = {{"before", gain->before_us}, {"yours", gain->yours_us}, {"best", gain->best_us}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].us <= 0)
            continue;
        json_t *row =
            json_pack("{sf ss}", "us", rows[i].us, "text", learn_duration(text, rows[i].us));
        json_object_set_new(row, "rate",
                            json_string(learn_rate(text, gain->work, gain->is_flops, rows[i].us)));
        json_object_set_new(object, rows[i].name, row);
    }
    return object;
}

json_t *learn_verdict_json(const struct learn_verdict *verdict)
{
    json_t *object = json_pack(
        "{sb ss ss so si si si so sf sb ss*}", "passed", verdict->stage == LEARN_PASSED, "stage",
        learn_stage_names[verdict->stage], "text", verdict->text, "messages",
        learn_messages_json(verdict), "line", (int)verdict->line, "sizes", (int)verdict->sizes,
        "right", (int)verdict->right, "counters", counters_json(verdict), "time_us",
        verdict->modelled_us, "modelled", 1, "picture", verdict->picture);
    if (verdict->seed)
        json_object_set_new(object, "seed", json_integer((json_int_t)verdict->seed));
    if (verdict->gain.size)
        json_object_set_new(object, "gain", learn_gain_json(&verdict->gain));
    if (verdict->printed)
        json_object_set_new(object, "printed", json_string(verdict->printed));
    if (verdict->gpu_name[0])
        json_object_set_new(object, "gpu_name", json_string(verdict->gpu_name));
    if (verdict->measured_us > 0)
        json_object_set_new(object, "measured_us", json_real(verdict->measured_us));
    return object;
}
