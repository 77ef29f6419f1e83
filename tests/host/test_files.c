/*
 * test_files.c: whole files, folders and places: what is read and written, what a failure says, and
 * that a file is replaced whole or not at all.
 */
#include "host/files.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder; /* temporary */

static char *path_of(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void check_file(const char *name, const char *expected)
{
    char *text = host_read_text(path_of(name), NULL);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static unsigned count_entries(const char *path)
{
    unsigned count = 0;
    DIR *stream = opendir(path);
    assert_non_null(stream);
    while (readdir(stream))
        count++;
    closedir(stream);
    return count - 2; /* . and .. */
}

static void reading(void **state)
{
    struct lk_buf content = {0};
    char *message = NULL;
    assert_true(host_write_file(path_of("bytes"), "a\0b", 3, NULL));
    assert_true(host_read_file(path_of("bytes"), &content, NULL));
    assert_int_equal(content.size, 3);
    assert_memory_equal(content.data, "a\0b", 4);
    assert_true(host_read_file(path_of("bytes"), &content, NULL)); /* appended */
    assert_memory_equal(content.data, "a\0ba\0b", 7);
    assert_false(host_read_file(path_of("none"), &content, &message)); /* nothing is lost */
    assert_int_equal(content.size, 6);
    assert_non_null(strstr(message, "/none: No such file or directory"));
    free(message);
    lk_buf_free(&content);
    assert_true(host_write_file(path_of("empty"), "", 0, NULL));
    assert_true(host_read_file(path_of("empty"), &content, NULL));
    assert_string_equal(content.data, "");
    lk_buf_free(&content);
    assert_false(host_read_file(folder, &content, &message));
    assert_non_null(strstr(message, "Is a directory"));
    assert_null(content.data);
    free(message);
}

static void reading_text(void **state)
{
    char *message = NULL;
    assert_null(host_read_text("/dev/zero", &message)); /* has no end */
    assert_string_equal(message, "/dev/zero: File too large");
    free(message);
    assert_null(host_read_text(path_of("none"), NULL));
}

static void lines(void **state)
{
    assert_true(host_write_file(path_of("lines"), "one\r\n\nthree", 11, NULL));
    char *first = host_read_line(path_of("lines"), 1),
         *second = host_read_line(path_of("lines"), 2),
         *third = host_read_line(path_of("lines"), 3);
    assert_string_equal(first, "one");
    assert_string_equal(second, "");
    assert_string_equal(third, "three");
    assert_null(host_read_line(path_of("lines"), 0));
    assert_null(host_read_line(path_of("lines"), 4));
    assert_null(host_read_line(path_of("none"), 1));
    free(first);
    free(second);
    free(third);
}

static void replacing(void **state)
{
    struct stat status;
    char *message = NULL;
    assert_true(host_replace_file(path_of("new/deep/file"), "one", 3, NULL));
    check_file("new/deep/file", "one");
    assert_int_equal(chmod(path_of("new/deep/file"), 0640), 0);
    assert_int_equal(symlink("deep/file", path_of("new/link")), 0);
    assert_true(host_replace_file(path_of("new/link"), "two", 3, NULL));
    check_file("new/deep/file", "two"); /* through the link, which stays */
    assert_int_equal(lstat(path_of("new/link"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(path_of("new/deep/file"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_int_equal(count_entries(path_of("new/deep")), 1); /* nothing is left beside it */
    assert_false(host_replace_file(path_of("new/deep/file/x"), "", 0, &message));
    assert_non_null(strstr(message, "Not a directory"));
    free(message);
    assert_false(host_replace_file(path_of("new/deep"), "", 0, &message)); /* a folder */
    assert_non_null(message);
    free(message);
    assert_int_equal(count_entries(path_of("new")), 2);
    assert_false(host_write_file("/dev/full", "x", 1, &message));
    assert_string_equal(message, "/dev/full: No space left on device");
    free(message);
}

static void folders(void **state)
{
    char *message = NULL;
    struct stat status;
    assert_true(host_make_folder(path_of("a/b/c"), NULL));
    assert_true(host_make_folder(path_of("a/b/c"), NULL));
    assert_true(host_make_folder(path_of("a/b/d/"), NULL)); /* with a slash at its end */
    assert_true(host_make_parents(path_of("p/q/file"), NULL));
    assert_int_equal(stat(path_of("p/q"), &status), 0);
    assert_int_equal(access(path_of("p/q/file"), F_OK), -1);
    assert_true(host_write_file(path_of("a/file"), "", 0, NULL));
    assert_false(host_make_folder(path_of("a/file"), &message));
    assert_non_null(strstr(message, "Not a directory"));
    free(message);
    /* A link in a tree that is removed is removed itself, not what it points to. */
    assert_true(host_write_file(path_of("outside"), "x", 1, NULL));
    assert_int_equal(symlink("../outside", path_of("a/link")), 0);
    assert_int_equal(symlink("../p", path_of("a/folder")), 0);
    host_remove_tree(path_of("a"));
    assert_int_equal(access(path_of("a"), F_OK), -1);
    check_file("outside", "x");
    assert_int_equal(access(path_of("p/q"), F_OK), 0);
    host_remove_tree(path_of("none"));
}

static void temporary_folders(void **state)
{
    char *message = NULL, *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    struct stat status;
    setenv("TMPDIR", folder, 1);
    char *one = host_temporary_folder("x", NULL), *two = host_temporary_folder("x", NULL);
    assert_true(one && two && strcmp(one, two) != 0);
    assert_memory_equal(one, folder, strlen(folder));
    assert_int_equal(stat(one, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    setenv("TMPDIR", "/nowhere", 1);
    assert_null(host_temporary_folder("x", &message));
    assert_non_null(strstr(message, "set TMPDIR"));
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    free(before);
    free(message);
    free(one);
    free(two);
}

static void check_place(char *found, const char *expected)
{
    if (expected)
        assert_string_equal(found, expected);
    else
        assert_null(found);
    free(found);
}

static void places(void **state)
{
    char real[PATH_MAX];
    setenv("HOME", "/home/me", 1);
    unsetenv("XDG_DATA_HOME");
    unsetenv("XDG_CACHE_HOME");
    check_place(host_data_path("x.db"), "/home/me/.local/share/lockstep/x.db");
    check_place(host_cache_path("run"), "/home/me/.cache/lockstep/run");
    setenv("XDG_DATA_HOME", "/data", 1);
    setenv("XDG_CACHE_HOME", "relative", 1); /* which does not count */
    check_place(host_data_path("x.db"), "/data/lockstep/x.db");
    check_place(host_cache_path("run"), "/home/me/.cache/lockstep/run");
    unsetenv("HOME");
    check_place(host_cache_path("run"), NULL);
    assert_non_null(realpath("/proc/self/exe", real));
    assert_string_equal(host_program(), real);
    *strrchr(real, '/') = 0;
    assert_string_equal(host_program_folder(), real);
}

static int set_up(void **state)
{
    folder = host_temporary_folder("test", NULL);
    return folder ? 0 : -1;
}

static int tear_down(void **state)
{
    host_remove_tree(folder);
    free(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading), cmocka_unit_test(reading_text),
        cmocka_unit_test(lines),   cmocka_unit_test(replacing),
        cmocka_unit_test(folders), cmocka_unit_test(temporary_folders),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
