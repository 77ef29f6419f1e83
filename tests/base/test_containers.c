/*
 * test_containers.c: arena, buffer, list and map: what they promise about alignment, zeroes, ends
 * and growth.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"

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

static void check_zeroed(const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        assert_int_equal(data[i], 0);
}

/* Sizes around the chunk's, and alignments up to a page; memory is written, so that a sanitizer or
 * the next check sees an overlap. */
static void arena_alignment(void **state)
{
    static const size_t sizes[] = {0, 1, 3, 16, 100, 4096, 65535, 65536, 65537, 1 << 20};
    struct lk_arena *arena = lk_arena_create();
    for (size_t align = 1; align <= 4096; align *= 2)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            unsigned char *data = lk_arena_alloc_aligned(arena, sizes[i], align);
            assert_int_equal((uintptr_t)data % align, 0);
            check_zeroed(data, sizes[i]);
            memset(data, 0xff, sizes[i]);
        }
    assert_int_equal((uintptr_t)lk_arena_alloc(arena, 1) % 16, 0);
    assert_int_equal((uintptr_t)lk_arena_alloc(arena, 1) % 16, 0);
    lk_arena_destroy(arena);
    lk_arena_destroy(NULL);
}

static void arena_does_not_overlap(void **state)
{
    enum { COUNT = 3000 };
    static unsigned *data[COUNT];
    struct lk_arena *arena = lk_arena_create();
    for (unsigned i = 0; i < COUNT; i++) {
        data[i] = lk_arena_alloc(arena, (1 + i % 97) * sizeof(unsigned));
        for (unsigned k = 0; k <= i % 97; k++)
            data[i][k] = i;
    }
    for (unsigned i = 0; i < COUNT; i++)
        for (unsigned k = 0; k <= i % 97; k++)
            assert_int_equal(data[i][k], i);
    lk_arena_destroy(arena);
}

static void arena_text(void **state)
{
    struct lk_arena *arena = lk_arena_create();
    assert_string_equal(lk_arena_strndup(arena, "abcdef", 3), "abc");
    assert_string_equal(lk_arena_strndup(arena, "", 0), "");
    assert_string_equal(lk_arena_printf(arena, "%s-%d", "x", 7), "x-7");
    assert_string_equal(lk_arena_printf(arena, "%s", ""), "");
    assert_memory_equal(lk_arena_dup(arena, "a\0b", 3), "a\0b", 3);
    assert_non_null(lk_arena_dup(arena, NULL, 0));
    lk_arena_destroy(arena);
}

static void buffer(void **state)
{
    struct lk_buf buf = {0}, expected = {0};
    lk_buf_add(&buf, "", 0);
    assert_string_equal(buf.data, ""); /* NUL-terminated even if empty */
    for (int i = 0; i < 1000; i++)
        lk_buf_printf(&buf, "%d,", i);
    for (int i = 0; i < 1000; i++) {
        char word[16];
        lk_buf_add(&expected, word, (size_t)snprintf(word, sizeof word, "%d,", i));
    }
    assert_int_equal(buf.size, expected.size);
    assert_string_equal(buf.data, expected.data);
    assert_int_equal(buf.data[buf.size], 0);
    lk_buf_free(&expected);
    lk_buf_free(&buf);
    assert_null(buf.data);
    assert_int_equal(buf.size + buf.capacity, 0);
    char *text = lk_format("%s %u", "line", 3u);
    assert_string_equal(text, "line 3");
    free(text);
}

static void list(void **state)
{
    static char words[100][8];
    struct lk_list list = {0};
    for (size_t i = 0; i < 100; i++) {
        snprintf(words[i], sizeof words[i], "%zu", i);
        lk_list_add(&list, words[i]);
        assert_int_equal(list.count, i + 1);
        assert_null(list.items[list.count]); /* as execv needs it, at every length */
    }
    for (size_t i = 0; i < 100; i++)
        assert_ptr_equal(list.items[i], words[i]);
    lk_list_free(&list);
    assert_null(list.items);
    assert_int_equal(list.count, 0);
}

static void map(void **state)
{
    enum { COUNT = 5000 };
    static char keys[COUNT][8];
    struct lk_map map = {0};
    assert_null(lk_map_get(&map, "absent", 6));
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(keys[i], sizeof keys[i], "k%zu", i);
        lk_map_put(&map, keys[i], strlen(keys[i]), &keys[i]);
    }
    assert_int_equal(map.count, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_ptr_equal(lk_map_get(&map, keys[i], strlen(keys[i])), &keys[i]);
    assert_null(lk_map_get(&map, "k", 1));
    assert_null(lk_map_get(&map, "k5000", 5));
    lk_map_put(&map, "k7", 2, &map); /* the same key again */
    assert_int_equal(map.count, COUNT);
    assert_ptr_equal(lk_map_get(&map, keys[7], 2), &map);
    /* Keys are bytes, not words, and may be empty. */
    lk_map_put(&map, "a\0b", 3, keys[1]);
    lk_map_put(&map, "a\0c", 3, keys[2]);
    lk_map_put(&map, "", 0, keys[3]);
    assert_ptr_equal(lk_map_get(&map, "a\0b", 3), keys[1]);
    assert_ptr_equal(lk_map_get(&map, "a\0c", 3), keys[2]);
    assert_ptr_equal(lk_map_get(&map, "", 0), keys[3]);
    assert_null(lk_map_get(&map, "a", 1));
    lk_map_free(&map);
    assert_null(lk_map_get(&map, "k1", 2));
}

/* Items of another size than their key; before all, between, at and after them, and none at all. */
static void sorted_after(void **state)
{
    const struct {
        uint64_t key;
        char rest[12];
    } items[] = {{5, ""}, {9, ""}, {9, ""}, {UINT64_MAX, ""}};
    assert_int_equal(lk_sorted_after(items, 4, sizeof *items, 4), 0);
    assert_int_equal(lk_sorted_after(items, 4, sizeof *items, 5), 1);
    assert_int_equal(lk_sorted_after(items, 4, sizeof *items, 8), 1);
    assert_int_equal(lk_sorted_after(items, 4, sizeof *items, 9), 3);
    assert_int_equal(lk_sorted_after(items, 4, sizeof *items, UINT64_MAX), 4);
    assert_int_equal(lk_sorted_after(NULL, 0, sizeof *items, 9), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_alignment),
        cmocka_unit_test(arena_does_not_overlap),
        cmocka_unit_test(arena_text),
        cmocka_unit_test(buffer),
        cmocka_unit_test(list),
        cmocka_unit_test(sorted_after),
        cmocka_unit_test(map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
