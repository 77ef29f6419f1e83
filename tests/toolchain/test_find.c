/*
 * test_find.c: the one order in which compilers are looked for, with made-up ones in a temporary
 * folder; the toolkit's folder as nvcc reports it; the command line that makes PTX; what ptxas
 * prints.
 */
#include "toolchain/find.h"
#include "toolchain/ptx.h"
#include "toolchain/ptxas.h"

// clang-format off
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "folder.h"
// clang-format on
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A program that is a script; its path. */
static char *make_program(const char *name, const char *script)
{
    char *path = path_of(name), *text = lk_arena_printf(arena, "#!/bin/sh\n%s\n", script);
    assert_true(host_replace_file(path, text, strlen(text), NULL));
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

static void set_path(const char *name)
{
    setenv("PATH", lk_arena_printf(arena, "%s:/usr/bin:/bin", path_of(name)), 1);
}

/* The toolkit in /usr/local/cuda, if this machine has one, goes before scripts/get-nvcc's. */
static void nvcc_order(void **state)
{
    static const char usual[] = "/usr/local/cuda/bin/nvcc";
    char *on_path = make_program("a/nvcc", "exit 0"), *chosen = make_program("b/mine", "exit 0");
    char *installed = make_program("data/lockstep/cuda/bin/nvcc", "exit 0");
    setenv("XDG_DATA_HOME", path_of("data"), 1);
    set_path("a");
    setenv("NVCC", chosen, 1);
    assert_string_equal(toolchain_find_nvcc(arena), chosen);
    setenv("NVCC", "mine", 1); /* decides alone, even if it is not there */
    assert_null(toolchain_find_nvcc(arena));
    setenv("NVCC", "", 1);
    assert_string_equal(toolchain_find_nvcc(arena), on_path);
    unsetenv("NVCC");
    assert_string_equal(toolchain_find_nvcc(arena), on_path);
    setenv("PATH", "/nowhere", 1);
    assert_string_equal(toolchain_find_nvcc(arena), access(usual, X_OK) == 0 ? usual : installed);
}

static void clang_order(void **state)
{
    set_path("c");
    setenv("PATH", path_of("c"), 1);
    assert_null(toolchain_find_clang(arena));
    char *plain = make_program("c/clang", "echo 'Some clang version 15.0.7'");
    assert_null(toolchain_find_clang(arena)); /* too old */
    make_program("c/clang", "echo 'Some clang version 16.0.0 (x)'");
    assert_string_equal(toolchain_find_clang(arena), plain);
    make_program("c/clang", "exit 1");
    assert_null(toolchain_find_clang(arena));
    static const char *const names[] = {"clang-16", "clang-17", "clang-18",
                                        "clang-20", "clang-21", "clang-19"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) { /* each goes before the last */
        char *made = make_program(lk_arena_printf(arena, "c/%s", names[i]), "exit 1");
        assert_string_equal(toolchain_find_clang(arena), made);
    }
    setenv("CLANG", plain, 1);
    assert_string_equal(toolchain_find_clang(arena), plain);
    setenv("CLANG", "clang-99", 1);
    assert_null(toolchain_find_clang(arena));
    unsetenv("CLANG");
}

static void check_compiler(const char *asked, const char *preferred, const char *path, bool is_nvcc)
{
    struct toolchain_compiler found = toolchain_find_compiler(arena, asked, preferred);
    if (path)
        assert_string_equal(found.path, path);
    else
        assert_null(found.path);
    assert_int_equal(found.is_nvcc, is_nvcc);
}

static void compilers(void **state)
{
    char *nvcc = make_program("d/nvcc", "exit 0"), *clang = make_program("d/clang-19", "exit 0");
    setenv("NVCC", nvcc, 1);
    setenv("CLANG", clang, 1);
    check_compiler(NULL, "nvcc", nvcc, true);
    check_compiler(NULL, "clang", clang, false);
    check_compiler("nvcc", "clang", nvcc, true);
    check_compiler("clang", "nvcc", clang, false);
    setenv("NVCC", "/nowhere/nvcc", 1);
    check_compiler(NULL, "nvcc", clang, false);
    check_compiler("nvcc", "nvcc", NULL, true);
    setenv("CLANG", "/nowhere/clang", 1);
    check_compiler(NULL, "nvcc", NULL, false);
    unsetenv("CLANG");
}

/* nvcc is not in its toolkit's folder but behind symbolic links, as in some distributions. It is
 * asked once in a process, so this is the one test of it, and comes before ptxas is looked for. */
static void toolkit(void **state)
{
    assert_true(host_make_folder(path_of("kit/bin"), NULL));
    assert_true(host_make_folder(path_of("kit/lib64"), NULL));
    assert_int_equal(symlink("kit", path_of("kit-link")), 0);
    char *script = lk_arena_printf(arena,
                                   "[ \"$1\" = --dryrun ] || exit 1\n"
                                   "echo '#$ _HERE_=%s' >&2\n"
                                   "echo '#$ TOP=%s/bin/..' >&2",
                                   path_of("e"), path_of("kit-link"));
    setenv("NVCC", make_program("e/nvcc", script), 1);
    assert_string_equal(toolchain_toolkit_folder(), path_of("kit"));
    assert_true(host_write_file(path_of("kit/lib64/libnvrtc.so.13"), "", 0, NULL));
    assert_string_equal(toolchain_find_nvrtc(arena), path_of("kit/lib64/libnvrtc.so.13"));
}

static void ptxas_order(void **state)
{
    setenv("PATH", path_of("f"), 1);
    assert_null(toolchain_find_ptxas(arena));
    char *on_path = make_program("f/ptxas", "exit 0");
    assert_string_equal(toolchain_find_ptxas(arena), on_path);
    char *in_kit = make_program("kit/bin/ptxas", "exit 0");
    assert_string_equal(toolchain_find_ptxas(arena), in_kit);
    char *beside = make_program("e/ptxas", "exit 0");
    assert_string_equal(toolchain_find_ptxas(arena), beside);
    setenv("NVCC", "/nowhere/nvcc", 1);
    assert_string_equal(toolchain_find_ptxas(arena), on_path);
}

/* The command's words with '|' around each. */
static char *ptx_command(bool is_nvcc, const char *arch)
{
    struct lk_list words = {0};
    struct lk_buf text = {0};
    struct toolchain_ptx ptx = {.compiler = {"/bin/compiler", is_nvcc},
                                .arch = arch,
                                .include = "/my headers",
                                .source = "k.cu",
                                .output = "k.ptx"};
    toolchain_ptx_command(arena, &ptx, &words);
    lk_buf_printf(&text, "|");
    for (size_t i = 0; i < words.count; i++)
        lk_buf_printf(&text, "%s|", words.items[i]);
    char *joined = lk_arena_printf(arena, "%s", text.data);
    lk_buf_free(&text);
    lk_list_free(&words);
    return joined;
}

static void check_words(const char *command, const char *begin, const char *const *expected)
{
    assert_memory_equal(command, begin, strlen(begin));
    assert_null(strchr(command, '{')); /* all marks are replaced */
    for (; *expected; expected++)
        if (!strstr(command, *expected))
            fail_msg("%s is not in %s", *expected, command);
}

/* The words that each compiler needs; ptx_command.def has the rest. */
static void ptx_commands(void **state)
{
    check_words(ptx_command(true, "90a"), "|/bin/compiler|",
                (const char *const[]){"|-ptx|", "|-O3|", "|-lineinfo|", "|-arch=compute_90a|",
                                      "|-I/my headers|", "|-o|k.ptx|k.cu|", NULL});
    check_words(ptx_command(false, "80"), "|/bin/compiler|-x|cuda|", (const char *const[]){NULL});
    check_words(ptx_command(false, "90a"), "|/bin/sh|/my headers/clang_ptx.sh|/bin/compiler|",
                (const char *const[]){"|-x|cuda|", "|--cuda-device-only|", "|-S|", "|-O3|",
                                      "|--cuda-gpu-arch=sm_90a|", "|-gline-tables-only|",
                                      "|-I/my headers|", "|-include|/my headers/cuda_names.h|",
                                      "|-o|k.ptx|k.cu|", NULL});
    assert_null(
        strstr(ptx_command(true, "90a"), "cuda_names.h")); /* nvcc knows the names by itself */
}

/* A stand-in that prints what ptxas prints, and counts how often it is asked. */
static void ptxas_answers(void **state)
{
    static const char script[] =
        "echo x >> '%s'\n"
        "case \"$*\" in *maxrregcount=64) ;; *maxrreg*) echo 'a limit' >&2; exit 1;; esac\n"
        "[ \"$4\" = -arch=sm_90a ] || { echo 'ptxas fatal: bad arch'; exit 1; }\n"
        "echo 'ptxas info    : 0 bytes gmem' >&2\n"
        "echo \"ptxas info    : Compiling entry function '$3' for 'sm_90a'\" >&2\n"
        "if [ \"$2 $3\" = '-e _Z3addPf' ]; then\n"
        "echo '    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'\n"
        "echo 'ptxas info    : Used 12 registers, used 0 barriers, 360 bytes cmem[0]'\n"
        "elif [ \"$2 $3\" = '-e spills' ]; then\n"
        "echo '    1024 bytes stack frame, 1412 bytes spill stores, 1500 bytes spill loads'\n"
        "echo 'ptxas info    : Used 255 registers, used 1 barriers'\n"
        "echo 'ptxas info    : Function properties for called'\n"
        "echo '    0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads'\n"
        "fi >&2";
    struct ptxas_answer answer;
    char *asked = path_of("asked");
    setenv("XDG_CACHE_HOME", path_of("cache"), 1);
    make_program("f/ptxas", lk_arena_printf(arena, script, asked));
    set_path("f");
    setenv("NVCC", "/nowhere/nvcc", 1);
    for (int i = 0; i < 2; i++) {
        assert_true(ptxas_ask(arena, ".version 8.0", "_Z3addPf", "90a", 0, &answer));
        assert_int_equal(answer.registers, 12);
        assert_int_equal(answer.spill_bytes, 0);
        assert_true(ptxas_ask(arena, ".version 8.0", "spills", "90a", 0, &answer));
        assert_int_equal(answer.registers, 255);
        assert_int_equal(answer.spill_bytes, 1412); /* not those of the function it calls */
    }
    char *times = host_read_text(asked, NULL);
    assert_string_equal(times, "x\nx\n"); /* the second answers came from the cache */
    free(times);
    ptxas_ask(arena, ".version 8.1", "spills", "90a", 0, &answer);
    ptxas_ask(arena, ".version 8.1", "spills", "90a", 64, &answer);
    assert_false(ptxas_ask(arena, ".version 8.1", "spills", "80", 0, &answer)); /* it refuses */
    assert_false(ptxas_ask(arena, ".version 8.1", "unknown", "90a", 0, &answer));
    times = host_read_text(asked, NULL);
    assert_string_equal(times, "x\nx\nx\nx\nx\nx\n"); /* each is another question */
    free(times);
}

/* The only answer of a cache of its own. */
static char *kept_answer(const char *cache)
{
    glob_t found;
    assert_int_equal(
        glob(lk_arena_printf(arena, "%s/lockstep/run/ptxas.*", cache), 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    char *path = lk_arena_printf(arena, "%s", found.gl_pathv[0]);
    globfree(&found);
    return path;
}

/* A damaged answer is asked for again: cut off, changed in a digit, empty. */
static void ptxas_answers_damaged(void **state)
{
    static const char script[] = "echo \"Compiling entry function 'k' for 'sm_90'\" >&2\n"
                                 "echo 'ptxas info    : Used 40 registers' >&2";
    char *cache = path_of("damaged-cache");
    struct ptxas_answer answer;
    setenv("XDG_CACHE_HOME", cache, 1);
    make_program("g/ptxas", script);
    set_path("g");
    setenv("NVCC", "/nowhere/nvcc", 1);
    assert_true(host_write_file(path_of("k.ptx"), ".version 8.2", 12, NULL));
    for (int how = 0; how < 4; how++) {
        assert_true(ptxas_ask(arena, path_of("k.ptx"), "k", "90", 255, &answer));
        assert_int_equal(answer.registers, 40);
        char *path = kept_answer(cache), *text = host_read_text(path, NULL);
        size_t size = strlen(text);
        char *digits = strstr(text, "Used 40");
        assert_non_null(digits);
        if (how == 0)
            size = 0;
        else if (how == 1)
            size -= 12; /* "4" is all that is left of the number, or less */
        else if (how == 2)
            digits[5] = '9';
        else
            text[0] = text[0] == '0' ? '1' : '0';
        assert_true(host_write_file(path, text, size, NULL));
        free(text);
    }
    assert_true(ptxas_ask(arena, path_of("k.ptx"), "k", "90", 255, &answer));
    assert_int_equal(answer.registers, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nvcc_order),    cmocka_unit_test(clang_order),
        cmocka_unit_test(compilers),     cmocka_unit_test(toolkit),
        cmocka_unit_test(ptxas_order),   cmocka_unit_test(ptx_commands),
        cmocka_unit_test(ptxas_answers), cmocka_unit_test(ptxas_answers_damaged),
    };
    return cmocka_run_group_tests(tests, folder_set_up, folder_tear_down);
}
