/*
 * test_calendar.c: the calendar of a unit by itself: no work ends before it could, the unit never
 * does more than a cycle's work in a cycle, and gaps are used whatever the order in which work
 * comes.
 */
#include "watch/calendar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static bool is_near(double a, double b)
{
    return a > b - 1e-6 && a < b + 1e-6;
}

static void one_after_the_other(void **state)
{
    struct calendar calendar = {0};
    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_true(is_near(calendar_take(&calendar, 0, 100), (i + 1) * 100.0));
    calendar_close(&calendar);
}

/* What comes later may begin earlier, where there is room. */
static void gaps_are_used(void **state)
{
    struct calendar calendar = {0};
    (void)state;
    assert_true(is_near(calendar_take(&calendar, 6400, 640), 7040));
    assert_true(is_near(calendar_take(&calendar, 0, 6400), 6400));
    assert_true(is_near(calendar_take(&calendar, 0, 64), 7104));
    assert_true(is_near(calendar_take(&calendar, 20000, 0), 20000));
    calendar_close(&calendar);
}

/* In any order: nothing ends too soon, and all of it together takes as long as it must. Slices grow
 * on the way. */
static void nothing_is_lost(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct calendar calendar = {0};
        double sum = 0, last = 0;
        srand(seed);
        for (int i = 0; i < 4000; i++) {
            double from = rand() % 100000, cycles = rand() % 1000;
            double ends = calendar_take(&calendar, from, cycles);
            assert_true(ends >= from + cycles);
            sum += cycles;
            last = ends > last ? ends : last;
        }
        assert_true(last >= sum);
        assert_true(last <= sum + 101000 + (1 << calendar.shift));
        assert_true(calendar.shift > CALENDAR_SHIFT);
        calendar_close(&calendar);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_after_the_other),
        cmocka_unit_test(gaps_are_used),
        cmocka_unit_test(nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
