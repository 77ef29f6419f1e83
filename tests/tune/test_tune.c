/*
 * test_tune.c: the parts of 'lockstep tune': sources with other values, compilers that work, fail
 * or are not there, and the table that is written. The GPU is made up; tests/zoo/run.sh runs
 * searches.
 */
#include "tune/tune.h"
#include "zoo/table.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct zoo_family zoo_reduction;

static char folder[64] = "/tmp/lockstep-test-XXXXXX";

static const struct zoo_variant *variant_of(const char *name)
{
    const struct zoo_variant *variant = zoo_find_variant(&zoo_reduction, name);
    assert_non_null(variant);
    return variant;
}

static unsigned count_text(const char *text, const char *part)
{
    unsigned count = 0;
    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

/* Nothing but the values changes, and the values that are there change nothing. */
static void rewriting(void **state)
{
    for (size_t i = 0; zoo_families[i]; i++)
        for (const struct zoo_variant *variant = zoo_families[i]->variants; variant->name;
             variant++) {
            const struct zoo_source *source = zoo_source(zoo_families[i], variant);
            if (!source)
                continue;
            struct zoo_tuning tuning = zoo_tuning_normal(source);
            struct lk_buf text = {0};
            tune_rewrite(source, &tuning, &text);
            assert_string_equal(text.data, source->text);
            lk_buf_free(&text);
            for (unsigned k = 0; k < source->written_count; k++) {
                char line[64];
                tuning.value[k] = 98760 + (int)k;
                snprintf(line, sizeof line, "#define %s %d // tune:", source->tunables[k].name,
                         tuning.value[k]);
                tune_rewrite(source, &tuning, &text);
                assert_int_equal(count_text(text.data, line), 1);
                lk_buf_free(&text);
            }
        }
}

/* A script in place of a compiler. It runs in the folder of the source. */
static struct toolchain_compiler fake(const char *name, const char *script)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
    return (struct toolchain_compiler){.path = path, .is_nvcc = true};
}

/* Several jobs of one variant with BLOCK from 1 on. */
static void compile(const struct toolchain_compiler *compiler, struct tune_job *jobs, size_t count)
{
    char *message;
    struct tune_workshop *workshop = tune_workshop_open(compiler, &message);
    assert_non_null(workshop);
    for (size_t i = 0; i < count; i++) {
        jobs[i] = (struct tune_job){.family = &zoo_reduction, .variant = variant_of("sequential")};
        jobs[i].tuning.value[0] = (int)i + 1;
    }
    tune_compile(workshop, jobs, count, 3);
    tune_workshop_close(workshop);
}

static void free_jobs(struct tune_job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(jobs[i].ptx);
        free(jobs[i].message);
    }
}

static void compiling(void **state)
{
    struct tune_job jobs[7];
    /* The rewritten source and all its headers are there. */
    struct toolchain_compiler works =
        fake("works", "test -f ../include/device.h && test -f sums.h && "
                      "grep '^#define BLOCK' sequential.cu > out.ptx");
    compile(&works, jobs, 7);
    for (int i = 0; i < 7; i++) {
        char line[32];
        snprintf(line, sizeof line, "#define BLOCK %d //", i + 1);
        assert_non_null(jobs[i].ptx);
        assert_non_null(strstr(jobs[i].ptx, line));
        assert_null(jobs[i].message);
    }
    free_jobs(jobs, 7);
    struct toolchain_compiler some =
        fake("some", "grep -q 'BLOCK 2 ' sequential.cu && echo 'BLOCK 2 is bad' && exit 1; "
                     "echo x > out.ptx");
    compile(&some, jobs, 3);
    assert_true(jobs[0].ptx && !jobs[1].ptx && jobs[2].ptx);
    assert_string_equal(jobs[1].message, "BLOCK 2 is bad\n");
    free_jobs(jobs, 3);
    struct toolchain_compiler silent = fake("silent", "exit 0"); /* and writes nothing */
    compile(&silent, jobs, 1);
    assert_null(jobs[0].ptx);
    assert_non_null(strstr(jobs[0].message, "wrote no PTX"));
    free_jobs(jobs, 1);
    struct toolchain_compiler missing = {.path = "/nowhere/nvcc", .is_nvcc = true};
    compile(&missing, jobs, 2);
    assert_true(!jobs[0].ptx && !jobs[1].ptx && jobs[1].message);
    assert_string_equal(jobs[0].message, "/nowhere/nvcc did not start");
    free_jobs(jobs, 2);
    struct toolchain_compiler killed = fake("killed", "kill -9 $$");
    compile(&killed, jobs, 1);
    assert_null(jobs[0].ptx);
    free_jobs(jobs, 1);
}

/* Nothing is left in the temporary folder, and one that is not there is reported. */
static void workshops_are_cleared(void **state)
{
    char pattern[128], *message;
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/lockstep-tune-*", folder);
    assert_int_equal(glob(pattern, 0, NULL, &found), GLOB_NOMATCH);
    setenv("TMPDIR", "/nowhere", 1);
    struct toolchain_compiler compiler = {.path = "/bin/true"};
    assert_null(tune_workshop_open(&compiler, &message));
    assert_non_null(strstr(message, "set TMPDIR"));
    free(message);
    setenv("TMPDIR", folder, 1);
}

/* Writing ---------------------------------------------------------------------------------------*/

static CUresult version(int *number)
{
    *number = 13000;
    return CUDA_SUCCESS;
}

static const struct lk_driver driver = {.cuDriverGetVersion = version};
static const struct zoo_device device = {.cuda = &driver, .name = "Test GPU", .arch = 90};

/* Writes one row: sequential with this BLOCK for n numbers. */
static void write_row(const char *path, int64_t n, int block, double seconds)
{
    const struct zoo_variant *variant = variant_of("sequential");
    struct zoo_problem problem = zoo_problem_normal(&zoo_reduction);
    struct tune_request request = {.family = &zoo_reduction, .problems = &problem, .count = 1};
    char ptx[] = "some ptx", *message;
    struct tune_row row = {.variant = variant,
                           .tuning = {.value = {block}},
                           .normal = block == 256,
                           .ptx = ptx,
                           .seconds = seconds,
                           .normal_variant = variant,
                           .normal_seconds = 2 * seconds};
    problem.value[0] = n;
    row.problem = problem;
    if (!tune_write(&device, &request, &row, path, &message))
        fail_msg("%s", message);
}

static void expect_choice(const char *path, int64_t n, int block, const char *ptx)
{
    struct zoo_table table = {0};
    struct zoo_choice choice;
    struct zoo_problem problem = zoo_problem_normal(&zoo_reduction);
    char text[20000];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    zoo_table_add(&table, &device, ZOO_THIS_GPU, text, size, path, folder);
    if (table.remarks.size)
        fail_msg("%s", table.remarks.data);
    problem.value[0] = n;
    assert_true(zoo_choose(&table, &device, &problem, (struct zoo_demand){0}, &choice));
    assert_non_null(choice.row);
    assert_string_equal(choice.variant->name, "sequential");
    assert_int_equal(choice.tuning.value[0], block);
    if (ptx)
        assert_non_null(strstr(choice.row->ptx, ptx));
    else
        assert_null(choice.row->ptx);
    zoo_table_free(&table);
}

/* What is written is what is read; other rows stay, the same problem is replaced. */
static void writing(void **state)
{
    char path[128];
    snprintf(path, sizeof path, "%s/table.json", folder);
    write_row(path, 1 << 10, 128, 1e-6);
    expect_choice(path, 1 << 10, 128, "/reduction-sequential-BLOCK128-");
    write_row(path, 1 << 20, 256, 2e-6);
    expect_choice(path, 1 << 20, 256, NULL);
    expect_choice(path, 1 << 10, 128, "BLOCK128");
    write_row(path, 1 << 10, 64, 1e-6);
    expect_choice(path, 1 << 10, 64, "BLOCK64");
    expect_choice(path, 1 << 20, 256, NULL);
    FILE *file = fopen(path, "w"); /* something else lies there: it is replaced */
    fputs("{\"format\": \"another\"}", file);
    fclose(file);
    write_row(path, 1 << 10, 512, 1e-6);
    expect_choice(path, 1 << 10, 512, "BLOCK512");
}

static int make_folder(void **state)
{
    return mkdtemp(folder) && setenv("TMPDIR", folder, 1) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rewriting),
        cmocka_unit_test(compiling),
        cmocka_unit_test(workshops_are_cleared),
        cmocka_unit_test(writing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
