/*
 * test_report.c: names, units, the roofline's arithmetic, and reading of counters' files, whole and
 * broken.
 */
#include "base/text.h"
#include "report/advice.h"
#include "report/report.h"
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
#include <unistd.h>

static void units(void **state)
{
    char buf[REPORT_UNIT];
    assert_string_equal(report_seconds(buf, 3.4e-6), "3.40 us");
    assert_string_equal(report_seconds(buf, 0), "0 ns");
    assert_string_equal(report_seconds(buf, 12.3), "12.3 s");
    assert_string_equal(report_bytes(buf, 16384), "16 KiB");
    assert_string_equal(report_bytes(buf, 100), "100 B");
    assert_string_equal(report_count(buf, 1234567), "1.23 M");
    assert_string_equal(report_count(buf, 7), "7");
}

static void roofline(void **state)
{
    const struct gpu_info *gpu = gpu_find("h200");
    struct report_roofline r = report_roofline(gpu, 12e6, 1e6, 4e-6, gpu->f32_tflops);
    assert_true(r.memory_bound);
    assert_true(fabs(r.fraction - 12e6 / 4.8e12 / 4e-6) < 1e-9);
    assert_true(fabs(r.intensity - 1.0 / 12) < 1e-9);
    r = report_roofline(gpu, 1e6, 1e12, 1, gpu->f32_tflops);
    assert_false(r.memory_bound);
    assert_true(r.by > 1 && r.intensity > r.ridge);
    r = report_roofline(gpu, 0, 1e9, 0, gpu->f32_tflops);
    assert_false(r.memory_bound);
    assert_true(isinf(r.by) && r.fraction == 0);
}

/* Reading ---------------------------------------------------------------------------------------*/

#define KERNEL                                                                                     \
    "{\"kernel\":\"1.1\",\"name\":\"_Z1kILi4EEvPf\",\"registers\":20,\"static_shared\":0,"         \
    "\"local_bytes\":0,\"target\":90,\"files\":[\"\",\"/absent/a.cu\"],\"insts\":["                \
    "[10,1,0,1,0,1,1,0,\"add.s32\",[1,5]],[],[11,10,2,64,4,1,0,0,\"st.global.f32\",[1,6]],"        \
    "[12,12,0,0,0,1,0,0,\"bra\",[]]]}\n"
/* @ stands for the columns of a memory space, which profile_columns.def lists. */
#define LAUNCH                                                                                     \
    "{\"launch\":\"1.1\",\"gpu\":\"h200\",\"grid\":[10,1,1],\"block\":[64,1,1],"                   \
    "\"dynamic_shared\":256,\"counters\":{\"warp_instructions\":60,\"global_store_sectors\":640}," \
    "\"insts\":[[0,20,640,640,0,0,0],[2,20,640,640,0,0,0,[0@]],[3,20,640,320,5,0,7]]}\n"

static void add_columns(struct lk_buf *out)
{
#define MEMORY(name)                                                                               \
    lk_buf_printf(out, ",%d", strcmp(#name, "stride") == 0 ? 4096 : (int)strlen(#name));
#include "gpu/profile_columns.def"
}

static struct profile *read_text(const char *text, const struct profile_filter *filter,
                                 char **message)
{
    char path[] = "/tmp/lockstep.test.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    struct lk_buf whole = {0};
    for (const char *at = text; *at; at++) {
        if (*at == '@')
            add_columns(&whole);
        else
            lk_buf_add(&whole, at, 1);
    }
    assert_int_equal(write(fd, whole.data ? whole.data : "", whole.size), (ssize_t)whole.size);
    close(fd);
    lk_buf_free(&whole);
    *message = NULL;
    struct profile *profile = profile_read(path, filter, message);
    unlink(path);
    return profile;
}

static void a_file_is_read(void **state)
{
    char *message;
    struct profile *profile =
        read_text(KERNEL LAUNCH LAUNCH "{\"launch\":\"1.1\",\"gp", NULL, &message);
    assert_non_null(profile);
    assert_int_equal(profile->launch_count, 2);
    const struct profile_launch *launch = profile->launches[1];
    assert_int_equal(launch->number, 1);
    assert_string_equal(launch->kernel->name, "k<4>");
    assert_int_equal(launch->counters.global_store_sectors, 640);
    assert_int_equal(launch->inst_count, 3);
    assert_int_equal(launch->insts[1].memory[GPU_SPACE_GLOBAL]->stride, 4096);
    assert_int_equal(launch->insts[1].memory[GPU_SPACE_GLOBAL]->sectors, strlen("sectors"));
    assert_int_equal(launch->insts[0].code->slots, 1);
    assert_int_equal(launch->insts[0].code->load_phases, 1);
    assert_int_equal(launch->insts[2].idle, 7);
    assert_string_equal(launch->insts[0].code->source->path, "/absent/a.cu");
    assert_int_equal(launch->insts[0].code->source->owner, PROFILE_LIBRARY);
    profile_evaluate(profile);
    advice_find(profile);
    assert_int_equal(launch->shape.threads, 64);
    assert_int_equal(launch->shape.shared, 256);
    assert_int_equal(launch->line_count, 3);
    double issue = 0;
    for (unsigned i = 0; i < launch->line_count; i++)
        issue += launch->lines[i].issue;
    assert_true(fabs(issue - 1) < 1e-9);
    assert_true(profile_same(profile->launches[0], launch));
    profile_free(profile);
}

static void a_trace_is_read(void **state)
{
    char *message;
    struct profile *profile =
        read_text(KERNEL LAUNCH "{\"trace\":[[1,2,3,15,5,\"branch\"],"
                                "[1,2,2,15,3,\"store\",\"global\",8,[4096,4104]],"
                                "[0,0,99,1,1,\"branch\"]],\"dropped\":9}\n",
                  NULL, &message);
    const struct profile_launch *launch = profile->launches[0];
    assert_int_equal(launch->trace_count, 2);
    assert_int_equal(launch->trace_dropped, 9);
    const struct profile_record *branch = &launch->trace[0], *store = &launch->trace[1];
    assert_int_equal(branch->block, 1);
    assert_int_equal(branch->warp, 2);
    assert_int_equal(branch->mask, 5);
    assert_null(branch->space);
    assert_false(profile_is_in(branch, GPU_SPACE_GLOBAL));
    assert_true(profile_is_in(store, GPU_SPACE_GLOBAL));
    assert_string_equal(store->kind, "store");
    assert_string_equal(store->code->text, "st.global.f32");
    assert_int_equal(store->bytes, 8);
    assert_int_equal(store->addresses[1], 4104);
    profile_free(profile);
}

/* Which instruction a counter is due to. */
static void parts_of_counters(void **state)
{
    char *message;
    struct profile *profile = read_text(KERNEL LAUNCH, NULL, &message);
    const struct profile_inst *add = &profile->launches[0]->insts[0], *store = add + 1;
    static const struct {
        const char *name;
        double add, store;
    } wanted[] = {{"warp_instructions", 20, 20},
                  {"integer_warps", 20, 0},
                  {"f32_warps", 0, 0},
                  {"global_store_sectors", 0, sizeof "sectors" - 1},
                  {"global_store_requests", 0, sizeof "requests" - 1},
                  {"global_load_sectors", 0, 0},
                  {"global_atom_sectors", 0, 0},
                  {"shared_conflicts", 0, 0}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        unsigned counter = 0;
        while (strcmp(gpu_counter_infos[counter].name, wanted[i].name) != 0)
            assert_true(++counter < gpu_counter_count);
        const struct gpu_counter_part *part = &gpu_counter_infos[counter].part;
        assert_true(profile_part(part, add) == wanted[i].add);
        assert_true(profile_part(part, store) == wanted[i].store);
    }
    profile_free(profile);
}

static void launches_are_chosen(void **state)
{
    char *message;
    struct profile_filter second = {NULL, 1}, other = {"absent", -1}, part = {"k", -1};
    struct profile *profile = read_text(KERNEL LAUNCH LAUNCH, &second, &message);
    assert_int_equal(profile->launch_count, 1);
    assert_int_equal(profile->launches[0]->number, 1);
    profile_free(profile);
    profile = read_text(KERNEL LAUNCH, &other, &message);
    assert_int_equal(profile->launch_count, 0);
    profile_free(profile);
    profile = read_text(KERNEL LAUNCH, &part, &message);
    assert_int_equal(profile->launch_count, 1);
    profile_free(profile);
}

static void broken_files_are_refused(void **state)
{
    static const char *const texts[] = {"not JSON\n", LAUNCH, "{\"kernel\":\"1.1\"}\n",
                                        KERNEL "{\"launch\":\"1.1\",\"gpu\":\"none\"}\n",
                                        KERNEL "{\"launch\":1}\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *message;
        assert_null(read_text(texts[i], NULL, &message));
        assert_non_null(message);
        free(message);
    }
    char *message = NULL;
    assert_null(profile_read("/absent/counters", NULL, &message));
    free(message);
}

/* Numbers out of range and wrong types do not lead out of arrays. */
static void odd_files_do_no_harm(void **state)
{
    static const char *const texts[] = {
        KERNEL
        "{\"launch\":\"1.1\",\"gpu\":\"h200\",\"insts\":[[99,1,1,1,0,0],[-1],7,[1,1],[0,1,1,1,"
        "0,0,0,[9,1],[0],3],\"x\"],\"grid\":3}\n",
        KERNEL
        "{\"launch\":\"1.1\",\"gpu\":\"h200\"}\n{\"trace\":[[0,0,99],[],3,[0,0,2,1,1,\"store\","
        "\"nowhere\",4,7],[0,0,2,1,1,\"branch\"]],\"dropped\":1}\n",
        ("{\"kernel\":\"1.1\",\"name\":\"k\",\"insts\":[[1,99,99,4,7,[9,9]],3,[1,2]],\"files\":3}\n"
         "{\"launch\":\"1.1\",\"gpu\":\"t4\",\"insts\":[[0,1,1,1,0,0]]}\n"),
        "{}\n", ""};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *message;
        struct profile *profile = read_text(texts[i], NULL, &message);
        assert_non_null(profile);
        struct report_run run = {"odd", 0};
        struct report_paint paint = {"", "", "", "", "", ""};
        struct lk_buf page = {0};
        FILE *nowhere = fopen("/dev/null", "w");
        profile_evaluate(profile);
        advice_find(profile);
        report_profile_text(nowhere, &paint, profile);
        report_profile_html(&page, profile, &run);
        json_decref(report_profile_json(profile, &run));
        json_decref(report_trace_json(profile));
        fclose(nowhere);
        lk_buf_free(&page);
        profile_free(profile);
    }
}

static void pictures(void **state)
{
    struct svg_access access = {.mask = 0xffffffff, .bytes = 4};
    struct lk_buf out = {0};
    for (unsigned lane = 0; lane < 32; lane++)
        access.addresses[lane] = 0x1000 + lane * 128;
    svg_global(&out, &access);
    assert_non_null(strstr(out.data, "32 sectors in 32 lines"));
    svg_shared(&out, &access);
    assert_non_null(strstr(out.data, "asked for 32 words"));
    access.bytes = 16;
    svg_global(&out, &access);
    access.mask = 0;
    svg_global(&out, &access);
    svg_shared(&out, &access);
    out.size = 0;
    lk_buf_html(&out, "a<b>&\"c\"");
    assert_string_equal(out.data, "a&lt;b&gt;&amp;&quot;c&quot;");
    lk_buf_free(&out);
}

static void comparisons(void **state)
{
    json_t *a = json_loads("{\"gpu\":\"sim:h200\",\"kernels\":[{\"name\":\"x\",\"time_us\":4,"
                           "\"counters\":{\"n\":1000,\"m\":5}},{\"name\":\"y\",\"time_us\":2}]}",
                           0, NULL);
    json_t *b = json_loads("{\"gpu\":\"sim:h200\",\"kernels\":[{\"name\":\"z\",\"time_us\":1},"
                           "{\"name\":\"x\",\"time_us\":2,\"counters\":{\"n\":500,\"m\":5}},"
                           "{\"name\":\"w\",\"time_us\":1}]}",
                           0, NULL);
    const char *both[2] = {"a", "b"};
    json_t *const reports[2] = {a, b};
    json_t *result = report_compare_json(both, reports);
    json_t *pairs = json_object_get(result, "kernels"), *first = json_array_get(pairs, 0);
    assert_int_equal(json_array_size(pairs), 3);
    assert_true(json_number_value(json_object_get(first, "speedup")) == 2);
    assert_int_equal(json_object_size(json_object_get(first, "counters")), 1);
    json_t *names_of = json_object_get(json_array_get(pairs, 1), "name");
    assert_string_equal(json_string_value(json_array_get(names_of, 0)), "y");
    assert_string_equal(json_string_value(json_array_get(names_of, 1)), "z");
    json_decref(result);
    json_decref(a);
    json_decref(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units),
        cmocka_unit_test(roofline),
        cmocka_unit_test(a_file_is_read),
        cmocka_unit_test(a_trace_is_read),
        cmocka_unit_test(parts_of_counters),
        cmocka_unit_test(launches_are_chosen),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(odd_files_do_no_harm),
        cmocka_unit_test(pictures),
        cmocka_unit_test(comparisons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
