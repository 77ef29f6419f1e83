/*
 * test_plot.c: plots on a terminal, and several kernels under one roof as SVG.
 */
#include "report/plot.h"
#include "report/svg.h"

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

static const struct report_paint plain = {"", "", "", "", "", ""};

static struct report_plot make(bool logarithmic)
{
    return (struct report_plot){.x_low = 1,
                                .x_high = 100,
                                .y_low = 1,
                                .y_high = 100,
                                .log_x = logarithmic,
                                .log_y = logarithmic,
                                .x_title = "across",
                                .y_title = "up"};
}

static void corners(void **state)
{
    for (int logarithmic = 0; logarithmic < 2; logarithmic++) {
        struct report_plot plot = make(logarithmic);
        report_plot_mark(&plot, 1, 1, 'a');
        report_plot_mark(&plot, 100, 100, 'b');
        assert_int_equal(plot.cells[PLOT_ROWS - 1][0], 'a');
        assert_int_equal(plot.cells[0][PLOT_COLUMNS - 1], 'b');
    }
}

static void the_middle_of_a_logarithm(void **state)
{
    struct report_plot plot = make(true);
    report_plot_mark(&plot, 10, 10, 'm');
    assert_true(plot.cells[PLOT_ROWS / 2][PLOT_COLUMNS / 2] == 'm' ||
                plot.cells[PLOT_ROWS / 2 - 1][PLOT_COLUMNS / 2] == 'm');
}

static void outside_nothing_is_drawn(void **state)
{
    struct report_plot plot = make(true), empty = make(true);
    const double wrong[] = {0, -5, 1e9, 1e-9, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        report_plot_mark(&plot, wrong[i], 10, 'x');
        report_plot_mark(&plot, 10, wrong[i], 'x');
    }
    assert_memory_equal(plot.cells, empty.cells, sizeof plot.cells);
}

static void marks_go_beside_marks(void **state)
{
    struct report_plot plot = make(false);
    report_plot_line(&plot, 1, 1, 100, 1, '-');
    report_plot_mark(&plot, 1, 1, 'a');
    report_plot_mark(&plot, 1, 1, 'b');
    report_plot_line(&plot, 1, 1, 100, 1, '/');
    assert_memory_equal(plot.cells[PLOT_ROWS - 1], "ab----", 6);
    for (int i = 0; i < 2 * PLOT_COLUMNS; i++) /* a full row takes no more */
        report_plot_mark(&plot, 1, 1, 'c');
    assert_int_equal(plot.cells[PLOT_ROWS - 2][0], 0);
}

static void printed(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct report_plot plot = make(true);
    report_plot_mark(&plot, 1, 100, 'q');
    report_plot_print(out, &plain, &plot);
    double rising[] = {1, 2, 3, 4}, flat[] = {5, 5.01}, zero[] = {0, 0};
    report_sparkline(out, rising, 4);
    report_sparkline(out, flat, 2);
    report_sparkline(out, zero, 2);
    report_sparkline(out, NULL, 0);
    fclose(out);
    assert_non_null(strstr(text, "up\n      100 |q"));
    assert_non_null(strstr(text, "across"));
    assert_non_null(strstr(text, "▁▃▆█▁▁▁▁"));
    free(text);
}

static void roofline_of_several(void **state)
{
    struct lk_buf out = {0};
    const struct svg_point points[] = {{0.25, 1e12, "one"},
                                       {0.25, 1.001e12, "<two>"},
                                       {1e9, 1e30, "above all"},
                                       {0, 0, "nothing"},
                                       {0.25, 1, "slow"}};
    const struct svg_roof roofs[] = {{"f32", 66.9e12}, {"tensor-bf16", 989e12}};
    svg_roofline_points(&out, gpu_find("h200"), roofs, 2, points, 5);
    assert_non_null(strstr(out.data, "tensor-bf16 989 TFLOP/s"));
    assert_non_null(strstr(out.data, "xmlns="));
    assert_non_null(strstr(out.data, "&lt;two&gt;"));
    assert_non_null(strstr(out.data, "</svg>"));
    assert_null(strstr(out.data, "nan"));
    assert_null(strstr(out.data, "inf"));
    out.size = 0;
    svg_roofline_points(&out, gpu_find("t4"), roofs, 1, NULL, 0);
    assert_null(strstr(out.data, "tensor-bf16"));
    lk_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners),
        cmocka_unit_test(the_middle_of_a_logarithm),
        cmocka_unit_test(outside_nothing_is_drawn),
        cmocka_unit_test(marks_go_beside_marks),
        cmocka_unit_test(printed),
        cmocka_unit_test(roofline_of_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
