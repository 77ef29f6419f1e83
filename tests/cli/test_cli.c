/*
 * test_cli.c: the parts of the commands that a script cannot reach well: the ELF reader on damaged
 * files, nvcc's words told apart, the cache's hash.
 */
#include "toolchain/cache.h"
#include "toolchain/elf.h"
#include "cli/request.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
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

static void check_words(const struct lk_list *list, const char *expected)
{
    char joined[1024] = "";
    for (size_t i = 0; i < list->count; i++) {
        strcat(joined, i ? " " : "");
        strcat(joined, list->items[i]);
    }
    assert_string_equal(joined, expected);
}

static void request_tells_words_apart(void **state)
{
    struct lk_arena *arena = lk_arena_create();
    struct request request;
    const char *self = __FILE__; /* a source file that is there */
    char *words[] = {"-O3",
                     "-I",
                     "x.cu",
                     (char *)self,
                     "--gpu",
                     "sim:t4",
                     "-Xcompiler",
                     "-Wall",
                     "-arch",
                     "sm_80",
                     "-code=sm_80",
                     "-gencode=arch=compute_90a,code=sm_90a",
                     "-cudart=static",
                     "-G",
                     "--threads=3",
                     "-lm",
                     "--",
                     "-c",
                     NULL};
    assert_true(request_parse(arena, 18, words, &request));
    char expected[512];
    snprintf(expected, sizeof expected, "-O3 -I x.cu %s -Xcompiler -Wall -G -lm", self);
    check_words(&request.words, expected);
    check_words(&request.inputs, self);
    check_words(&request.archs, "80 90a");
    check_words(&request.cudart_words, "-cudart=static");
    assert_string_equal(request.gpu, "sim:t4");
    assert_string_equal(request.threads, "3");
    assert_null(request.limit);
    assert_true(request.device_debug);
    assert_string_equal(request.arguments[0], "-c");
    assert_null(request.arguments[1]);

    struct target simulated = {.simulated = gpu_find("t4"), .cc_major = 7, .cc_minor = 5};
    struct lk_list command = {0};
    request_command(arena, &request, "nvcc", &simulated, &command);
    snprintf(expected, sizeof expected,
             "nvcc -cudart shared -gencode arch=compute_80,code=compute_80 -gencode "
             "arch=compute_90a,code=compute_90a -O3 -I x.cu %s -Xcompiler -Wall -G -lm",
             self);
    check_words(&command, expected);
    lk_list_free(&command);

    struct target real = {.cc_major = 9};
    request_command(arena, &request, "nvcc", &real, &command);
    snprintf(expected, sizeof expected,
             "nvcc -arch sm_80 -code=sm_80 -gencode=arch=compute_90a,code=sm_90a -cudart=static "
             "-O3 -I x.cu %s -Xcompiler -Wall -G -lm",
             self);
    check_words(&command, expected);
    lk_list_free(&command);
    request_free(&request);
    lk_arena_destroy(arena);
}

static void hash_sees_every_byte(void **state)
{
    struct cache_hash one = cache_hash_start(), two = cache_hash_start(),
                      three = cache_hash_start();
    cache_hash_add_text(&one, "ab");
    cache_hash_add_text(&one, "c");
    cache_hash_add_text(&two, "a");
    cache_hash_add_text(&two, "bc");
    cache_hash_add(&three, "ab\0c", 5);
    assert_true(one.value != two.value);
    assert_true(one.value == three.value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elf_reads_this_program), cmocka_unit_test(elf_survives_damage),
        cmocka_unit_test(elf_tells_kinds_apart),  cmocka_unit_test(request_tells_words_apart),
        cmocka_unit_test(hash_sees_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
