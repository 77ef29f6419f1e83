/*
 * maps.c: writes the tensor maps of an exported program; see host.h. kernels/host/export_maps.inc
 * has make_map, which it calls.
 */
#include "export/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *type_name(CUtensorMapDataType type)
{
    static const char *const names[] = {
        "UINT8",        "UINT16",       "UINT32",        "INT32",        "UINT64",      "INT64",
        "FLOAT16",      "FLOAT32",      "FLOAT64",       "BFLOAT16",     "FLOAT32_FTZ", "TFLOAT32",
        "TFLOAT32_FTZ", "16U4_ALIGN8B", "16U4_ALIGN16B", "16U6_ALIGN16B"};
    return names[type];
}

static const char *swizzle_name(CUtensorMapSwizzle swizzle)
{
    static const char *const names[] = {
        "NONE", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B"};
    return names[swizzle];
}

static const char *promotion_name(CUtensorMapL2promotion promotion)
{
    static const char *const names[] = {"NONE", "L2_64B", "L2_128B", "L2_256B"};
    return names[promotion];
}

static const char *fill_name(CUtensorMapFloatOOBfill fill)
{
    return fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ? "NONE" : "NAN_REQUEST_ZERO_FMA";
}

bool export_has_maps(const struct export_host *host)
{
    const struct export_recording *base = &host->formulas->samples.base;
    for (unsigned i = 0; i < base->step_count; i++)
        if (base->step[i].kind == EXPORT_MAP)
            return true;
    return false;
}

void export_map_name(const struct export_host *host, unsigned index, char name[80])
{
    const struct export_step *steps = host->formulas->samples.base.step;
    int buffer = steps[index].buffer;
    unsigned before = 0;
    for (unsigned i = 0; i < index; i++)
        before += steps[i].kind == EXPORT_MAP && steps[i].buffer == buffer;
    snprintf(name, 80, before ? "%s_map_%u" : "%s_map",
             buffer == EXPORT_WORKSPACE ? "workspace" : host->buffer[buffer].name, before + 1);
}

/* "{k, m}" */
static void add_list(const struct export_host *host, unsigned first, unsigned count,
                     struct lk_buf *text)
{
    lk_buf_printf(text, ", {");
    for (unsigned i = 0; i < count; i++) {
        lk_buf_printf(text, i ? ", " : "");
        export_slot(host, first + i, text);
    }
    lk_buf_printf(text, "}");
}

static void add_map(const struct export_host *host, unsigned index, struct lk_buf *text)
{
    const struct export_step *step = &host->formulas->samples.base.step[index];
    const struct export_map *map = &step->map;
    char name[80], *offset = export_slot_text(host, step->first);
    struct lk_buf statement = {0};
    export_map_name(host, index, name);
    lk_buf_printf(&statement, "const tensor_map %s = make_map(CU_TENSOR_MAP_DATA_TYPE_%s, ", name,
                  type_name(map->type));
    bool workspace = step->buffer == EXPORT_WORKSPACE, some = strcmp(offset, "0") != 0;
    lk_buf_printf(&statement, "%s%s%s%s%s", some && !workspace ? "(char *)" : "",
                  workspace ? "" : "d_", workspace ? "workspace" : host->buffer[step->buffer].name,
                  some ? " + " : "", some ? offset : "");
    add_list(host, step->first + 1, map->rank, &statement);
    add_list(host, step->first + 1 + map->rank, map->rank - 1, &statement);
    add_list(host, step->first + 2 * map->rank, map->rank, &statement);
    lk_buf_printf(&statement,
                  ", CU_TENSOR_MAP_SWIZZLE_%s, CU_TENSOR_MAP_L2_PROMOTION_%s, "
                  "CU_TENSOR_MAP_FLOAT_OOB_FILL_%s);",
                  swizzle_name(map->swizzle), promotion_name(map->promotion), fill_name(map->fill));
    export_statement(text, 4, &statement);
    lk_buf_free(&statement);
    free(offset);
}

void export_maps(const struct export_host *host, struct lk_buf *text)
{
    const struct export_recording *base = &host->formulas->samples.base;
    for (unsigned i = 0; i < base->step_count; i++)
        if (base->step[i].kind == EXPORT_MAP)
            add_map(host, i, text);
}
