/*
 * test_table.c: tables of choices: conditions, the nearest row, what is ignored in a bad file, and
 * the embedded tables. The GPU is made up: nothing here runs.
 */
#include "zoo/embedded.h"
#include "zoo/table.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct zoo_family zoo_reduction;

static const struct lk_driver real = {.gpu = "cuda:0"}, simulated = {.simulated = true};
static const struct zoo_device h200 = {.cuda = &real, .name = "NVIDIA H200", .arch = 90},
                               model = {.cuda = &simulated, .name = "NVIDIA H200", .arch = 90},
                               a100 = {.cuda = &real, .name = "NVIDIA A100", .arch = 80},
                               old = {.cuda = &real, .name = "Tesla V100", .arch = 70};

static struct zoo_problem problem_of(const char *text)
{
    char *message;
    size_t count;
    struct zoo_problem *problems = zoo_problems(&zoo_reduction, text, &count, &message);
    assert_non_null(problems);
    struct zoo_problem problem = *problems;
    free(problems);
    return problem;
}

static bool fits(const char *where, const char *problem)
{
    struct zoo_row row = {.family = &zoo_reduction, .measured = ""};
    struct lk_buf wrong = {0};
    struct zoo_problem wanted = problem_of(problem);
    assert_true(zoo_parse_where(&row, where, &wrong));
    return zoo_row_distance(&row, &wanted) >= 0;
}

static void conditions(void **state)
{
    assert_true(fits("", "n=5"));
    assert_true(fits("op=sum", "op=sum"));
    assert_false(fits("op=sum", "op=max"));
    assert_true(fits("op=sum,max type=f64", "op=max type=f64"));
    assert_false(fits("op=sum,max type=f64", "op=max type=f32"));
    assert_true(fits("n=..1K", "n=1024"));
    assert_false(fits("n=..1K", "n=1025"));
    assert_true(fits("n=1K..", "n=1K"));
    assert_false(fits("n=1K..2K", "n=2049"));
    assert_true(fits("n=7", "n=7"));
    assert_false(fits("n=7", "n=8"));
    assert_true(fits("bytes=..4K", "n=1023"));
    assert_false(fits("bytes=..4K", "n=1023 type=f64"));
    static const char *const bad[] = {
        "op",     "op=mean",   "m=3",      "n=..x",   "n=2..1",
        "n=..-1", "op=sum,",   "n=",       "=3",      "bytes",
        "bytes=", "n=1..2..3", "byte=..3", "op=,sum", "n=1 n=2 n=3 n=4 n=5 n=6 n=7 n=8 n=9"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct zoo_row row = {.family = &zoo_reduction};
        struct lk_buf wrong = {0};
        if (zoo_parse_where(&row, bad[i], &wrong))
            fail_msg("'%s' was taken", bad[i]);
        assert_non_null(strstr(wrong.data, "is not a condition of reduction"));
        lk_buf_free(&wrong);
    }
}

/* rows as JSON for a GPU, and the variant that a problem gets. */
static const char *chosen(const char *head, const char *rows, const struct zoo_device *device,
                          const char *text, bool deterministic)
{
    struct zoo_table table = {0};
    struct zoo_choice choice;
    struct lk_buf json = {0};
    struct zoo_problem problem = problem_of(text);
    lk_buf_printf(&json,
                  "{\"format\": \"lockstep tuned 1\", \"tables\": [{\"family\": \"reduction\", %s, "
                  "\"rows\": [%s]}]}",
                  head, rows);
    zoo_table_add(&table, device, ZOO_THIS_GPU, json.data, json.size, "test.json", NULL);
    zoo_table_add(&table, device, ZOO_OTHER_GPUS, json.data, json.size, "test.json", NULL);
    if (table.remarks.size)
        fail_msg("%s", table.remarks.data);
    struct zoo_demand demand = {.deterministic = deterministic};
    bool found = zoo_choose(&table, device, &problem, demand, &choice);
    const char *name = found ? choice.variant->name : "none";
    zoo_table_free(&table);
    lk_buf_free(&json);
    return name;
}

#define ROW(where, problem, variant)                                                               \
    "{\"where\": \"" where "\", \"problem\": \"" problem "\", \"variant\": \"" variant "\"}"

static void the_nearest_row(void **state)
{
    static const char measured[] = "\"gpu\": \"NVIDIA H200\", \"time\": \"measured\"";
    static const char modelled[] = "\"gpu\": \"NVIDIA H200\", \"time\": \"modelled\"";
    static const char rows[] = ROW("op=sum", "n=1K", "shared_tree") "," ROW(
        "op=sum", "n=64K", "warp_shuffle") "," ROW("op=sum", "n=1M", "block_atomics");
    assert_string_equal(chosen(measured, rows, &h200, "n=1K", false), "shared_tree");
    assert_string_equal(chosen(measured, rows, &h200, "n=4K", false), "shared_tree");
    assert_string_equal(chosen(measured, rows, &h200, "n=16K", false), "warp_shuffle");
    assert_string_equal(chosen(measured, rows, &h200, "n=300K", false), "block_atomics");
    assert_string_equal(chosen(measured, rows, &h200, "n=16M", false), "block_atomics");
    /* Too far off, another operation, a time that was only modelled: the last variant. */
    assert_string_equal(chosen(measured, rows, &h200, "n=1G", false), "vectorised");
    assert_string_equal(chosen(measured, rows, &h200, "n=1K op=max", false), "generic");
    assert_string_equal(chosen(modelled, rows, &h200, "n=1K", false), "vectorised");
    assert_string_equal(chosen(modelled, rows, &model, "n=1K", false), "shared_tree");
    assert_string_equal(chosen("\"gpu\": \"any\"", rows, &h200, "n=1K", false), "shared_tree");
    /* What was measured on another GPU is better than nothing. */
    assert_string_equal(chosen(measured, rows, &model, "n=1K", false), "shared_tree");
    assert_string_equal(chosen(measured, rows, &a100, "n=1K", false), "shared_tree");
    assert_string_equal(chosen(modelled, rows, &a100, "n=1K", false), "vectorised");
    /* Where the nearest may not be taken, the next one is. */
    assert_string_equal(chosen(measured, rows, &h200, "n=300K", true), "warp_shuffle");
    /* Older than every variant. */
    assert_string_equal(chosen(measured, rows, &old, "n=1K", false), "none");
}

/* Rows without a problem: the first that fits. */
static void ranges(void **state)
{
    static const char any[] = "\"gpu\": \"any\"";
    static const char rows[] =
        ROW("bytes=..4K", "", "warp_shuffle") "," ROW("n=..1M op=sum", "", "block_atomics") "," ROW(
            "n=..1M op=max", "",
            "generic_overlapped") "," ROW("", "", "sequential") "," ROW("", "", "generic");
    assert_string_equal(chosen(any, rows, &h200, "n=100", false), "warp_shuffle");
    assert_string_equal(chosen(any, rows, &h200, "n=10K", false), "block_atomics");
    assert_string_equal(chosen(any, rows, &h200, "n=10K op=max", false), "generic_overlapped");
    assert_string_equal(chosen(any, rows, &h200, "n=1G", false), "sequential");
    assert_string_equal(chosen(any, rows, &h200, "n=1G op=max", false), "generic");
}

/* A bad file: what is ignored is reported, nothing is chosen from it, and nothing breaks. */
static void bad_files(void **state)
{
#define FILE_OF(tables) "{\"format\": \"lockstep tuned 1\", \"tables\": " tables "}"
#define TABLE_OF(rows)                                                                             \
    FILE_OF("[{\"family\": \"reduction\", \"gpu\": \"any\", \"rows\": " rows "}]")
    static const struct {
        const char *text, *words; /* NULL: nothing to say */
    } files[] = {
        {"", "test.json:"},
        {"nonsense", "it is not used"},
        {"{", "it is not used"},
        {"[]", "its format is not"},
        {"{\"format\": 3}", "its format is not"},
        {"{\"format\": \"lockstep tuned 2\"}", "its format is not 'lockstep tuned 1'"},
        {FILE_OF("3"), NULL},
        {FILE_OF("[1, null, []]"), NULL},
        {FILE_OF("[{\"family\": \"redaction\", \"gpu\": \"any\"}]"), "no family 'redaction'"},
        {FILE_OF("[{\"gpu\": \"any\"}]"), "no family ''"},
        {TABLE_OF("{}"), NULL},
        {TABLE_OF("[{}]"), "there is no variant ''"},
        {TABLE_OF("[7]"), "there is no variant ''"},
        {TABLE_OF("[{\"variant\": \"fast\"}]"),
         "row 1 of reduction is ignored: there is no variant"},
        {TABLE_OF("[{\"variant\": \"vectorised\", \"where\": \"x=1\"}]"), "not a condition"},
        {TABLE_OF("[{\"variant\": \"vectorised\", \"problem\": \"n=\"}]"), "is not a number"},
        {TABLE_OF("[{\"variant\": \"vectorised\", \"problem\": \"n=1,2\"}]"), "several"},
        {TABLE_OF("[{\"variant\": \"vectorised\", \"tunables\": {\"X\": 1}}]"), "no tunable 'X'"},
        {TABLE_OF("[{\"variant\": \"vectorised\", \"tunables\": {\"BLOCK\": \"a\"}}]"),
         "no tunable"},
        {TABLE_OF("[{\"variant\": \"vectorised\", \"tunables\": {\"BLOCK\": 64}}]"), "no PTX file"},
        {TABLE_OF("[{\"variant\": \"vectorised\", \"tunables\": {\"BLOCK\": 64}, \"ptx\": "
                  "\"../../etc/passwd\"}]"),
         "no PTX file"},
        {TABLE_OF("[{\"variant\": \"vectorised\", \"tunables\": {\"BLOCK\": 64}, \"ptx\": \"x\"}]"),
         "another version of the source"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct zoo_table table = {0};
        struct zoo_choice choice;
        struct zoo_problem problem = problem_of("n=1K");
        zoo_table_add(&table, &h200, ZOO_THIS_GPU, files[i].text, strlen(files[i].text),
                      "test.json", "/nowhere");
        if (!files[i].words != !table.remarks.size ||
            (files[i].words && !strstr(table.remarks.data, files[i].words)))
            fail_msg("%s: says '%s'", files[i].text, table.remarks.size ? table.remarks.data : "");
        assert_true(zoo_choose(&table, &h200, &problem, (struct zoo_demand){0}, &choice));
        assert_null(choice.row);
        zoo_table_free(&table);
    }
}

/* Whatever lies in the library is right, for whatever GPU. */
static void embedded_tables(void **state)
{
    for (size_t i = 0; i < zoo_embedded_file_count; i++) {
        const struct zoo_embedded_file *file = &zoo_embedded_files[i];
        struct zoo_table table = {0};
        if (!strstr(file->path, "/tuned.json"))
            continue;
        zoo_table_add(&table, &h200, ZOO_THIS_GPU, file->text,
                      (size_t)(file->text_end - file->text), file->path, NULL);
        if (table.remarks.size)
            fail_msg("%s", table.remarks.data);
        zoo_table_free(&table);
    }
}

static void where_the_tables_lie(void **state)
{
    struct lk_buf path = {0};
    setenv("XDG_DATA_HOME", "/data", 1);
    zoo_tuned_file(&h200, &path);
    assert_string_equal(path.data, "/data/lockstep/tuned/nvidia-h200.json");
    lk_buf_free(&path);
    unsetenv("XDG_DATA_HOME");
    setenv("HOME", "/home/me", 1);
    zoo_tuned_file(&model, &path);
    assert_string_equal(path.data, "/home/me/.local/share/lockstep/tuned/sim-nvidia-h200.json");
    lk_buf_free(&path);
    unsetenv("HOME");
    zoo_tuned_file(&model, &path);
    assert_int_equal(path.size, 0);
}

extern const struct zoo_family zoo_transpose;

/* Buffers of a public call may begin anywhere: what takes aligned ones alone is not for it. */
static void aligned_ones_are_asked_for(void **state)
{
    struct zoo_table none = {0};
    struct zoo_choice choice;
    struct zoo_problem problem = zoo_problem_normal(&zoo_transpose);
    assert_true(zoo_choose(&none, &h200, &problem, (struct zoo_demand){0}, &choice));
    assert_false(choice.variant->traits & ZOO_ALIGNED);
    assert_true(
        zoo_choose(&none, &h200, &problem, (struct zoo_demand){.aligned_too = true}, &choice));
    assert_string_equal(choice.variant->name, "tma");
}

extern const struct zoo_family zoo_softmax;

/* What overflows is never chosen, even if a table says that it is the fastest. */
static void for_show_alone(void **state)
{
    const struct zoo_variant *naive = zoo_find_variant(&zoo_softmax, "naive");
    struct zoo_row row = {.family = &zoo_softmax, .variant = naive, .where = "", .measured = ""};
    struct zoo_table table = {.rows = &row, .count = 1};
    struct zoo_problem problem = zoo_problem_normal(&zoo_softmax);
    struct zoo_choice choice;
    assert_true(naive->traits & ZOO_FOR_SHOW);
    assert_true(zoo_takes(naive, &problem));
    assert_true(zoo_choose(&table, &h200, &problem, (struct zoo_demand){0}, &choice));
    assert_string_equal(choice.variant->name, "generic");
    row.variant = zoo_find_variant(&zoo_softmax, "online");
    assert_true(zoo_choose(&table, &h200, &problem, (struct zoo_demand){0}, &choice));
    assert_string_equal(choice.variant->name, "online");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aligned_ones_are_asked_for),
        cmocka_unit_test(for_show_alone),
        cmocka_unit_test(conditions),
        cmocka_unit_test(the_nearest_row),
        cmocka_unit_test(ranges),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(embedded_tables),
        cmocka_unit_test(where_the_tables_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
