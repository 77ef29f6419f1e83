/*
 * test.h: a PTX test file as the runner sees it. README.md says how one is written.
 */
#ifndef LOCKSTEP_TESTS_PTX_TEST_H
#define LOCKSTEP_TESTS_PTX_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum test_form { TEST_PENDING, TEST_HEX, TEST_FNV };

/* One `out:` line: a piece of the output and what it must hold. */
struct test_section {
    size_t size;
    enum test_form form;
    uint32_t mask;      /* of every word; all ones if not given */
    char nan_type[8];   /* NaNs of this type are all equal; "" */
    char float_type[8]; /* with a bound: the type of the elements; "" */
    double ulp, abs, rel;
    uint64_t digest;
    uint8_t *bytes; /* TEST_HEX: [size]; TEST_FNV: the first known_size of them */
    size_t known_size;
    char *label;
    size_t first_line, line_count; /* in the file */
};

struct test_run {
    char *kernel;
    unsigned grid[3], block[3], shared;
    unsigned cluster[3]; /* of blocks; 0 0 0 without one */
    bool cooperative;
    char *stops; /* the machine ends the process with status 3 and names this; NULL */
    int fails;   /* the CUresult that the launch must give; 0 */
    struct test_section *sections;
    size_t section_count;
    size_t out_size;
};

/* One `map:` line: a tensor map of 128 bytes in the input. */
struct test_map {
    size_t at; /* in the input */
    unsigned type, rank, swizzle, interleave;
    bool in_output, nan, is_im2col;
    uint64_t offset; /* of the tensor, in the output or the input */
    int64_t dim[5], stride[5], box[5], step[5], lower[5], upper[5];
};

struct test_file {
    char *path;
    char name[64]; /* without folder and suffix */
    char *text;
    size_t size;
    unsigned needs; /* 90 for sm_90; 80 if not given */
    uint8_t *input;
    size_t input_size;
    struct test_map *maps;
    size_t map_count;
    struct test_run *runs;
    size_t run_count;
};

/* NULL, with a message on stderr, if the file cannot be read or its header is wrong. */
struct test_file *test_read(const char *path);
void test_free(struct test_file *file);

/* map.c: word `index` of a map: line; and the map, encoded into the input's bytes: a CUresult. */
bool test_map_word(struct test_map *map, unsigned index, const char *word);
struct lk_driver;
int test_map_encode(const struct lk_driver *driver, const struct test_map *map, uint64_t in,
                    uint64_t out, uint8_t *input);

/* Does data (section->size bytes) hold what the section expects? If not, why has the reason. */
bool test_compare(const struct test_section *section, const uint8_t *data, char *why, size_t size);

/* Rewrites the out: lines of the file with the outputs given, one buffer a run; NULL: keep. */
bool test_update(const struct test_file *file, uint8_t *const *outputs);

/* Which rows of ops.def and types the files contain. Prints what is missing; returns false if
 * something is. */
bool test_coverage(char *const *paths, size_t count, bool verbose);

#endif
