/*
 * What make quality rests on: rounding stays within its bounds, V's error never grows while K's
 * grows with the scores, the inputs made to hurt do, and a GGUF file is read as it was written or
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "folder.h"
#include "model.h"
#include "quality.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 40, HEADS = 4, KV_HEADS = 2, DIM = 64, NUMBERS = TOKENS * KV_HEADS * DIM };

static struct quality_scheme of(enum quality_format format, bool rotate)
{
    return (struct quality_scheme){.format = format, .rotate = rotate};
}

static struct quality_case made(int adversary)
{
    struct quality_case c;
    assert_true(quality_alloc(&c, TOKENS, HEADS, KV_HEADS, DIM));
    quality_generate(&c, &quality_adversaries[adversary]);
    return c;
}

/* The middle head's error. */
static double error_of(const struct quality_case *c, struct quality_scheme k,
                       struct quality_scheme v)
{
    static float new_k[NUMBERS], new_v[NUMBERS];
    static double o[TOKENS * HEADS * DIM], right[TOKENS * HEADS * DIM];
    double error[HEADS];
    quality_round(k, c->tokens, c->kv_heads, c->dim, c->k, new_k);
    quality_round(v, c->tokens, c->kv_heads, c->dim, c->v, new_v);
    quality_attend(c, c->q, c->k, c->v, right);
    quality_attend(c, c->q, new_k, new_v, o);
    quality_compare(c, o, right, error);
    return quality_middle(error, HEADS, NULL);
}

static void rounding_stays_within_bounds(void **state)
{
    struct quality_case c = made(0);
    static float y[NUMBERS];
    float most = 0;
    for (int i = 0; i < NUMBERS; i++)
        most = fmaxf(most, fabsf(c.k[i]));
    /* Half a unit of the last place; half a step of a scale that is no larger than most / largest.
     */
    const struct {
        struct quality_scheme scheme;
        float of_number, of_most;
    } bounds[] = {{of(QUALITY_BF16, false), 1.0f / 256, 0},
                  {of(QUALITY_FP8, false), 1.0f / 15, 0x1p-9f / 448},
                  {of(QUALITY_INT8, false), 0, 0.501f / 127},
                  {of(QUALITY_INT4, false), 0, 0.501f / 7},
                  {{QUALITY_INT4, QUALITY_BY_CHANNEL, false}, 0, 0.501f / 7},
                  {of(QUALITY_NVFP4, false), 0, 1.1f / 6}};
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        double moved = 0;
        quality_round(bounds[b].scheme, TOKENS, KV_HEADS, DIM, c.k, y);
        for (int i = 0; i < NUMBERS; i++) {
            float off = fabsf(y[i] - c.k[i]);
            assert_true(off <= bounds[b].of_number * fabsf(c.k[i]) + bounds[b].of_most * most);
            moved += (double)off;
        }
        assert_true(moved > 0);
    }
    /* Rotating there and back leaves what bf16's rounding makes of it, and no more. */
    quality_round(of(QUALITY_BF16, true), TOKENS, KV_HEADS, DIM, c.k, y);
    for (int i = 0; i < NUMBERS; i++)
        assert_true(fabsf(y[i] - c.k[i]) < most / 64);
    quality_free(&c);
}

static void noise_has_the_length_asked_for(void **state)
{
    struct quality_case c = made(0);
    static float y[NUMBERS];
    quality_disturb(c.k, y, TOKENS * KV_HEADS, DIM, 0.125, 3);
    for (int row = 0; row < TOKENS * KV_HEADS; row++) {
        double off = 0, size = 0;
        for (int i = row * DIM; i < (row + 1) * DIM; i++) {
            off += pow((double)(y[i] - c.k[i]), 2);
            size += pow((double)c.k[i], 2);
        }
        assert_true(fabs(sqrt(off / size) - 0.125) < 1e-5);
    }
    quality_free(&c);
}

/* An output is a mean of values: it cannot be further off than the values are. */
static void values_errors_do_not_grow(void **state)
{
    static double o[TOKENS * HEADS * DIM], right[TOKENS * HEADS * DIM];
    static float y[NUMBERS];
    for (int adversary = 0; quality_adversaries[adversary].name; adversary++) {
        struct quality_case c = made(adversary);
        double most = 0;
        quality_round(of(QUALITY_INT4, false), TOKENS, KV_HEADS, DIM, c.v, y);
        for (int i = 0; i < NUMBERS; i++)
            most = fmax(most, fabs((double)y[i] - (double)c.v[i]));
        quality_attend(&c, c.q, c.k, c.v, right);
        quality_attend(&c, c.q, c.k, y, o);
        for (int i = 0; i < TOKENS * HEADS * DIM; i++)
            assert_true(fabs(o[i] - right[i]) <= most * (1 + 1e-12));
        quality_free(&c);
    }
}

static void keys_errors_grow_with_the_scores(void **state)
{
    struct quality_case plain = made(0), large = made(4), constant = made(3);
    struct quality_scheme exact = of(QUALITY_BF16, false), four = of(QUALITY_NVFP4, false);
    struct quality_scheme eight = of(QUALITY_FP8, false);
    assert_string_equal(quality_adversaries[3].name, "constant values");
    assert_string_equal(quality_adversaries[4].name, "large scores");
    /* 8 bits, so that errors are small beside the output at either size. */
    assert_true(error_of(&large, eight, exact) > 2 * error_of(&plain, eight, exact));
    assert_true(error_of(&large, exact, four) < 1.1 * error_of(&plain, exact, four));
    /* Where all values are the same, keys make no difference. */
    assert_true(fabs(error_of(&constant, four, exact) - error_of(&constant, eight, exact)) < 1e-12);
    quality_free(&plain);
    quality_free(&large);
    quality_free(&constant);
}

static void an_outlier_channel_hurts_and_rotation_helps(void **state)
{
    struct quality_case plain = made(0), outlier = made(1);
    struct quality_scheme exact = of(QUALITY_BF16, false), four = of(QUALITY_INT4, false);
    double hurt = error_of(&outlier, four, exact);
    assert_true(hurt > 1.5 * error_of(&plain, four, exact));
    assert_true(error_of(&outlier, of(QUALITY_INT4, true), exact) < hurt);
    assert_true(error_of(&outlier, (struct quality_scheme){QUALITY_INT4, QUALITY_BY_CHANNEL, false},
                         exact) < hurt / 2);
    quality_free(&plain);
    quality_free(&outlier);
}

static void the_table_has_every_pair(void **state)
{
    struct quality_case c = made(0);
    struct report_grid grid;
    char *text = NULL;
    size_t length = 0, rows = 0;
    assert_true(report_alloc(&grid, HEADS));
    assert_true(report_add(&grid, &c));
    assert_false(report_add(&grid, &c)); /* no room left */
    FILE *to = open_memstream(&text, &length);
    report_grid(to, &grid, false);
    fclose(to);
    for (const char *at = text; (at = strstr(at, "\n| **")); at++)
        rows++;
    assert_int_equal(rows, QUALITY_FORMATS);
    assert_true(grid.error[QUALITY_BF16][QUALITY_BF16][0] <
                grid.error[QUALITY_NVFP4][QUALITY_BF16][0]);
    free(text);
    report_free(&grid);
    quality_free(&c);
}

/* A model of one layer, written by hand --------------------------------------------------------*/

enum { WIDTH = 64, INNER = 32, WORDS = 7 };

static void put(FILE *to, const void *bytes, size_t count)
{
    assert_int_equal(fwrite(bytes, 1, count, to), count);
}
static void put_32(FILE *to, uint32_t x)
{
    put(to, &x, sizeof x);
}
static void put_64(FILE *to, uint64_t x)
{
    put(to, &x, sizeof x);
}
static void put_text(FILE *to, const char *text)
{
    put_64(to, strlen(text));
    put(to, text, strlen(text));
}

static const struct {
    const char *name;
    uint32_t cols, rows, type; /* F32, Q4_1 or Q8_0 */
} tensors[] = {{"token_embd", WIDTH, WORDS, 8},        {"output_norm", WIDTH, 1, 0},
               {"blk.0.attn_norm", WIDTH, 1, 0},       {"blk.0.attn_q", WIDTH, WIDTH, 3},
               {"blk.0.attn_k", WIDTH, WIDTH, 3},      {"blk.0.attn_v", WIDTH, WIDTH, 3},
               {"blk.0.attn_output", WIDTH, WIDTH, 3}, {"blk.0.ffn_norm", WIDTH, 1, 0},
               {"blk.0.ffn_gate", WIDTH, INNER, 3},    {"blk.0.ffn_up", WIDTH, INNER, 3},
               {"blk.0.ffn_down", INNER, WIDTH, 3}};
enum { TENSORS = sizeof tensors / sizeof *tensors };

static size_t bytes_of(int t)
{
    size_t numbers = (size_t)tensors[t].cols * tensors[t].rows;
    return tensors[t].type == 0 ? 4 * numbers : numbers / 32 * (tensors[t].type == 3 ? 20 : 34);
}

/* Weights whose scales are zero, but for the first block of attn_q: 0.5 q + 2. */
static void write_model(const char *path)
{
    static const char *const words[WORDS] = {"a",
                                             "\xc4\xa0"
                                             "a",
                                             "b",
                                             "ab",
                                             "\xc4\xa0"
                                             "ab",
                                             ".",
                                             "c"};
    static const char *const keys[] = {"block_count", "embedding_length", "feed_forward_length",
                                       "attention.head_count", "attention.head_count_kv"};
    static const uint32_t values[] = {1, WIDTH, INNER, 1, 1};
    FILE *to = fopen(path, "w");
    uint64_t offset = 0;
    assert_non_null(to);
    put(to, "GGUF", 4);
    put_32(to, 3);
    put_64(to, TENSORS);
    put_64(to, 8);
    for (int i = 0; i < 5; i++) {
        char key[64];
        snprintf(key, sizeof key, "llama.%s", keys[i]);
        put_text(to, key);
        put_32(to, 4);
        put_32(to, values[i]);
    }
    for (int i = 0; i < 2; i++) {
        float value = i ? 1e-5f : 10000;
        put_text(to, i ? "llama.attention.layer_norm_rms_epsilon" : "llama.rope.freq_base");
        put_32(to, 6);
        put(to, &value, sizeof value);
    }
    put_text(to, "tokenizer.ggml.tokens");
    put_32(to, 9);
    put_32(to, 8);
    put_64(to, WORDS);
    for (int i = 0; i < WORDS; i++)
        put_text(to, words[i]);
    for (int t = 0; t < TENSORS; t++) {
        char name[64];
        snprintf(name, sizeof name, "%s.weight", tensors[t].name);
        put_text(to, name);
        put_32(to, tensors[t].rows > 1 ? 2 : 1);
        put_64(to, tensors[t].cols);
        if (tensors[t].rows > 1)
            put_64(to, tensors[t].rows);
        put_32(to, tensors[t].type);
        put_64(to, offset);
        offset += (bytes_of(t) + 31) / 32 * 32;
    }
    while (ftell(to) % 32)
        put(to, "", 1);
    for (int t = 0; t < TENSORS; t++) {
        uint8_t block[20] = {0x00, 0x38, 0x00, 0x40, 0x51}; /* f16: 0.5, 2; codes 1 and 5 */
        for (size_t i = 0; i < (bytes_of(t) + 31) / 32 * 32; i++)
            put(to, t == 3 && i < sizeof block ? (const void *)&block[i] : "", 1);
    }
    fclose(to);
}

static void a_model_is_read_as_it_was_written(void **state)
{
    char path[256];
    struct model m;
    int tokens[16];
    snprintf(path, sizeof path, "%s/model.gguf", folder);
    write_model(path);
    assert_true(model_open(&m, path));
    assert_int_equal(m.dim, WIDTH);
    assert_true(m.layer[0].q[0] == 2.5f && m.layer[0].q[16] == 4.5f && m.layer[0].q[1] == 2);
    assert_int_equal(model_tokens(&m, "ab aab.c", tokens, 16), 5);
    const int expected[] = {3, 1, 3, 5, 6};
    assert_memory_equal(tokens, expected, sizeof expected);
    /* All weights are zero, so every word is as likely as any other. */
    assert_true(fabs(model_run(&m, tokens, 5, 1, NULL, NULL) - log(WORDS)) < 1e-6);
    model_close(&m);
}

static void what_is_cut_short_is_refused(void **state)
{
    char path[256], cut[256];
    static char bytes[65536];
    snprintf(path, sizeof path, "%s/model.gguf", folder);
    snprintf(cut, sizeof cut, "%s/cut.gguf", folder);
    write_model(path);
    FILE *from = fopen(path, "r");
    size_t length = fread(bytes, 1, sizeof bytes, from);
    fclose(from);
    assert_non_null(freopen("/dev/null", "w", stderr)); /* hundreds of messages */
    for (size_t i = 1; i < length; i += i < 1200 ? 13 : 997) {
        struct model m;
        FILE *to = fopen(cut, "w");
        put(to, bytes, i);
        fclose(to);
        assert_false(model_open(&m, cut));
        model_close(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_stays_within_bounds),
        cmocka_unit_test(noise_has_the_length_asked_for),
        cmocka_unit_test(values_errors_do_not_grow),
        cmocka_unit_test(keys_errors_grow_with_the_scores),
        cmocka_unit_test(an_outlier_channel_hurts_and_rotation_helps),
        cmocka_unit_test(the_table_has_every_pair),
        cmocka_unit_test(a_model_is_read_as_it_was_written),
        cmocka_unit_test(what_is_cut_short_is_refused),
    };
    return cmocka_run_group_tests(tests, folder_set_up, folder_tear_down);
}
