/*
 * host.c: writes main's parts; see host.h.
 */
#include "export/host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 100 };

/* Past what stays on one line: to the next comma, or, where that is too far, to an operator. */
static const char *past_piece(const char *at, int room)
{
    const char *comma = strstr(at, ", "), *end = comma ? comma + 1 : at + strlen(at), *sign = NULL;
    for (const char *c = at; c < end && c < at + room; c++)
        if (strchr("+*=", c[0]) && c[1] == ' ')
            sign = c + 1;
    return end - at > room && sign ? sign : end;
}

void export_statement(struct lk_buf *text, int indent, const struct lk_buf *statement)
{
    int column = indent;
    lk_buf_printf(text, "%*s", indent, "");
    for (const char *at = statement->data, *next; *at; at = next + (*next == ' ')) {
        next = past_piece(at, COLUMNS - indent - 4);
        int length = (int)(next - at);
        if (column + length >= COLUMNS && column > indent + 4) {
            lk_buf_printf(text, "\n%*s", indent + 4, "");
            column = indent + 4;
        } else if (at > statement->data) {
            lk_buf_printf(text, " ");
            column++;
        }
        lk_buf_add(text, at, (size_t)length);
        column += length;
    }
    lk_buf_printf(text, "\n");
}

void export_printf(struct lk_buf *text, int indent, const char *format, ...)
{
    struct lk_buf statement = {0};
    va_list arguments;
    va_start(arguments, format);
    lk_buf_vprintf(&statement, format, arguments);
    va_end(arguments);
    export_statement(text, indent, &statement);
    lk_buf_free(&statement);
}

/* Numbers ---------------------------------------------------------------------------------------*/

void export_slot(const struct export_host *host, unsigned slot, struct lk_buf *text)
{
    const struct export_formulas *formulas = host->formulas;
    const struct export_expression *expression = &formulas->expression[slot];
    const struct export_fit *fit = &formulas->samples.fit;
    int name = expression->form <= EXPORT_SUM ? -1 : export_name_of(fit, expression);
    if (name >= 0)
        lk_buf_printf(text, "%s", fit->atom[name].name);
    else
        export_print(fit, expression, text);
}

void export_float(const struct export_host *host, double value, const char *name,
                  struct lk_buf *text)
{
    const struct export_constant *found = NULL;
    bool named = false, several = false;
    for (unsigned i = 0; i < host->pieces->constant_count && !named; i++) {
        const struct export_constant *constant = &host->pieces->constant[i];
        if (constant->whole || (float)constant->value != (float)value)
            continue;
        named = strcmp(constant->name, name) == 0;
        several = found && *name;
        if (!several || named)
            found = constant;
    }
    /* 0 and 1 match too much by chance. */
    bool telling = !*name || (value != 0 && fabs(value) != 1);
    if (found && (named || (!several && telling)))
        lk_buf_printf(text, "%s", found->name);
    else
        export_number(text, value, true);
}

/* Malloc'd. */
char *export_slot_text(const struct export_host *host, unsigned slot)
{
    struct lk_buf text = {0};
    export_slot(host, slot, &text);
    return text.data;
}

/* "n * sizeof(float)" */
static char *bytes_text(const struct export_host *host, unsigned buffer)
{
    char *count = export_slot_text(host, host->formulas->samples.buffers + buffer), *text;
    const char *type = export_c_type(host->buffer[buffer].type);
    if (strcmp(count, "1") == 0)
        text = lk_format("sizeof(%s)", type);
    else
        text =
            lk_format(strpbrk(count, "+-/") ? "(%s) * sizeof(%s)" : "%s * sizeof(%s)", count, type);
    free(count);
    return text;
}

/* Memory ----------------------------------------------------------------------------------------*/

static bool is_output(const struct zoo_buffer *buffer)
{
    return buffer->role != ZOO_IN;
}

/* The host's copy of what the kernel wrote; what it also reads keeps its own. */
static const char *result_ending(const struct zoo_buffer *buffer)
{
    return buffer->role == ZOO_IN_OUT ? "_after" : "";
}

/* Inputs that the problem does without; the program has a pointer, and no memory. */
static bool is_empty(const struct zoo_buffer *buffer)
{
    return buffer->role == ZOO_IN && buffer->count == 0;
}

/* Does a launch get the buffer? */
static bool is_passed(const struct export_host *host, int buffer)
{
    const struct export_recording *base = &host->formulas->samples.base;
    for (unsigned i = 0; i < base->step_count; i++) {
        const struct export_step *step = &base->step[i];
        if ((step->kind == EXPORT_CLEAR || step->kind == EXPORT_MAP) && step->buffer == buffer)
            return true;
        for (unsigned k = 0; k < step->argument_count; k++)
            if (step->target[k] == buffer)
                return true;
    }
    return false;
}

static void add_host_memory(const struct export_host *host, struct lk_buf *text)
{
    struct lk_buf fill = {0};
    for (unsigned i = 0; i < host->buffer_count; i++) {
        const struct zoo_buffer *buffer = &host->buffer[i];
        const char *type = export_c_type(buffer->type);
        char *bytes = bytes_text(host, i);
        if (is_empty(buffer))
            export_printf(text, 4, "%s *%s = NULL; // not part of this problem", type,
                          buffer->name);
        else if (buffer->role != ZOO_OUT)
            export_printf(text, 4, "%s *%s = (%s *)malloc(%s);", type, buffer->name, type, bytes);
        if (is_output(buffer))
            export_printf(text, 4, "%s *%s%s = (%s *)malloc(%s);", type, buffer->name,
                          result_ending(buffer), type, bytes);
        if (buffer->role != ZOO_OUT)
            lk_buf_printf(&fill, "%s%s", fill.size ? ", " : "", buffer->name);
        free(bytes);
    }
    export_printf(text, 4, "fill_inputs(%s);", fill.data);
    lk_buf_free(&fill);
}

void export_buffers(const struct export_host *host, struct lk_buf *text)
{
    add_host_memory(host, text);
    lk_buf_printf(text, "\n");
    for (unsigned i = 0; i < host->buffer_count; i++)
        if (!is_empty(&host->buffer[i]) || is_passed(host, (int)i))
            export_printf(text, 4, "%s *d_%s%s;", export_c_type(host->buffer[i].type),
                          host->buffer[i].name, is_empty(&host->buffer[i]) ? " = NULL" : "");
    for (unsigned i = 0; i < host->buffer_count; i++) {
        if (is_empty(&host->buffer[i]))
            continue;
        char *bytes = bytes_text(host, i);
        export_printf(text, 4, "CHECK(cudaMalloc(&d_%s, %s));", host->buffer[i].name, bytes);
        free(bytes);
    }
    bool poisoned = false;
    for (unsigned i = 0; i < host->buffer_count; i++) {
        const struct zoo_buffer *buffer = &host->buffer[i];
        if (is_empty(buffer))
            continue;
        char *bytes = bytes_text(host, i);
        if (buffer->role != ZOO_OUT)
            export_printf(text, 4, "CHECK(cudaMemcpy(d_%s, %s, %s, cudaMemcpyHostToDevice));",
                          buffer->name, buffer->name, bytes);
        else
            export_printf(text, 4, "CHECK(cudaMemset(d_%s, 0xff, %s));%s", buffer->name, bytes,
                          poisoned ? "" : " // shows what is never written");
        poisoned |= buffer->role == ZOO_OUT;
        free(bytes);
    }
}

void export_results(const struct export_host *host, struct lk_buf *text)
{
    struct lk_buf arguments = {0};
    for (unsigned i = 0; i < host->buffer_count; i++) {
        const struct zoo_buffer *buffer = &host->buffer[i];
        char *bytes = bytes_text(host, i);
        if (is_output(buffer))
            export_printf(text, 12, "CHECK(cudaMemcpy(%s%s, d_%s, %s, cudaMemcpyDeviceToHost));",
                          buffer->name, result_ending(buffer), buffer->name, bytes);
        lk_buf_printf(&arguments, "%s%s", arguments.size ? ", " : "", buffer->name);
        if (buffer->role == ZOO_IN_OUT)
            lk_buf_printf(&arguments, ", %s_after", buffer->name);
        free(bytes);
    }
    export_printf(text, 12, "if (!check_results(%s))", arguments.data);
    lk_buf_printf(text, "                return 1;\n");
    lk_buf_free(&arguments);
}

void export_release(const struct export_host *host, struct lk_buf *text)
{
    for (unsigned i = 0; i < host->buffer_count; i++) {
        const struct zoo_buffer *buffer = &host->buffer[i];
        if (is_empty(buffer))
            continue;
        export_printf(text, 4, "CHECK(cudaFree(d_%s));", buffer->name);
        export_printf(text, 4, "free(%s);", buffer->name);
        if (buffer->role == ZOO_IN_OUT)
            export_printf(text, 4, "free(%s_after);", buffer->name);
    }
    if (host->formulas->samples.base.workspace_bytes)
        export_printf(text, 4, "CHECK(cudaFree(workspace));");
}
