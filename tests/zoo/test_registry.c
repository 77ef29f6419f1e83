/*
 * test_registry.c: every family declares all that it must, and kernels/ and the tables of variants
 * name the same files. Runs in the repository's root.
 */
#include "base/buf.h"
#include "zoo/api.h"
#include "zoo/device.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every family and variant is looked at before the test ends: each prints what it lacks. */
static unsigned missing;
static void need(bool fine, const char *family, const char *what, const char *detail)
{
    if (fine)
        return;
    missing++;
    fprintf(stderr, "%s: %s %s\n", family, what, detail ? detail : "");
}

static bool readable(const char *format, const char *family, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, format, family, name);
    return access(path, R_OK) == 0;
}

static char *read_text(const char *path)
{
    struct lk_buf text = {0};
    char part[4096];
    FILE *file = fopen(path, "r");
    for (size_t size; file && (size = fread(part, 1, sizeof part, file));)
        lk_buf_add(&text, part, size);
    if (file)
        fclose(file);
    return text.data ? text.data : strdup("");
}

static void problems_parse(const struct zoo_family *family, const char *const *texts,
                           const char *what)
{
    char *message = NULL;
    size_t count = 0;
    need(texts && texts[0], family->name, "has no", what);
    if (!texts)
        return;
    struct zoo_problem *problems = zoo_problem_list(family, texts, &count, &message);
    need(problems != NULL, family->name, what, message);
    free(problems);
    free(message);
}

/* What is smallest of each parameter that is a size is among the edges. */
static void edges_reach_the_least(const struct zoo_family *family)
{
    char *message;
    size_t count;
    struct zoo_problem *problems = zoo_problem_list(family, family->edges, &count, &message);
    for (size_t i = 0; problems && family->parameters[i].name; i++) {
        bool found = family->parameters[i].words || family->parameters[i].scalar;
        for (size_t k = 0; k < count; k++)
            found = found || problems[k].value[i] == family->parameters[i].least;
        need(found, family->name, "has no edge problem with the least", family->parameters[i].name);
    }
    free(problems);
}

static void families_are_complete(void **state)
{
    missing = 0;
    for (size_t i = 0; zoo_families[i]; i++) {
        const struct zoo_family *family = zoo_families[i];
        const char *name = family->name;
        need(family->title && *family->title, name, "has no title", NULL);
        need(family->problem && *family->problem, name, "has no problem", NULL);
        need(family->parameters[0].name != NULL, name, "has no parameters", NULL);
        for (size_t k = 0; family->parameters[k].name; k++) {
            const struct zoo_parameter *parameter = &family->parameters[k];
            need(parameter->help && *parameter->help, name, "says nothing of", parameter->name);
            double normal = parameter->scalar ? (double)zoo_as_float(parameter->normal)
                                              : (double)parameter->normal;
            need((double)parameter->least <= normal && normal <= (double)parameter->most, name,
                 "has a normal value out of range:", parameter->name);
        }
        need(family->distributions && family->distributions[0], name, "has no distributions", NULL);
        problems_parse(family, family->edges, "edges");
        problems_parse(family, family->bench, "bench");
        need(family->profile != NULL, name, "has no profile problem", NULL);
        problems_parse(family, (const char *const[]){family->profile, NULL}, "profile");
        edges_reach_the_least(family);
        need(family->shape && family->generate && family->reference, name,
             "has no shape, generator or reference", NULL);
        need(family->bytes && family->flops, name, "does not say its bytes and FLOPs", NULL);
        need(family->variants && family->variants[0].name, name, "has no variants", NULL);
        need(family->peers && family->peers[0].name, name, "has no peers", NULL);
    }
    assert_int_equal(missing, 0);
}

static bool is_choice(const struct zoo_tunable *tunable)
{
    for (unsigned i = 0; i < tunable->choice_count; i++)
        if (tunable->choices[i] == tunable->normal)
            return true;
    return false;
}

static void check_source(const struct zoo_family *family, const struct zoo_variant *variant)
{
    const struct zoo_source *source = zoo_source(family, variant);
    need(source != NULL, family->name, "has no embedded source of", variant->name);
    if (!source)
        return;
    need(strncmp(source->text, "/*\n * ", 6) == 0, variant->name, "does not open with a comment",
         NULL);
    need(strstr(source->text, "// arch: sm_") != NULL, variant->name, "names no arch", NULL);
    char *message = NULL, *ptx = zoo_ptx(source, &(size_t){0}, &message);
    need(ptx && strstr(ptx, ".version") != NULL, variant->name, "has no PTX", message);
    free(ptx);
    free(message);
    need(source->lines > 0, variant->name, "has no code", NULL);
    for (unsigned i = 0; i < source->tunable_count; i++)
        need(is_choice(&source->tunables[i]), variant->name,
             "has a normal value that is no choice of", source->tunables[i].name);
}

static void variants_are_complete(void **state)
{
    missing = 0;
    for (size_t i = 0; zoo_families[i]; i++) {
        const struct zoo_family *family = zoo_families[i];
        for (const struct zoo_variant *variant = family->variants; variant->name; variant++) {
            need(variant->technique && *variant->technique, family->name, "no technique of",
                 variant->name);
            need(zoo_find_variant(family, variant->name) == variant, family->name,
                 "has two variants", variant->name);
            need(!variant->launch != !variant->cpu, family->name,
                 "either launch or cpu, and not both:", variant->name);
            if (variant->launch)
                check_source(family, variant);
        }
        for (const struct zoo_peer *peer = family->peers; peer->name; peer++) {
            need(peer->call && *peer->call, family->name,
                 "does not say what it calls:", peer->name);
            if (peer->kind == ZOO_PEER_NVCC)
                need(readable("kernels/%s/host/peer_%s.cu", family->name, peer->name), family->name,
                     "has no source of the peer", peer->name);
            if (peer->kind == ZOO_PEER_LIBRARY)
                need(peer->run != NULL, family->name, "cannot run its peer", peer->name);
        }
    }
    assert_int_equal(missing, 0);
}

/* Is the file in its family's table? form: how its path reads, with the family's name and its own.
 */
static bool is_listed(const char *path, const char *form, bool is_peer)
{
    char family_name[64], file[64], name[160], *message;
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    assert_int_equal(sscanf(path, form, family_name, file), 2);
    snprintf(name, sizeof name, is_peer ? "%s" : "%s/%s", family_name, file);
    if (!zoo_find(name, &family, &variant, &message)) {
        free(message);
        return false;
    }
    for (const struct zoo_peer *peer = is_peer ? family->peers : NULL; peer && peer->name; peer++)
        if (strcmp(peer->name, file) == 0)
            return true;
    return !is_peer;
}

static void every_file_is_in_a_table(void **state)
{
    glob_t found;
    missing = 0;
    assert_int_equal(glob("kernels/*/*.cu", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        need(is_listed(found.gl_pathv[i], "kernels/%63[^/]/%63[^.].cu", false), "kernels",
             "no table has", found.gl_pathv[i]);
    globfree(&found);
    assert_int_equal(glob("kernels/*/host/*.cu", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        need(is_listed(found.gl_pathv[i], "kernels/%63[^/]/host/peer_%63[^.].cu", true), "kernels",
             "no table has", found.gl_pathv[i]);
    globfree(&found);
    assert_int_equal(glob("kernels/*/", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char name[64];
        assert_int_equal(sscanf(found.gl_pathv[i], "kernels/%63[^/]", name), 1);
        bool listed = strcmp(name, "include") == 0 || strcmp(name, "host") == 0;
        for (size_t k = 0; zoo_families[k]; k++)
            listed = listed || strcmp(zoo_families[k]->name, name) == 0;
        need(listed, name, "is not in families.def", NULL);
    }
    globfree(&found);
    assert_int_equal(missing, 0);
}

/* A README names every variant and has a place for the generated tables. */
static void every_family_has_a_readme(void **state)
{
    missing = 0;
    for (size_t i = 0; zoo_families[i]; i++) {
        const struct zoo_family *family = zoo_families[i];
        char path[128];
        snprintf(path, sizeof path, "kernels/%s/README.md", family->name);
        char *text = read_text(path);
        need(*text, family->name, "has no README.md", NULL);
        need(!*text || strstr(text, "<!-- table: made by scripts/family-tables -->"), family->name,
             "README.md has no place for its table", NULL);
        for (const struct zoo_variant *variant = family->variants; *text && variant->name;
             variant++)
            need(strstr(text, variant->name) != NULL, family->name, "README.md does not tell of",
                 variant->name);
        free(text);
    }
    assert_int_equal(missing, 0);
}

/* Each public call: as many pointers as its problem has buffers, sizes that the family knows. */
static void calls_fit_their_families(void **state)
{
    missing = 0;
    for (unsigned i = 0; i < API_CALLS; i++) {
        const struct api_call *call = api_call(i);
        struct zoo_buffer buffers[ZOO_BUFFERS];
        unsigned count = call->problem.family->shape(&call->problem, buffers);
        need(count == call->buffer_count, call->name, "has other buffers than its family", NULL);
        for (unsigned k = 0; k < call->size_count; k++)
            need(!call->problem.family->parameters[call->parameter[k]].scalar, call->name,
                 "has a size that is a scalar", NULL);
        for (unsigned k = 0; k < call->scalar_count; k++)
            need(call->problem.family->parameters[call->parameter[call->size_count + k]].scalar,
                 call->name, "has a scalar that is a size", NULL);
    }
    assert_int_equal(missing, 0);
}

/* "lk_reduce_sum_f32" is in docs/api.md as it is, or with words in capitals for its parts. */
static bool is_documented(const char *docs, const char *name)
{
    char part[5][32], pattern[160];
    int parts = sscanf(name, "%31[^_]_%31[^_]_%31[^_]_%31[^_]_%31[^_]", part[0], part[1], part[2],
                       part[3], part[4]);
    snprintf(pattern, sizeof pattern, "lk_%s(", name);
    if (strstr(docs, pattern))
        return true;
    static const char *const last_two[] = {"_OP_TYPE(", "_KIND_TYPE("};
    snprintf(pattern, sizeof pattern, "lk_%s_TYPE(", part[0]);
    bool found = parts == 2 && strstr(docs, pattern);
    for (int i = 0; i < 2; i++) {
        snprintf(pattern, sizeof pattern, "lk_%s%s", part[0], last_two[i]);
        found = found || (parts == 3 && strstr(docs, pattern));
    }
    return found;
}

static void every_call_is_documented(void **state)
{
    char *docs = read_text("docs/api.md");
    missing = 0;
    for (unsigned i = 0; i < API_CALLS; i++)
        need(is_documented(docs, api_call(i)->name), "docs/api.md", "lacks", api_call(i)->name);
    free(docs);
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_are_complete),    cmocka_unit_test(variants_are_complete),
        cmocka_unit_test(every_file_is_in_a_table), cmocka_unit_test(every_family_has_a_readme),
        cmocka_unit_test(calls_fit_their_families), cmocka_unit_test(every_call_is_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
