/*
 * test_findings.c: the checker's file read: counts join their errors, remarks are separate, and the
 * caller chooses what an allocation is called.
 */
#include "report/check.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char file[] =
    "{\"id\":7,\"kind\":\"out_of_bounds\",\"space\":\"global\",\"address\":\"0x40\","
    "\"allocation\":{\"number\":2,\"address\":\"0x20\",\"bytes\":32},\"kernel\":\"k\","
    "\"block\":[1,0,0],\"thread\":[31,2,0],\"text\":\"read past the end of {allocation}, twice\"}\n"
    "{\"id\":8,\"kind\":\"timeout\",\"limit\":500,\"kernel\":\"k\",\"text\":\"endless "
    "{allocation}\"}\n"
    "{\"kind\":\"leak\",\"allocation\":{\"number\":1,\"address\":\"0x0\",\"bytes\":4},"
    "\"text\":\"leak: {allocation} was never freed\",\"callers\":[]}\n"
    "{\"id\":7,\"count\":5}\n"
    "{\"id\":9,\"cou";

static struct check_findings read_findings(const struct check_names *names)
{
    struct check_findings findings;
    char path[] = "/tmp/lockstep.test.XXXXXX", *message = NULL;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, file, sizeof file - 1), (ssize_t)sizeof file - 1);
    close(fd);
    assert_true(check_read(path, NULL, names, &findings, &message));
    unlink(path);
    return findings;
}

static const char *text_of(const json_t *finding)
{
    return json_string_value(json_object_get(finding, "text"));
}

static void fields_are_read(void **state)
{
    struct check_findings findings = read_findings(NULL);
    assert_int_equal(json_array_size(findings.errors), 2);
    assert_int_equal(json_array_size(findings.remarks), 1);
    const json_t *error = json_array_get(findings.errors, 0);
    assert_int_equal(finding_kind(error), FINDING_OUT_OF_BOUNDS);
    assert_string_equal(json_string_value(json_object_get(error, "severity")), "error");
    const json_t *remark = json_array_get(findings.remarks, 0);
    assert_string_equal(json_string_value(json_object_get(remark, "severity")), "remark");
    assert_int_equal(json_integer_value(json_object_get(error, "count")), 5);
    assert_string_equal(text_of(error), "read past the end of allocation #2 of 32 bytes, twice");
    struct lk_buf where = {0};
    finding_put_thread(&where, error);
    assert_string_equal(where.data, ", block (1,0,0), thread (31,2,0)");
    lk_buf_free(&where);
    /* Where no allocation is given, none is named. */
    assert_string_equal(text_of(json_array_get(findings.errors, 1)), "endless {allocation}");
    assert_string_equal(text_of(json_array_get(findings.remarks, 0)),
                        "leak: allocation #1 of 4 bytes was never freed");
    check_free(&findings);
}

/* Only the second has a name of its own. */
static char *name(void *context, unsigned number, uint64_t bytes)
{
    return number == 2 ? lk_format("%s (%u bytes)", (const char *)context, (unsigned)bytes) : NULL;
}

static void allocations_have_names(void **state)
{
    struct check_names names = {name, (void *)"b"};
    struct check_findings findings = read_findings(&names);
    assert_string_equal(text_of(json_array_get(findings.errors, 0)),
                        "read past the end of b (32 bytes), twice");
    assert_string_equal(text_of(json_array_get(findings.remarks, 0)),
                        "leak: allocation #1 of 4 bytes was never freed");
    check_free(&findings);
}

static void findings_are_printed(void **state)
{
    struct check_findings findings = read_findings(NULL);
    struct report_paint paint = {"", "", "", "", "", ""};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    report_findings_text(out, &paint, &findings, 0);
    fclose(out);
    assert_non_null(strstr(text, "in kernel k, block (1,0,0), thread (31,2,0)\n"));
    assert_non_null(strstr(text, "and 4 times more\n"));
    assert_non_null(strstr(text, "--limit N"));
    assert_non_null(strstr(text, "remark: leak:"));
    assert_non_null(strstr(text, "\n2 errors\n"));
    free(text);
    json_t *all = report_findings_json(&findings);
    assert_int_equal(json_array_size(json_object_get(all, "errors")), 2);
    json_decref(all);
    check_free(&findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read),
        cmocka_unit_test(allocations_have_names),
        cmocka_unit_test(findings_are_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
