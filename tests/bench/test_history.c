/*
 * test_history.c: runs go into the history and come out the same; names move; --json files are
 * read, and other files are refused; comparisons of whole runs.
 */
#include "bench/history.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static struct bench_place place = {.gpu = "cuda:0", .name = "Some GPU", .driver = "CUDA 13.0"};
static const struct zoo_family family = {.name = "a family"};

static int make_folder(void **state)
{
    strcpy(folder, "/tmp/lockstep.test.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static char *file(const char *name)
{
    static char path[4][128];
    static unsigned next;
    char *at = path[next++ % 4];
    snprintf(at, 128, "%s/%s", folder, name);
    return at;
}

/* Two contestants and one that was wrong; factor scales the variant's time. */
static struct bench_entry entries[] = {
    {.name = "fast", .lines = 12},
    {.name = "they", .peer = true, .version = (char *)"Theirs 1.0"},
    {.name = "broken", .state = BENCH_WRONG, .message = (char *)"out[0] is 1"},
};
static struct bench_result result = {.family = &family,
                                     .text = (char *)"n=1K, \"odd\"",
                                     .bytes = 4096,
                                     .flops = 1024,
                                     .unit = "f32",
                                     .copies = 1,
                                     .entries = entries,
                                     .count = 3};

static struct bench_report make_report(double factor)
{
    struct bench_report report;
    bench_report_begin(&report, &place);
    for (int i = 0; i < 2; i++) {
        double median = 1e-5 * (i ? 1 : factor);
        entries[i].time = (struct bench_summary){.count = 40,
                                                 .median = median,
                                                 .q1 = median * 0.998,
                                                 .q3 = median * 1.002,
                                                 .low = median * 0.999,
                                                 .high = median * 1.001};
    }
    report.results = &result;
    report.count = 1;
    return report;
}

static void add(struct bench_history *history, double factor, const char *name)
{
    char *message = NULL;
    struct bench_report report = make_report(factor);
    assert_true(bench_history_add(history, &report, name, &message));
    assert_null(message);
}

static struct bench_history *open_new(const char *name)
{
    char *message = NULL;
    struct bench_history *history = bench_history_open(file(name), true, &message);
    assert_non_null(history);
    return history;
}

static void comes_out_as_it_went_in(void **state)
{
    char *message = NULL;
    struct bench_history *history = open_new("deep/er/history.db");
    add(history, 1, "before");
    bench_history_close(history);
    history = bench_history_open(file("deep/er/history.db"), false, &message);
    assert_non_null(history);
    struct bench_saved *saved = bench_history_find(history, "before", &message);
    assert_non_null(saved);
    assert_string_equal(saved->gpu_name, "Some GPU");
    assert_false(saved->modelled);
    assert_int_equal(saved->count, 2); /* not the wrong one */
    assert_string_equal(saved->times[0].name, "fast");
    assert_string_equal(saved->times[0].problem, "n=1K, \"odd\"");
    assert_memory_equal(&saved->times[0].time, &entries[0].time, sizeof entries[0].time);
    bench_saved_free(saved);
    bench_history_close(history);
}

static void names_move(void **state)
{
    char *message = NULL;
    struct bench_history *history = open_new("names.db");
    add(history, 1, "x");
    add(history, 2, "x");
    add(history, 3, NULL);
    struct bench_saved *saved = bench_history_find(history, "x", &message);
    assert_non_null(saved);
    assert_true(saved->times[0].time.median == 2e-5);
    bench_saved_free(saved);
    bench_history_close(history);
}

static void missing_names_are_told(void **state)
{
    char *message = NULL;
    struct bench_history *history = open_new("missing.db");
    assert_null(bench_history_find(history, "x", &message));
    assert_non_null(strstr(message, "--save x"));
    free(message);
    add(history, 1, "it's one");
    assert_null(bench_history_find(history, "x'; DROP TABLE runs; --", &message));
    assert_non_null(strstr(message, "there are 'it's one'"));
    free(message);
    struct bench_saved *saved = bench_history_find(history, "it's one", &message);
    assert_non_null(saved);
    bench_saved_free(saved);
    bench_history_close(history);
}

static void series_are_in_order(void **state)
{
    char *message = NULL;
    struct bench_series *series;
    size_t count;
    struct bench_history *history = open_new("series.db");
    for (int i = 1; i <= 5; i++)
        add(history, i, i == 3 ? "third" : NULL);
    place.modelled = true;
    add(history, 9, NULL);
    place.modelled = false;
    assert_true(bench_history_series(history, "a family", NULL, &series, &count, &message));
    assert_int_equal(count, 4); /* two contestants, measured and modelled */
    assert_string_equal(series[0].name, "fast");
    assert_int_equal(series[0].count, 5);
    for (int i = 0; i < 5; i++)
        assert_true(series[0].points[i].seconds == 1e-5 * (i + 1));
    assert_string_equal(series[0].points[2].run, "third");
    assert_true(series[1].peer && !series[1].modelled && series[2].modelled);
    bench_series_free(series, count);
    assert_true(bench_history_series(history, "a family", "they", &series, &count, &message));
    assert_int_equal(count, 2);
    bench_series_free(series, count);
    assert_true(bench_history_series(history, "another", NULL, &series, &count, &message));
    assert_int_equal(count, 0);
    bench_history_close(history);
}

static void bad_files_are_refused(void **state)
{
    char *message = NULL;
    FILE *text = fopen(file("text.db"), "w");
    fputs("this is no database, but it is long enough to be taken for one by its size alone\n",
          text);
    fclose(text);
    assert_null(bench_history_open(file("text.db"), true, &message));
    assert_non_null(strstr(message, "text.db"));
    free(message);
    assert_null(bench_history_open(file("none.db"), false, &message));
    assert_non_null(strstr(message, "nothing was measured yet"));
    free(message);
    assert_null(bench_history_open("/proc/none/x.db", true, &message));
    assert_non_null(message);
    free(message);
    assert_null(bench_history_open(folder, true, &message));
    free(message);
}

/* JSON ------------------------------------------------------------------------------------------*/

static struct bench_saved *read_text(const char *text, char **message)
{
    FILE *out = fopen(file("report.json"), "w");
    fputs(text, out);
    fclose(out);
    return bench_saved_read(file("report.json"), message);
}

static void json_is_read_back(void **state)
{
    char *message = NULL;
    struct bench_report report = make_report(1.5);
    json_t *object = bench_report_json(&report);
    assert_non_null(object);
    char *text = json_dumps(object, 0);
    struct bench_saved *saved = read_text(text, &message);
    assert_non_null(saved);
    assert_int_equal(saved->count, 2);
    assert_string_equal(saved->times[1].name, "they");
    assert_true(saved->times[0].time.median > 1.4999e-5 && saved->times[0].time.median < 1.5001e-5);
    bench_saved_free(saved);
    free(text);
    json_decref(object);
}

static void broken_json_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{}",
        "null",
        "{\"gpu_name\": \"x\"}",
        "{\"gpu_name\": 3, \"results\": []}",
        "{\"gpu_name\": \"x\", \"results\": [3]}",
        "{\"gpu_name\": \"x\", \"results\": [{\"entries\": [{}]}]}",
        ("{\"gpu_name\": \"x\", \"results\": [{\"entries\": [{\"name\": \"a\", \"state\": "
         "\"measured\"}]}]}"),
        ("{\"gpu_name\": \"x\", \"results\": [{\"entries\": [{\"name\": \"a\", \"state\": "
         "\"measured\", \"samples\": 9, \"median_us\": -1, \"low_us\": -2, \"high_us\": 3}]}]}")};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *message = NULL;
        assert_null(read_text(texts[i], &message));
        assert_non_null(message);
        free(message);
    }
}

/* Comparing -------------------------------------------------------------------------------------*/

static void runs_are_compared(void **state)
{
    char *message = NULL;
    struct bench_history *history = open_new("compare.db");
    add(history, 1, "before");
    struct bench_saved *saved = bench_history_find(history, "before", &message);
    const struct {
        double factor;
        enum bench_verdict verdict;
    } cases[] = {{1, BENCH_SAME}, {1.2, BENCH_WORSE}, {0.8, BENCH_BETTER}, {1.005, BENCH_SAME}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t count;
        struct bench_report report = make_report(cases[i].factor);
        struct bench_change *changes = bench_changes(&report, saved, &count);
        assert_int_equal(count, 1); /* peers are not ours to judge */
        assert_int_equal(changes[0].verdict, cases[i].verdict);
        free(changes);
    }
    assert_true(bench_comparable(&place, saved, &message));
    struct bench_place other = place;
    strcpy(other.name, "Another GPU");
    assert_false(bench_comparable(&other, saved, &message));
    assert_non_null(strstr(message, "Another GPU"));
    free(message);
    other = place;
    other.modelled = true;
    assert_false(bench_comparable(&other, saved, &message));
    free(message);
    bench_saved_free(saved);
    bench_history_close(history);
}

static void csv_quotes(void **state)
{
    struct lk_buf out = {0};
    struct bench_report report = make_report(1);
    bench_report_csv(&out, &report);
    assert_non_null(strstr(out.data, "a family,\"n=1K, \"\"odd\"\"\",fast,variant,"));
    assert_null(strstr(out.data, "broken"));
    lk_buf_free(&out);
}

static void page_escapes(void **state)
{
    struct lk_buf out = {0};
    char *was = entries[2].message;
    entries[2].message = (char *)"<script>";
    struct bench_report report = make_report(1);
    bench_report_html(&out, &report);
    assert_null(strstr(out.data, "<script>"));
    assert_non_null(strstr(out.data, "&lt;script&gt;"));
    assert_non_null(strstr(out.data, "</html>"));
    entries[2].message = was;
    lk_buf_free(&out);
}

static int remove_folder(void **state)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_out_as_it_went_in),
        cmocka_unit_test(names_move),
        cmocka_unit_test(missing_names_are_told),
        cmocka_unit_test(series_are_in_order),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(json_is_read_back),
        cmocka_unit_test(broken_json_is_refused),
        cmocka_unit_test(runs_are_compared),
        cmocka_unit_test(csv_quotes),
        cmocka_unit_test(page_escapes),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
