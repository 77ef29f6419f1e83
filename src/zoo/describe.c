/*
 * describe.c: the families in words and as JSON, for 'zoo list' and 'zoo show'; see describe.h.
 */
#include "zoo/describe.h"

#include "host/terminal.h"

#include <string.h>

/* All of them -----------------------------------------------------------------------------------*/

static unsigned count_variants(const struct zoo_family *family)
{
    unsigned count = 0;
    while (family->variants[count].name)
        count++;
    return count;
}

json_t *zoo_families_json(void)
{
    json_t *all = json_array();
    for (size_t i = 0; zoo_families[i]; i++)
        json_array_append_new(all, json_pack("{s:s, s:s, s:i}", "name", zoo_families[i]->name,
                                             "title", zoo_families[i]->title, "variants",
                                             (int)count_variants(zoo_families[i])));
    return all;
}

void zoo_print_families(FILE *out)
{
    for (size_t i = 0; zoo_families[i]; i++)
        fprintf(out, "%s%-22s%s %2u variants  %s\n", host_style(out, HOST_BOLD),
                zoo_families[i]->name, host_style(out, HOST_PLAIN), count_variants(zoo_families[i]),
                zoo_families[i]->title);
}

/* One -------------------------------------------------------------------------------------------*/

static json_t *variant_json(const struct zoo_family *family, const struct zoo_variant *variant)
{
    const struct zoo_source *source = zoo_source(family, variant);
    json_t *tunables = json_object();
    for (unsigned i = 0; source && i < source->tunable_count; i++)
        json_object_set_new(tunables, source->tunables[i].name,
                            json_integer(source->tunables[i].normal));
    json_t *object = json_pack("{s:s, s:s, s:b, s:b, s:o}", "name", variant->name, "technique",
                               variant->technique, "cpu", variant->cpu != NULL, "deterministic",
                               (variant->traits & ZOO_DETERMINISTIC) != 0, "tunables", tunables);
    if (source) {
        json_object_set_new(object, "arch", json_sprintf("sm_%s", source->arch));
        if (variant->borrows)
            json_object_set_new(object, "borrows", json_string(variant->borrows->name));
        json_object_set_new(object, "lines", json_integer(source->lines));
    }
    return object;
}

json_t *zoo_family_json(const struct zoo_family *family)
{
    json_t *variants = json_array();
    for (const struct zoo_variant *each = family->variants; each->name; each++)
        json_array_append_new(variants, variant_json(family, each));
    return json_pack("{s:s, s:s, s:s, s:o}", "name", family->name, "title", family->title,
                     "problem", family->problem, "variants", variants);
}

json_t *zoo_variant_json(const struct zoo_family *family, const struct zoo_variant *variant)
{
    const struct zoo_source *source = zoo_source(family, variant);
    json_t *object = variant_json(family, variant);
    if (source)
        json_object_set_new(object, "source", json_string(source->text));
    return object;
}

/* Text in lines of at most 90 columns. */
static void print_wrapped(FILE *out, const char *text)
{
    while (*text) {
        size_t length = strlen(text);
        if (length > 90)
            for (length = 90; length > 0 && text[length] != ' ';)
                length--;
        fprintf(out, "%.*s\n", (int)length, text);
        text += length + (text[length] == ' ');
    }
}

static void print_variant(FILE *out, const struct zoo_family *family,
                          const struct zoo_variant *variant)
{
    const struct zoo_source *source = zoo_source(family, variant);
    fprintf(out, "  %s%-20s%s ", host_style(out, HOST_BOLD), variant->name,
            host_style(out, HOST_PLAIN));
    if (source)
        fprintf(out, "sm_%-4s %3u lines  ", source->arch, source->lines);
    else
        fprintf(out, "cpu                ");
    fprintf(out, "%s%s\n", variant->technique,
            variant->traits & ZOO_DETERMINISTIC ? " (deterministic)" : "");
    if (variant->borrows)
        fprintf(out, "%24s%swith kernels of %s%s\n", "", host_style(out, HOST_DIM),
                variant->borrows->name, host_style(out, HOST_PLAIN));
    for (unsigned i = 0; source && i < source->tunable_count; i++) {
        const struct zoo_tunable *tunable = &source->tunables[i];
        fprintf(out, "%24s%s%s = %d, of", "", host_style(out, HOST_DIM), tunable->name,
                tunable->normal);
        for (unsigned k = 0; k < tunable->choice_count; k++)
            fprintf(out, " %d", tunable->choices[k]);
        fprintf(out, "%s\n", host_style(out, HOST_PLAIN));
    }
}

void zoo_print_family(FILE *out, const struct zoo_family *family)
{
    fprintf(out, "%s%s%s: %s\n\n", host_style(out, HOST_BOLD), family->name,
            host_style(out, HOST_PLAIN), family->title);
    print_wrapped(out, family->problem);
    fprintf(out, "\nparameters:\n");
    for (const struct zoo_parameter *parameter = family->parameters; parameter->name; parameter++)
        fprintf(out, "  %-12s %s\n", parameter->name, parameter->help);
    fprintf(out, "  %-12s", "dist");
    for (size_t i = 0; family->distributions[i]; i++)
        fprintf(out, " %s", family->distributions[i]);
    fprintf(out, "\n\nvariants:\n");
    for (const struct zoo_variant *each = family->variants; each->name; each++)
        print_variant(out, family, each);
    fprintf(out, "\npeers:\n");
    for (const struct zoo_peer *peer = family->peers; peer->name; peer++)
        fprintf(out, "  %-12s %s\n", peer->name, peer->call);
}
