/*
 * test_utf8.c: what counts as UTF-8, against the table of well-formed byte sequences in the Unicode
 * standard (table 3-7), and that neither the JSON writer nor the HTML writer lets anything else
 * through.
 */
#include "base/buf.h"
#include "base/text.h"
#include "base/utf8.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

struct range {
    unsigned char low, high;
};
static const struct {
    unsigned length;
    struct range byte[4];
} well_formed[] = {
    {1, {{0x00, 0x7f}}},
    {2, {{0xc2, 0xdf}, {0x80, 0xbf}}},
    {3, {{0xe0, 0xe0}, {0xa0, 0xbf}, {0x80, 0xbf}}},
    {3, {{0xe1, 0xec}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {3, {{0xed, 0xed}, {0x80, 0x9f}, {0x80, 0xbf}}},
    {3, {{0xee, 0xef}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {4, {{0xf0, 0xf0}, {0x90, 0xbf}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {4, {{0xf1, 0xf3}, {0x80, 0xbf}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {4, {{0xf4, 0xf4}, {0x80, 0x8f}, {0x80, 0xbf}, {0x80, 0xbf}}},
};

static unsigned expected_length(const unsigned char *bytes)
{
    for (size_t i = 0; i < sizeof well_formed / sizeof *well_formed; i++) {
        bool fits = true;
        for (unsigned k = 0; fits && k < well_formed[i].length; k++)
            fits =
                bytes[k] >= well_formed[i].byte[k].low && bytes[k] <= well_formed[i].byte[k].high;
        if (fits)
            return well_formed[i].length;
    }
    return 0;
}

/* Calls visit with every pair of first bytes, and third and fourth ones on both sides of each
 * boundary; there is a NUL after the fourth. */
static void for_each_sequence(void (*visit)(const unsigned char *bytes))
{
    static const unsigned char edges[] = {0x00, 0x7f, 0x80, 0xa5, 0xbf, 0xc0, 0xff};
    unsigned char bytes[5] = {0};
    for (unsigned first = 0; first < 0x10000; first++)
        for (size_t i = 0; i < sizeof edges; i++)
            for (size_t k = 0; k < sizeof edges; k++) {
                bytes[0] = (unsigned char)(first >> 8);
                bytes[1] = (unsigned char)first;
                bytes[2] = edges[i];
                bytes[3] = edges[k];
                visit(bytes);
            }
}

static void check_length(const unsigned char *bytes)
{
    unsigned found = lk_utf8_length((const char *)bytes), expected = expected_length(bytes);
    if (found != expected)
        fail_msg("%02x %02x %02x %02x: length %u, not %u", bytes[0], bytes[1], bytes[2], bytes[3],
                 found, expected);
}

static void lengths(void **state)
{
    for_each_sequence(check_length);
}

/* Those that were once let through, by name. */
static void known_bad_bytes(void **state)
{
    static const char *const overlong[] = {"\xc0\x80",         "\xc0\xaf",     "\xc1\xbf",
                                           "\xe0\x80\xaf",     "\xe0\x9f\xbf", "\xf0\x80\x80\xaf",
                                           "\xf0\x8f\xbf\xbf", "\xe0\x80\x80", "\xf0\x80\x80\x80"};
    static const char *const surrogates[] = {"\xed\xa0\x80", "\xed\xaf\xbf", "\xed\xb0\x80",
                                             "\xed\xbf\xbf"};
    static const char *const truncated[] = {"\xc3",         "\xe2\x82", "\xe2",
                                            "\xf0\x9f\x98", "\xf0\x9f", "\xf0"};
    for (size_t i = 0; i < sizeof overlong / sizeof *overlong; i++)
        assert_int_equal(lk_utf8_length(overlong[i]), 0);
    for (size_t i = 0; i < sizeof surrogates / sizeof *surrogates; i++)
        assert_int_equal(lk_utf8_length(surrogates[i]), 0);
    for (size_t i = 0; i < sizeof truncated / sizeof *truncated; i++)
        assert_int_equal(lk_utf8_length(truncated[i]), 0);
    for (unsigned lead = 0xf5; lead <= 0xff; lead++)
        assert_int_equal(
            lk_utf8_length((char[]){(char)lead, (char)0x80, (char)0x80, (char)0x80, 0}), 0);
    assert_int_equal(lk_utf8_length("\xf4\x90\x80\x80"), 0); /* U+110000 */
    assert_int_equal(lk_utf8_length("\xf4\x8f\xbf\xbf"), 4); /* U+10FFFF */
    assert_int_equal(lk_utf8_length(""), 1);
}

/* The text with U+FFFD for each bad byte, as both writers should have it. */
static void replaced(const unsigned char *bytes, char *text)
{
    while (*bytes) {
        unsigned length = expected_length(bytes);
        memcpy(text, length ? (const char *)bytes : "\xef\xbf\xbd", length ? length : 3);
        text += length ? length : 3;
        bytes += length ? length : 1;
    }
    *text = 0;
}

/* jansson takes nothing but UTF-8, so parsing it is the proof. */
static void check_json(const unsigned char *bytes)
{
    static struct lk_buf out;
    json_error_t error;
    char expected[16];
    out.size = 0;
    lk_buf_json(&out, (const char *)bytes);
    json_t *string = json_loadb(out.data, out.size, JSON_DECODE_ANY, &error);
    if (!string)
        fail_msg("%02x %02x %02x %02x: %s", bytes[0], bytes[1], bytes[2], bytes[3], error.text);
    replaced(bytes, expected);
    assert_string_equal(json_string_value(string), expected);
    json_decref(string);
}

static void json(void **state)
{
    struct lk_buf out = {0};
    for_each_sequence(check_json);
    lk_buf_json(&out, "a\"b\\c\n\x01\xc3\xa9\xff!");
    assert_string_equal(out.data, "\"a\\\"b\\\\c\\u000a\\u0001\xc3\xa9\\ufffd!\"");
    lk_buf_free(&out);
}

static void html(void **state)
{
    struct lk_buf out = {0};
    lk_buf_html(&out, "<a href=\"x\">'&'</a>\t\n\x01\x7f\xed\xa0\x80\xc3\xa9\xf8");
    assert_string_equal(out.data, "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;\t\n"
                                  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd");
    size_t size = out.size;
    lk_buf_html(&out, NULL);
    assert_int_equal(out.size, size);
    lk_buf_free(&out);
}

static void replacing(void **state)
{
    char text[] = "a\xff\xc0\x80\xed\xa0\x80\xf0\x9f\x98\x80\xe2\x82\xac\xe2\x82";
    lk_replace_bad_utf8(text);
    assert_string_equal(text, "a??????\xf0\x9f\x98\x80\xe2\x82\xac??");
    lk_replace_bad_utf8(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths), cmocka_unit_test(known_bad_bytes), cmocka_unit_test(json),
        cmocka_unit_test(html),    cmocka_unit_test(replacing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
