/*
 * test_text.c: hashes against published vectors, edit distances, guesses, whole numbers, and the
 * place of an error in a text.
 */
#include "base/buf.h"
#include "base/hash.h"
#include "base/text.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdlib.h>
#include <string.h>

/* The vectors are those of the FNV authors' test suite. */
static void hash64(void **state)
{
    assert_true(lk_hash64(LK_HASH64, "", 0) == 0xcbf29ce484222325u);
    assert_true(lk_hash64(LK_HASH64, "a", 1) == 0xaf63dc4c8601ec8cu);
    assert_true(lk_hash64(LK_HASH64, "foobar", 6) == 0x85944171f73967e8u);
    assert_true(lk_hash64(lk_hash64(LK_HASH64, "foo", 3), "bar", 3) == 0x85944171f73967e8u);
    assert_true(lk_hash64(LK_HASH64, "\0", 1) != LK_HASH64);
}

static void check128(const char *text, uint64_t high, uint64_t low)
{
    struct lk_hash128 hash = lk_hash128_start();
    lk_hash128_add(&hash, text, strlen(text));
    assert_true(hash.high == high && hash.low == low);
}

static void hash128(void **state)
{
    check128("", 0x6c62272e07bb0142u, 0x62b821756295c58du);
    check128("a", 0xd228cb696f1a8cafu, 0x78912b704e4a8964u);
    check128("abc", 0xa68d622cec8b5822u, 0x836dbc7977af7f3bu);
    check128("foobar", 0x343e1662793c64bfu, 0x6f0d3597ba446f18u);
}

/* Words are hashed with their ends, so "ab", "c" is not "a", "bc". */
static void hash128_of_words(void **state)
{
    struct lk_hash128 one = lk_hash128_start(), two = one, three = one;
    lk_hash128_add_text(&one, "ab");
    lk_hash128_add_text(&one, "c");
    lk_hash128_add_text(&two, "a");
    lk_hash128_add_text(&two, "bc");
    lk_hash128_add(&three, "ab\0c", 5);
    assert_memory_not_equal(&one, &two, sizeof one);
    assert_memory_equal(&one, &three, sizeof one);
}

static unsigned distance(const char *from, const char *to)
{
    unsigned there = lk_edit_distance(from, strlen(from), to, strlen(to));
    assert_int_equal(there, lk_edit_distance(to, strlen(to), from, strlen(from)));
    return there;
}

static void distances(void **state)
{
    char long_word[80];
    assert_int_equal(distance("", ""), 0);
    assert_int_equal(distance("", "abc"), 3);
    assert_int_equal(distance("kitten", "sitting"), 3);
    assert_int_equal(distance("saturday", "sunday"), 3);
    assert_int_equal(distance("docter", "doctor"), 1);
    assert_int_equal(distance("gpus", "gpus"), 0);
    assert_int_equal(lk_edit_distance("addx", 3, "add", 3), 0); /* only that many letters count */
    memset(long_word, 'a', sizeof long_word);
    assert_int_equal(lk_edit_distance(long_word, 64, long_word, 63), 1);
    assert_int_equal(lk_edit_distance(long_word, 65, long_word, 64), 65);
}

static const char *guess(const char *wanted, bool parts)
{
    struct lk_guess guess = {.wanted = wanted, .distance = 3, .parts = parts};
    lk_guess_try(&guess, "reduction");
    lk_guess_try(&guess, "scan");
    lk_guess_try(&guess, "scans");
    return guess.nearest;
}

static void guesses(void **state)
{
    assert_string_equal(guess("scna", false), "scan");
    assert_string_equal(guess("scanx", false), "scan"); /* the first of two that are as near */
    assert_string_equal(guess("scans", false), "scans");
    assert_null(guess("scatter", false));
    assert_null(guess("reduc", false));
    assert_string_equal(guess("reduc", true), "reduction");
    struct lk_guess cut = {.wanted = "scan.f32", .size = 4, .distance = 1};
    lk_guess_try(&cut, "scan");
    assert_string_equal(cut.nearest, "scan");
}

static void numbers(void **state)
{
    unsigned long long number = 0;
    assert_true(lk_parse_number("0", 9, &number) && number == 0);
    assert_true(lk_parse_number("007", 9, &number) && number == 7);
    assert_true(lk_parse_number("18446744073709551615", UINT64_MAX, &number));
    assert_true(number == UINT64_MAX);
    static const char *const bad[] = {"",     "-1",  "+1", " 1",  "1 ",
                                      "0x10", "1e3", "10", "one", "18446744073709551616"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(lk_parse_number(bad[i], 9, &number));
    assert_false(lk_parse_number("18446744073709551616", UINT64_MAX, &number));
}

static char *place(const char *text, size_t offset)
{
    struct lk_buf out = {0};
    lk_buf_place(&out, "file", text, strlen(text), offset, "why");
    return out.data;
}

static void check_place(const char *text, size_t offset, const char *expected)
{
    char *found = place(text, offset);
    assert_string_equal(found, expected);
    free(found);
}

static void places(void **state)
{
    check_place("one\ntwo three\nfour", 8, "file:2:5: why\n  two three\n      ^\n");
    check_place("one", 0, "file:1:1: why\n  one\n  ^\n");
    check_place("", 0, "file:1:1: why\n  \n  ^\n");
    check_place("one\n", 4, "file:2:1: why\n  \n  ^\n");
    check_place("one", 99, "file:1:4: why\n  one\n     ^\n"); /* past the end: at the end */
    check_place("a\tb\x01", 2, "file:1:3: why\n  a b \n    ^\n");
    /* Only a window of a very long line is shown, with the caret still under its letter. */
    char line[10001];
    memset(line, '.', 10000);
    line[10000] = 0;
    line[5000] = '#';
    char *found = place(line, 5000);
    assert_true(strlen(found) < 300);
    assert_non_null(strstr(found, "file:1:5001: why\n"));
    char *caret = strchr(found, '^'), *start = strstr(found, "\n  ") + 1;
    char *next = strstr(start, "\n  ") + 1;
    assert_int_equal(start[caret - next], '#');
    free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash64),    cmocka_unit_test(hash128), cmocka_unit_test(hash128_of_words),
        cmocka_unit_test(distances), cmocka_unit_test(guesses), cmocka_unit_test(numbers),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
