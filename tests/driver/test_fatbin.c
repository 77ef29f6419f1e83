/*
 * test_fatbin.c: fat binaries as nvcc 13 writes them (tests/fuzz/corpus/fatbin), plain and packed,
 * which PTX is chosen for which GPU, and thousands of damaged ones. Runs in the repository's root.
 */
#include "driver/common.h"
#include "driver/fatbin.h"

static char *load(const char *name, size_t *size)
{
    char path[256];
    snprintf(path, sizeof path, "tests/fuzz/corpus/fatbin/%s.fatbin", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *data = malloc(1 << 16);
    *size = fread(data, 1, 1 << 16, file);
    fclose(file);
    return data;
}

/* The target that is chosen for a device, as 90 or 90 + 'a' * 1000; 0: none. */
static unsigned chosen(const char *name, unsigned major, unsigned minor)
{
    size_t size, text_size;
    struct fatbin_entry entry;
    struct fatbin_content content;
    const char *message = NULL;
    char *data = load(name, &size);
    unsigned result = 0;
    if (fatbin_best_ptx(data, size, major, minor, &entry, &content, &message)) {
        char *text = fatbin_unpack(&entry, &text_size, &message);
        assert_non_null(text);
        assert_non_null(strstr(text, ".visible .entry"));
        assert_int_equal(strlen(text), text_size);
        free(text);
        result = entry.arch + (unsigned)entry.suffix * 1000;
    }
    assert_null(message);
    free(data);
    return result;
}

static void reads_every_packing(void **state)
{
    static const char *const names[] = {"plain", "zstd", "lz4"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(chosen(names[i], 9, 0), 90 + 'a' * 1000);
        assert_int_equal(chosen(names[i], 8, 9), 80);
        assert_int_equal(chosen(names[i], 10, 0), 80); /* sm_90a is for sm_90 alone */
        assert_int_equal(chosen(names[i], 7, 5), 0);
    }
    assert_int_equal(chosen("ptx_and_sass", 9, 0), 80);
    assert_int_equal(chosen("sass_only", 9, 0), 0);
    assert_int_equal(chosen("family", 10, 3), 100 + 'f' * 1000);
    assert_int_equal(chosen("family", 12, 0), 0);
}

static void several_containers(void **state)
{
    size_t size, offset = 0;
    struct fatbin_entry entry;
    const char *message;
    unsigned count = 0;
    char *data = load("two", &size);
    while (fatbin_next(data, size, &offset, &entry, &message))
        count++;
    assert_null(message);
    assert_int_equal(count, 2);
    free(data);
}

static void modules_load(void **state)
{
    size_t size;
    CUmodule loaded;
    CUfunction found;
    static const char *const names[] = {"plain", "zstd", "lz4", "ptx_and_sass"};
    for (int i = 0; i < 4; i++) {
        char *data = load(names[i], &size);
        struct fatbin_wrapper wrapper = {FATBIN_WRAPPER_MAGIC, 1, data, NULL};
        OK(cu->cuModuleLoadFatBinary(&loaded, data));
        OK(cu->cuModuleGetFunction(&found, loaded, "_Z3addPfPKfi"));
        OK(cu->cuModuleUnload(loaded));
        if (cu->simulated) { /* what libcudart's drop-in hands over */
            OK(cu->cuModuleLoadData(&loaded, &wrapper));
            OK(cu->cuModuleUnload(loaded));
        }
        free(data);
    }
    if (cu->simulated) {
        char *data = load("sass_only", &size);
        FAILS(CUDA_ERROR_NO_BINARY_FOR_GPU, cu->cuModuleLoadData(&loaded, data));
        free(data);
    }
}

/* nvcc -rdc=true: linked machine code, and the PTX of each object beside it. */
static void relocatable_code_is_linked(void **state)
{
    size_t size;
    CUmodule loaded;
    CUfunction found;
    CUdeviceptr data;
    if (!cu->simulated)
        skip();
    char *sass = load("sass_only", &size), *parts = load("two", &size);
    void *list[] = {parts, parts + fatbin_size(parts), NULL};
    struct fatbin_wrapper wrapper = {FATBIN_WRAPPER_MAGIC, 2, sass, list};
    OK(cu->cuModuleLoadData(&loaded, &wrapper));
    OK(cu->cuModuleGetFunction(&found, loaded, "_Z1kPi"));
    data = zeros(1);
    OK(cu->cuMemsetD32_v2(data, 6, 1));
    void *params[] = {&data};
    OK(cu->cuLaunchKernel(found, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    expect_all(data, 1, 3); /* table[6 & 3] */
    OK(cu->cuMemFree_v2(data));
    OK(cu->cuModuleUnload(loaded));
    free(sass);
    free(parts);
}

static void try_damaged(const char *data, size_t size)
{
    struct fatbin_entry entry;
    struct fatbin_content content;
    const char *message = NULL;
    size_t text_size;
    char *exact = malloc(size ? size : 1);
    memcpy(exact, data, size);
    if (fatbin_best_ptx(exact, size, 9, 0, &entry, &content, &message))
        free(fatbin_unpack(&entry, &text_size, &message));
    free(exact);
}

static void survives_damage(void **state)
{
    static const char *const names[] = {"plain", "zstd", "lz4", "two"};
    for (int i = 0; i < 4; i++) {
        size_t size;
        char *data = load(names[i], &size);
        for (size_t length = 0; length < size; length++)
            try_damaged(data, length);
        for (size_t at = 0; at < size; at++) {
            char old = data[at];
            data[at] = (char)~old;
            try_damaged(data, size);
            data[at] = (char)(old ^ 0x80);
            try_damaged(data, size);
            data[at] = old;
        }
        free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_packing),
        cmocka_unit_test(several_containers),
        cmocka_unit_test(modules_load),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(relocatable_code_is_linked),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
