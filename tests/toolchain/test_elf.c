/*
 * test_elf.c: the reader of ELF files on this program, on other kinds of files and on damage.
 */
#include "toolchain/elf.h"

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

static unsigned char *read_self(size_t *size)
{
    FILE *stream = fopen("/proc/self/exe", "rb");
    assert_non_null(stream);
    unsigned char *data = malloc(1 << 24);
    assert_non_null(data);
    *size = fread(data, 1, 1 << 24, stream);
    fclose(stream);
    return data;
}

static void elf_reads_this_program(void **state)
{
    struct lk_arena *arena = lk_arena_create();
    struct elf_facts facts = elf_read(arena, "/proc/self/exe");
    assert_int_equal(facts.kind, ELF_PROGRAM);
    assert_false(facts.fatbin);
    assert_true(facts.interpreter);
    bool libc = false;
    for (size_t i = 0; i < facts.needed.count; i++)
        libc = libc || strcmp(facts.needed.items[i], "libc.so.6") == 0;
    assert_true(libc);
    elf_free(&facts);
    lk_arena_destroy(arena);
}

/* Every cut, and many damaged bytes in the tables: any answer but a crash. */
static void elf_survives_damage(void **state)
{
    size_t size;
    unsigned char *data = read_self(&size), *copy = malloc(size);
    assert_non_null(copy);
    uint64_t sections; /* e_shoff */
    memcpy(&sections, data + 40, sizeof sections);
    srand(1);
    for (int round = 0; round < 4000; round++) {
        size_t length = round % 2 ? size : (size_t)rand() % size;
        memcpy(copy, data, length);
        for (int i = 0; i < round % 5; i++) {
            size_t place = rand() % 2 ? (size_t)rand() % 64 : sections + (size_t)rand() % 2048;
            if (place < length)
                copy[place] = (unsigned char)rand();
        }
        struct lk_arena *arena = lk_arena_create();
        struct elf_facts facts = elf_read_bytes(arena, copy, length);
        elf_free(&facts);
        lk_arena_destroy(arena);
    }
    free(copy);
    free(data);
}

static void elf_tells_kinds_apart(void **state)
{
    struct lk_arena *arena = lk_arena_create();
    assert_int_equal(elf_read(arena, "/nonexistent").kind, ELF_UNREADABLE);
    assert_int_equal(elf_read(arena, "/").kind, ELF_UNREADABLE);
    assert_int_equal(elf_read(arena, "/dev/null").kind, ELF_NOT);
    assert_int_equal(elf_read_bytes(arena, "text", 4).kind, ELF_NOT);
    assert_int_equal(elf_read_bytes(arena, "\177ELF", 4).kind, ELF_BROKEN);
    lk_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elf_reads_this_program),
        cmocka_unit_test(elf_survives_damage),
        cmocka_unit_test(elf_tells_kinds_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
