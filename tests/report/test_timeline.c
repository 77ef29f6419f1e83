/*
 * test_timeline.c: timelines whose overlap, gaps and rows can be computed by hand, from their lines
 * to figures, to the drawing and to Chrome's trace format.
 */
#include "report/report.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct lk_arena *arena;
static struct timelines timelines;

static void add(const char *text)
{
    json_error_t error;
    json_t *line = json_loads(text, 0, &error);
    assert_non_null(line);
    assert_true(timeline_read(&timelines, arena, line));
    json_decref(line);
}

/* rest: more of the line, with a comma in front, or "". */
static void op(const char *kind, int stream, double asked, double begin, double end,
               const char *rest)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"timeline\":\"%s\",\"process\":77,\"device\":0,\"gpu\":\"h200\",\"stream\":%d,"
             "\"call\":\"cuCall\",\"asked\":%f,\"issued\":%f,\"begin\":%f,\"end\":%f%s}",
             kind, stream, asked, asked + 1, begin, end, rest);
    add(text);
}

#define TO ",\"way\":\"to\",\"bytes\":1000000"
#define FROM ",\"way\":\"from\",\"bytes\":1000000"
#define KERNEL ",\"name\":\"_Z1kv\",\"grid\":[66,1,1],\"block\":[256,1,1]"

static int begin(void **state)
{
    arena = lk_arena_create();
    timelines = (struct timelines){0};
    return 0;
}

static int end(void **state)
{
    timelines_free(&timelines);
    lk_arena_destroy(arena);
    return 0;
}

/* Two streams, a chunk each; a copy takes 10 us, a kernel 40. */
static void pipeline(void)
{
    op("kernel", 2, 10, 20, 60, KERNEL);
    op("copy", 1, 0, 0, 10, TO);
    op("kernel", 1, 2, 10, 50, KERNEL);
    op("copy", 1, 4, 50, 60, FROM);
    op("copy", 2, 6, 10, 20, TO);
    op("copy", 2, 12, 60, 70, FROM);
    op("event", 1, 13, 60, 60, "");
    add("{\"timeline\":\"wait\",\"process\":77,\"device\":0,\"gpu\":\"h200\",\"stream\":1,"
        "\"call\":\"cuCtxSynchronize\",\"begin\":13,\"end\":60}");
    add("{\"timeline\":\"wait\",\"process\":77,\"device\":0,\"gpu\":\"h200\",\"stream\":2,"
        "\"call\":\"cuCtxSynchronize\",\"begin\":60,\"end\":70}");
    timelines_evaluate(&timelines, arena);
}

#define NEAR(wanted, got) assert_true(fabs((wanted) - (got)) < 1e-9)

static void figures(void **state)
{
    pipeline();
    assert_int_equal(timelines.count, 1);
    const struct timeline *t = timelines.items[0];
    NEAR(70e-6, t->seconds);
    assert_int_equal(t->stream_count, 2);
    assert_int_equal(t->row_count, 2);
    assert_int_equal(t->process, 0);
    /* Kernels from 10 to 60, copies 0-20 and 50-70: together 10-20 and 50-60. */
    NEAR(50e-6, t->engines[TIMELINE_COMPUTE].busy);
    NEAR(20e-6, t->engines[TIMELINE_COPY_TO].busy);
    NEAR(20e-6, t->engines[TIMELINE_COPY_FROM].busy);
    NEAR(40e-6, t->copy_busy);
    NEAR(20e-6, t->both_busy);
    NEAR(0.5, t->overlap);
    assert_int_equal(t->engines[TIMELINE_COMPUTE].operations, 2);
    NEAR(2e6, t->engines[TIMELINE_COPY_TO].bytes);
    /* Two waits of one call are one. */
    assert_int_equal(t->waits, 1);
    NEAR(57e-6, t->waiting);
    assert_int_equal(t->calls, 7);
    NEAR(5.2e-6, t->launching);
}

static void gaps(void **state)
{
    pipeline();
    const struct timeline *t = timelines.items[0];
    assert_int_equal(t->gap_count, 2);
    NEAR(0, t->gaps[0].begin);
    NEAR(10e-6, t->gaps[0].end);
    assert_string_equal(t->gaps[0].reason, "copy to the device, 977 KiB in stream 1");
    NEAR(60e-6, t->gaps[1].begin);
    assert_string_equal(t->gaps[1].reason, "copy from the device, 977 KiB in stream 2");
}

/* A kernel that the host launches only after it has waited. */
static void gap_of_the_host(void **state)
{
    op("kernel", 1, 0, 0, 20, KERNEL);
    op("copy", 1, 2, 20, 40, FROM);
    op("kernel", 1, 40, 40, 60, KERNEL);
    op("kernel", 1, 65, 65, 75, KERNEL);
    add("{\"timeline\":\"wait\",\"process\":77,\"device\":0,\"gpu\":\"h200\",\"stream\":1,"
        "\"call\":\"cuMemcpyDtoH\",\"begin\":4,\"end\":40}");
    timelines_evaluate(&timelines, arena);
    const struct timeline *t = timelines.items[0];
    assert_int_equal(t->gap_count, 2);
    assert_string_equal(t->gaps[0].reason, "the host, which waited in cuMemcpyDtoH for stream 1");
    assert_string_equal(t->gaps[1].reason, "the host, which was issuing calls");
}

/* Nodes of a graph side by side: each has a row. Its calls are those of its launch. */
static void graph_rows(void **state)
{
    op("kernel", 5, 0, 3, 20, KERNEL ",\"graph\":9");
    op("kernel", 5, 0, 3, 30, KERNEL ",\"graph\":9");
    op("kernel", 5, 0, 20, 40, KERNEL ",\"graph\":9");
    op("graph", 5, 0, 0, 40, ",\"graph\":9");
    op("kernel", 3, 2, 2, 4, KERNEL);
    timelines_evaluate(&timelines, arena);
    const struct timeline *t = timelines.items[0];
    assert_int_equal(t->row_count, 3);
    assert_int_equal(t->stream_count, 2);
    assert_int_equal(t->rows[0].stream, 3);
    assert_int_equal(t->rows[2].lane, 1);
    assert_int_equal(t->calls, 2);
    NEAR(2.6e-6 + 3 * 1e-6, t->launching);
}

static void processes_are_apart(void **state)
{
    op("kernel", 1, 0, 0, 10, KERNEL);
    add("{\"timeline\":\"kernel\",\"process\":78,\"device\":0,\"gpu\":\"h200\",\"stream\":1,"
        "\"name\":\"k\",\"begin\":0,\"end\":5}");
    add("{\"timeline\":\"more\",\"process\":78,\"device\":0,\"gpu\":\"h200\",\"operations\":"
        "1000000,"
        "\"kernels\":999999,\"copies\":1,\"kernel_time\":5.0,\"copy_time\":1.0,\"end\":3000.0}");
    timelines_evaluate(&timelines, arena);
    assert_int_equal(timelines.count, 2);
    json_t *json = timelines_json(&timelines);
    json_t *second = json_array_get(json, 1);
    assert_int_equal(json_integer_value(json_object_get(second, "process")), 1);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(second, "more"), "operations")),
        1000000);
    json_decref(json);
}

static void bad_lines(void **state)
{
    static const char *const bad[] = {"{\"timeline\":\"kernel\",\"gpu\":\"no such\"}",
                                      "{\"timeline\":\"dance\",\"gpu\":\"h200\"}",
                                      "{\"timeline\":7,\"gpu\":\"h200\"}",
                                      "{\"timeline\":\"copy\",\"gpu\":\"h200\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *line = json_loads(bad[i], 0, NULL);
        assert_false(timeline_read(&timelines, arena, line));
        json_decref(line);
    }
}

static void drawing(void **state)
{
    static const struct report_paint plain = {"", "", "", "", "", ""};
    char *text = NULL;
    size_t size;
    pipeline();
    FILE *out = open_memstream(&text, &size);
    report_timeline_text(out, &plain, &timelines);
    fclose(out);
    /* 64 columns are 70 us: a copy is 9 of them, a kernel 37. */
    assert_non_null(strstr(text, "  stream 1    >>>>>>>>>█"));
    assert_non_null(strstr(text, "  stream 2             >>>>>>>>>█"));
    assert_non_null(strstr(text, "█<<<<<<<<<\n"));
    assert_non_null(strstr(text, "overlap                50 %: copies and kernels together for "
                                 "20 us of 40 us"));
    assert_non_null(strstr(text, "compute                busy 50.0 us,  71 %; idle  29 %"));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        size_t columns = 0;
        for (const char *at = line; *at; at++)
            columns += (*at & 0xc0) != 0x80;
        if (columns > 80)
            fail_msg("%zu columns: %s", columns, line);
    }
    free(text);
}

/* What Perfetto reads: every event has its fields, and bars of a track do not cross. */
static void chrome(void **state)
{
    size_t index, bars = 0, marks = 0;
    json_t *event;
    pipeline();
    json_t *trace = timelines_chrome(&timelines);
    json_array_foreach(json_object_get(trace, "traceEvents"), index, event)
    {
        const char *phase = json_string_value(json_object_get(event, "ph"));
        assert_true(json_is_integer(json_object_get(event, "pid")));
        assert_true(json_is_string(json_object_get(event, "name")));
        if (*phase == 'X') {
            assert_true(json_number_value(json_object_get(event, "dur")) > 0);
            bars++;
        }
        marks += *phase == 'i';
    }
    /* 6 operations, the copies again on their engines, 7 calls, 1 wait */
    assert_int_equal(bars, 6 + 4 + 7 + 1);
    assert_int_equal(marks, 1);
    json_decref(trace);
}

static void page(void **state)
{
    struct lk_buf out = {0};
    pipeline();
    report_timeline_html(&out, &timelines);
    lk_buf_add(&out, "", 1);
    assert_non_null(strstr(out.data, "aria-label=\"timeline\""));
    assert_non_null(strstr(out.data, "k &lt;&lt;&lt;66, 256&gt;&gt;&gt;: 40 us from 10 us"));
    assert_non_null(strstr(out.data, "<b>50 %</b>"));
    lk_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(figures, begin, end),
        cmocka_unit_test_setup_teardown(gaps, begin, end),
        cmocka_unit_test_setup_teardown(gap_of_the_host, begin, end),
        cmocka_unit_test_setup_teardown(graph_rows, begin, end),
        cmocka_unit_test_setup_teardown(processes_are_apart, begin, end),
        cmocka_unit_test_setup_teardown(bad_lines, begin, end),
        cmocka_unit_test_setup_teardown(drawing, begin, end),
        cmocka_unit_test_setup_teardown(chrome, begin, end),
        cmocka_unit_test_setup_teardown(page, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
