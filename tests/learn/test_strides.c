/*
 * test_strides.c: shapes, strides and copies, against facts of NumPy and PyTorch: what permuted,
 * sliced and reshaped tensors have there, and where a copy is made.
 */
#include "learn/strides.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h comes last: it needs the ones above. */
#include <cmocka.h>

static void print(const struct strides_tensor *tensor, char text[256])
{
    int length = 0;
    for (unsigned i = 0; i < tensor->rank; i++)
        length += snprintf(text + length, 256 - (size_t)length, "%s%lld", i ? "," : "",
                           (long long)tensor->shape[i]);
    for (unsigned i = 0; i < tensor->rank; i++)
        length += snprintf(text + length, 256 - (size_t)length, "%s%lld", i ? "," : " / ",
                           (long long)tensor->stride[i]);
    snprintf(text + length, 256 - (size_t)length, " +%lld %s", (long long)tensor->offset,
             strides_is_contiguous(tensor) ? "yes" : "no");
}

/* Words are set apart by blanks: a shape, then operations with their values. The result is
 * "shape / strides +offset contiguous how", with how that of the last operation. */
static const struct {
    const char *words, *result;
} rows[] = {
    {"2,3,4", "2,3,4 / 12,4,1 +0 yes view"},
    {"7", "7 / 1 +0 yes view"},
    {"1,1,1", "1,1,1 / 1,1,1 +0 yes view"},
    /* permute and transpose */
    {"2,3,4 permute 2,0,1", "4,2,3 / 1,12,4 +0 no view"},
    {"2,3,4 permute 0,1,2", "2,3,4 / 12,4,1 +0 yes view"},
    {"2,3,4 permute -1,0,1", "4,2,3 / 1,12,4 +0 no view"},
    {"2,3 transpose 0,1", "3,2 / 1,3 +0 no view"},
    {"2,3 transpose 0,1 transpose -1,-2", "2,3 / 3,1 +0 yes view"},
    {"1,5 transpose 0,1", "5,1 / 1,5 +0 yes view"}, /* size 1: its stride does not matter */
    /* reshape of what lies row by row */
    {"2,3,4 reshape 6,4", "6,4 / 4,1 +0 yes view"},
    {"2,3,4 reshape -1", "24 / 1 +0 yes view"},
    {"2,3,4 reshape 4,-1,2", "4,3,2 / 6,2,1 +0 yes view"},
    {"6 reshape 1,6,1", "1,6,1 / 6,1,1 +0 yes view"},
    /* reshape of what does not */
    {"2,3,4 permute 2,0,1 reshape 6,4", "6,4 / 4,1 +0 yes copy"},
    {"2,3,4 permute 2,0,1 reshape 4,6", "4,6 / 1,4 +0 no view"}, /* 2 x 3 is still one walk */
    {"2,3,4 permute 1,2,0 reshape 12,2", "12,2 / 1,12 +0 no view"},
    {"2,3,4 permute 1,0,2 reshape 6,4", "6,4 / 4,1 +0 yes copy"},
    {"2,3 transpose 0,1 reshape 6", "6 / 1 +0 yes copy"},
    {"2,3 transpose 0,1 reshape 3,1,2", "3,1,2 / 1,6,3 +0 no view"},
    {"2,3 transpose 0,1 reshape 3,2,1", "3,2,1 / 1,3,3 +0 no view"},
    {"2,3 transpose 0,1 reshape 1,3,2", "1,3,2 / 3,1,3 +0 no view"},
    {"4,6 transpose 0,1 reshape 2,3,4", "2,3,4 / 3,1,6 +0 no view"},
    {"4,6 transpose 0,1 reshape 3,2,2,2", "3,2,2,2 / 2,1,12,6 +0 no view"},
    {"4,6 transpose 0,1 reshape 8,3", "8,3 / 3,1 +0 yes copy"},
    {"3,1,4 permute 1,0,2 reshape 12", "12 / 1 +0 yes view"},
    {"3,1,4 permute 2,1,0 reshape 4,3", "4,3 / 1,4 +0 no view"},
    /* slices */
    {"10 slice ::2", "5 / 2 +0 no view"},
    {"10 slice 1::2", "5 / 2 +1 no view"},
    {"10 slice ::2 reshape 5,1", "5,1 / 2,2 +0 no view"},
    {"10 slice ::2 reshape -1,5", "1,5 / 10,2 +0 no view"},
    {"12 slice ::2 reshape 2,3", "2,3 / 6,2 +0 no view"},
    {"10 slice 3:7", "4 / 1 +3 yes view"},
    {"10 slice -3:", "3 / 1 +7 yes view"},
    {"10 slice ::-1", "10 / -1 +9 no view"},
    {"10 slice ::-1 reshape 2,5", "2,5 / -5,-1 +9 no view"},
    {"10 slice 7:2:-2", "3 / -2 +7 no view"},
    {"10 slice 5:5", "0 / 1 +0 yes view"},
    {"10 slice 4:100", "6 / 1 +4 yes view"},
    {"4,6 slice :,0", "4 / 6 +0 no view"},
    {"4,6 slice 1", "6 / 1 +6 yes view"},
    {"4,6 slice -1,-1:", "1 / 1 +23 yes view"},
    {"4,6 slice :,:3", "4,3 / 6,1 +0 no view"},
    {"4,6 slice :,:3 reshape 12", "12 / 1 +0 yes copy"},
    {"4,6 slice :,:3 reshape 2,2,3", "2,2,3 / 12,6,1 +0 no view"},
    {"4,6 slice 1:3 reshape 12", "12 / 1 +6 yes view"}, /* whole rows: no gap */
    {"4,6 slice ::2,::3 reshape 2,1,2", "2,1,2 / 12,6,3 +0 no view"},
    {"4,6 slice ::2 contiguous", "2,6 / 6,1 +0 yes copy"},
    {"4,6 contiguous", "4,6 / 6,1 +0 yes view"},
    {"2,3,4 permute 2,0,1 contiguous reshape 6,4", "6,4 / 4,1 +0 yes view"},
    /* no elements */
    {"2,0,3", "2,0,3 / 3,3,1 +0 yes view"},
    {"2,0,3 permute 2,1,0", "3,0,2 / 1,3,3 +0 yes view"},
    {"2,0,3 reshape 0", "0 / 1 +0 yes view"},
    {"2,0,3 reshape 5,0", "5,0 / 1,1 +0 yes view"},
    {"2,0,3 reshape -1,3", "0,3 / 3,1 +0 yes view"},
    /* PyTorch's view() */
    {"2,3,4 view 6,4", "6,4 / 4,1 +0 yes view"},
    {"2,3 transpose 0,1 view 6", "3,2 / 1,3 +0 no refused"},
};

/* Applies all words; what is wrong with them, or NULL. */
static char *apply(char *words, struct strides_step *step)
{
    char *message = NULL, *place, *shape = strtok_r(words, " ", &place);
    *step = (struct strides_step){0};
    if (!strides_read_shape(shape, &step->tensor, &message))
        return message;
    for (char *word; (word = strtok_r(NULL, " ", &place));) {
        bool takes = false;
        struct strides_tensor from = step->tensor;
        strides_is_operation(word, &takes);
        char *value = takes ? strtok_r(NULL, " ", &place) : NULL;
        free(step->why);
        step->why = NULL;
        if (!strides_apply(&from, word, value, step, &message)) {
            assert_null(step->why);
            return message;
        }
        assert_non_null(step->why);
    }
    return NULL;
}

static void test_facts(void **unused)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct strides_step step;
        char text[256], all[300], *words = strdup(rows[i].words);
        assert_null(apply(words, &step));
        print(&step.tensor, text);
        snprintf(all, sizeof all, "%s %s", text, strides_way_names[step.way]);
        if (strcmp(all, rows[i].result) != 0)
            fail_msg("%s: %s, and not %s", rows[i].words, all, rows[i].result);
        free(step.why);
        free(words);
    }
}

/* The reason names the two strides that do not fit. */
static void test_reason(void **unused)
{
    struct strides_step step;
    char words[] = "2,3,4 permute 2,0,1 reshape 6,4";
    assert_null(apply(words, &step));
    assert_non_null(strstr(step.why, "4 x 2 (strides 1, 12)"));
    assert_non_null(strstr(step.why, "2 x 12 = 24 is needed, and the stride is 1"));
    free(step.why);
}

static void test_refused(void **unused)
{
    static const struct {
        const char *words, *says;
    } bad[] = {{"2,x", "whole numbers"},
               {"2,,3", "whole numbers"},
               {"2,3,", "whole numbers"},
               {"-2,3", "too small"},
               {"1,1,1,1,1,1,1,1,1", "at most 8 dimensions"},
               {"99999999999999999999", "whole numbers"},
               {"1000000000000,1000000000000", "too many elements"},
               {"0,1000000000000,1000000000000", "too many elements"},
               {"2,3 permute 0", "each of the 2 dimensions once"},
               {"2,3 permute 0,0", "each of the 2 dimensions once"},
               {"2,3 permute 0,2", "no dimension 2"},
               {"2,3 permute 0,-3", "no dimension -3"},
               {"2,3 transpose 0", "swaps two"},
               {"2,3 transpose 0,5", "no dimension 5"},
               {"2,3 reshape 4", "does not fit: there are 6"},
               {"2,3 reshape 4,-1", "does not fit"},
               {"2,3 reshape -1,-1", "only one -1"},
               {"2,3 reshape -2,3", "too small"},
               {"2,0 reshape 0,-1", "could be any number"},
               {"2,3 reshape", "needs a value"},
               {"2,3 slice 2", "no element 2"},
               {"2,3 slice -3", "no element -3"},
               {"2,3 slice ::0", "FIRST:END:STEP"},
               {"2,3 slice 1:2:3:4", "FIRST:END:STEP"},
               {"2,3 slice x", "FIRST:END:STEP"},
               {"2,3 slice 0,0,0", "more parts"},
               {"8 slice ::1000000000000 slice ::1000000000000", "too long"},
               {"2,3 rotate 1", "there is no operation 'rotate'"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct strides_step step;
        char *words = strdup(bad[i].words), *message = apply(words, &step);
        if (!message || !strstr(message, bad[i].says))
            fail_msg("%s: %s", bad[i].words, message ? message : "is taken");
        free(message);
        free(words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_facts), cmocka_unit_test(test_reason),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
