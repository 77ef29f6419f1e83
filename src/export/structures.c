/*
 * structures.c: writes structures of arguments, field by field; see host.h. Fields that are zero
 * are left as they are.
 */
#include "export/host.h"

#include <stdlib.h>
#include <string.h>

/* What is assigned; malloc'd. "0": nothing is. */
static char *value_of(const struct export_host *host, const struct export_step *step,
                      unsigned field, const char *called)
{
    int target = step->target[field];
    unsigned slot = step->first + EXPORT_FIRST_ARGUMENT + field;
    char *number = export_slot_text(host, slot), *text = NULL;
    if (target == EXPORT_MAPPED) {
        char name[80];
        export_map_name(host, (unsigned)host->formulas->samples.base.number[slot], name);
        text = strdup(name);
    } else if (target == EXPORT_FLOAT) {
        struct lk_buf real = {0};
        export_float(host, step->real[field], called, &real);
        text = strcmp(real.data, "0.0f") == 0 ? strdup("0") : strdup(real.data);
        lk_buf_free(&real);
    } else if (target >= 0) {
        const char *name = target == EXPORT_WORKSPACE ? "workspace" : host->buffer[target].name;
        const char *device = target == EXPORT_WORKSPACE ? "" : "d_";
        text = strcmp(number, "0") == 0 ? lk_format("%s%s", device, name)
                                        : lk_format("(char *)%s%s + %s", device, name, number);
    }
    if (!text)
        return number;
    free(number);
    return text;
}

void export_structures(const struct export_host *host, struct lk_buf *text)
{
    const struct export_recording *base = &host->formulas->samples.base;
    for (unsigned i = 0; i < base->step_count; i++) {
        const struct export_step *step = &base->step[i];
        struct export_fields fields;
        char name[96];
        if (!step->packed || !export_read_fields(host->source, step->kernel, &fields))
            continue;
        export_step_name(host, i, "arguments", name);
        export_printf(text, 4, "%s %s = {};", fields.type, name);
        for (unsigned k = 0; k < fields.count; k++) {
            char *value = value_of(host, step, k, fields.field[k].name);
            if (strcmp(value, "0") != 0)
                export_printf(text, 4, "%s.%s = %s;", name, fields.field[k].name, value);
            free(value);
        }
    }
}
