/*
 * zoo.c: lockstep zoo: lists the kernel families, shows one, and runs their variants against the
 * reference. 'profile' and 'check' of a family start 'zoo run' with watchers on.
 */
#include "base/buf.h"
#include "cli/cli.h"
#include "cli/families.h"
#include "cli/zoo_export.h"
#include "zoo/instance.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: lockstep zoo list [--json]\n"
    "       lockstep zoo show FAMILY[/VARIANT] [--json]\n"
    "       lockstep zoo test [FAMILY[/VARIANT] ...] [PARAMETER=VALUE ...] [options]\n"
    "       lockstep zoo run FAMILY[/VARIANT] [PARAMETER=VALUE ...] [options]\n"
    "       lockstep zoo export FAMILY/VARIANT [PARAMETER=VALUE ...] [-o FILE [--force]]\n"
    "\n"
    "The kernel library: families of problems, each with variants from naive to the limit.\n"
    "  list   the families, a line each\n"
    "  show   a family's parameters and variants; of a variant, its source\n"
    "  test   runs variants on their edge problems and compares with the reference\n"
    "  run    one problem of each variant named, compared with the reference\n"
    "  export a variant as one CUDA file that nvcc compiles by itself: the kernel, and a main that\n"
    "         checks and times it; to stdout, or to FILE\n"
    "\n"
    "  --gpu GPU        sim:h200 .., cuda:0, or cpu for the variants that run there\n"
    "  --ptx FOLDER     kernels from FOLDER/FAMILY/VARIANT.ptx, not the built-in ones\n"
    "  --repeat N       each problem N times; what claims to be deterministic must give the same\n"
    "                   bits each time\n"
    "  --every K        of the edge problems of each variant the last and every Kth before it\n"
    "  --launches N     instead: one small problem N times, or each one that is named; then as "
    "much\n"
    "                   of the GPU's memory must be free as before\n"
    "  --shift N        buffers begin N, 2N, 3N .. elements from where memory is aligned\n"
    "  --verbose        a line for each problem\n"
    "  --json           the same for programs\n"
    "  -o FILE          export: the file to write; --force overwrites one that exists\n"
    "\n"
    "Numbers may end in K, M or G (powers of 1024); commas make several problems.\n"
    "The exit status is 1 if a result was wrong.\n"
    "\n"
    "examples:\n"
    "  lockstep zoo list\n"
    "  lockstep zoo show reduction/warp_shuffle\n"
    "  lockstep zoo test reduction n=0,1,33,1M type=f32,i32\n"
    "  lockstep zoo run reduction/vectorised n=1000 dist=special --gpu sim:t4\n"
    "  lockstep zoo export scan/look_back n=16M -o look_back.cu && nvcc look_back.cu && ./a.out\n";

/* list ------------------------------------------------------------------------------------------*/

static unsigned count_variants(const struct zoo_family *family)
{
    unsigned count = 0;
    while (family->variants[count].name)
        count++;
    return count;
}

static int list(bool json)
{
    json_t *all = json_array();
    for (size_t i = 0; zoo_families[i]; i++) {
        const struct zoo_family *family = zoo_families[i];
        unsigned variants = count_variants(family);
        if (json)
            json_array_append_new(all, json_pack("{s:s, s:s, s:i}", "name", family->name, "title",
                                                 family->title, "variants", (int)variants));
        else
            printf("%s%-22s%s %2u variants  %s\n", host_style(stdout, HOST_BOLD), family->name,
                   host_style(stdout, HOST_PLAIN), variants, family->title);
    }
    if (json) {
        json_dumpf(all, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    json_decref(all);
    return CLI_OK;
}

/* show ------------------------------------------------------------------------------------------*/

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
        json_object_set_new(object, "lines", json_integer(source->lines));
    }
    return object;
}

static int show_json(const struct zoo_family *family, const struct zoo_variant *variant)
{
    json_t *object;
    if (variant) {
        const struct zoo_source *source = zoo_source(family, variant);
        object = variant_json(family, variant);
        if (source)
            json_object_set_new(object, "source", json_string(source->text));
    } else {
        json_t *variants = json_array();
        for (const struct zoo_variant *each = family->variants; each->name; each++)
            json_array_append_new(variants, variant_json(family, each));
        object = json_pack("{s:s, s:s, s:s, s:o}", "name", family->name, "title", family->title,
                           "problem", family->problem, "variants", variants);
    }
    json_dumpf(object, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(object);
    return CLI_OK;
}

/* Text in lines of at most 90 columns. */
static void print_wrapped(const char *text)
{
    while (*text) {
        size_t length = strlen(text);
        if (length > 90)
            for (length = 90; length > 0 && text[length] != ' ';)
                length--;
        printf("%.*s\n", (int)length, text);
        text += length + (text[length] == ' ');
    }
}

static void show_variant_line(const struct zoo_family *family, const struct zoo_variant *variant)
{
    const struct zoo_source *source = zoo_source(family, variant);
    printf("  %s%-20s%s ", host_style(stdout, HOST_BOLD), variant->name,
           host_style(stdout, HOST_PLAIN));
    if (source)
        printf("sm_%-4s %3u lines  ", source->arch, source->lines);
    else
        printf("cpu                ");
    printf("%s%s\n", variant->technique,
           variant->traits & ZOO_DETERMINISTIC ? " (deterministic)" : "");
    for (unsigned i = 0; source && i < source->tunable_count; i++) {
        const struct zoo_tunable *tunable = &source->tunables[i];
        printf("%24s%s%s = %d, of", "", host_style(stdout, HOST_DIM), tunable->name, tunable->normal);
        for (unsigned k = 0; k < tunable->choice_count; k++)
            printf(" %d", tunable->choices[k]);
        printf("%s\n", host_style(stdout, HOST_PLAIN));
    }
}

static int show(const char *name, bool json)
{
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    if (!families_find(name, &family, &variant))
        return CLI_USAGE;
    if (json)
        return show_json(family, variant);
    if (variant && zoo_source(family, variant)) {
        fputs(zoo_source(family, variant)->text, stdout);
        return CLI_OK;
    }
    printf("%s%s%s: %s\n\n", host_style(stdout, HOST_BOLD), family->name,
           host_style(stdout, HOST_PLAIN), family->title);
    print_wrapped(family->problem);
    printf("\nparameters:\n");
    for (const struct zoo_parameter *parameter = family->parameters; parameter->name; parameter++)
        printf("  %-12s %s\n", parameter->name, parameter->help);
    printf("  %-12s", "dist");
    for (size_t i = 0; family->distributions[i]; i++)
        printf(" %s", family->distributions[i]);
    printf("\n\nvariants:\n");
    for (const struct zoo_variant *each = family->variants; each->name; each++)
        show_variant_line(family, each);
    printf("\npeers:\n");
    for (const struct zoo_peer *peer = family->peers; peer->name; peer++)
        printf("  %-12s %s\n", peer->name, peer->call);
    return CLI_OK;
}

/* test and run ----------------------------------------------------------------------------------*/

static int report(const struct families_result *results, size_t count, bool json)
{
    size_t failed = 0, skipped = 0;
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct families_result *result = &results[i];
        failed += result->failed > 0;
        skipped += result->problems == 0 && result->failed == 0;
        if (json)
            json_array_append_new(
                all, json_pack("{s:s, s:s, s:i, s:i, s:s*}", "family", result->family->name,
                               "variant", result->variant->name, "problems", (int)result->problems,
                               "failed", (int)result->failed, "message", result->message));
    }
    if (json) {
        json_dumpf(all, stdout, JSON_INDENT(2));
        putchar('\n');
    } else {
        printf("%zu variants right, %zu wrong", count - failed - skipped, failed);
        printf(skipped ? ", %zu took none of the problems\n" : "\n", skipped);
    }
    json_decref(all);
    return failed ? CLI_FINDINGS : CLI_OK;
}

static int run(int count, char **words)
{
    struct families_request request = {0};
    struct zoo_export_options export = {0};
    bool json = false;
    const char *verb = count > 0 ? words[0] : "list";
    int status = CLI_USAGE;
    for (int at = 1; at < count;) {
        bool bad = false;
        if (cli_flag(words, &at, "--json"))
            json = true;
        else if (cli_flag(words, &at, "--force"))
            export.force = true;
        else if (cli_option(count, words, &at, "-o", &export.file))
            bad = !export.file;
        else
            families_option(&request, count, words, &at, &bad);
        if (bad)
            goto out;
    }
    request.quiet = json;
    if (strcmp(verb, "list") == 0) {
        status = list(json);
    } else if (strcmp(verb, "show") == 0) {
        if (request.names.count == 1)
            status = show(request.names.items[0], json);
        else
            host_error("zoo show: which family? as in 'lockstep zoo show reduction'");
    } else if (strcmp(verb, "test") == 0 || strcmp(verb, "run") == 0) {
        request.edges = verb[0] == 't';
        struct families_result *results = NULL;
        size_t done = 0;
        if (families_run(&request, &results, &done))
            status = report(results, done, json);
        families_free(results, done);
    } else if (strcmp(verb, "export") == 0) {
        status = zoo_export(&request, &export);
    } else {
        host_error("zoo: there is no '%s'; it is list, show, test, run or export", verb);
    }
out:
    families_request_free(&request);
    return status;
}

const struct cli_command cli_zoo = {"zoo", "the kernel library: list, show, test, export", help, run};
