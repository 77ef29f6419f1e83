/*
 * test_cache.c: the cache model by itself: whatever is read and written, in whatever order, the
 * pieces that DRAM reads and writes alone are those that a plain record of each line gives.
 */
#include "watch/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LINES = 64, STEPS = 400 };

static unsigned alone(const unsigned pieces[LINES])
{
    unsigned count = 0;
    for (int i = 0; i < LINES; i++)
        count += cache_is_one(pieces[i]);
    return count;
}

/* The cache is larger than what is touched, so that nothing is evicted. */
static void pieces_alone(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 200; seed++) {
        unsigned fetched[LINES] = {0}, dirty[LINES] = {0}, valid[LINES] = {0};
        struct cache cache = {0};
        cache_open(&cache, 1 << 20);
        cache.by_bursts = true;
        srand(seed);
        for (int i = 0; i < STEPS; i++) {
            unsigned line = (unsigned)rand() % LINES, sectors = 1 + (unsigned)rand() % 15;
            bool is_write = rand() % 2;
            unsigned hits = cache_access(&cache, line, sectors, is_write, true);
            assert_int_equal(hits, valid[line] & sectors);
            unsigned missing = is_write ? 0 : cache_bursts(sectors & ~valid[line]);
            fetched[line] |= missing;
            valid[line] |= sectors | (missing & 1) * 3 | (missing >> 1) * 12;
            dirty[line] |= is_write ? cache_bursts(sectors) : 0;
        }
        assert_int_equal(cache.read_alone, alone(fetched));
        assert_int_equal(cache.dirty_alone, alone(dirty));
        cache_close(&cache);
    }
}

/* A block goes over its own lines twice, beside others that do the same with theirs. */
static unsigned found_again(uint32_t crowd, unsigned lines, bool is_shared)
{
    struct cache cache = {0};
    unsigned found = 0;
    cache_open(&cache, 1024 << CACHE_LINE_BITS);
    cache.crowd = crowd;
    for (cache.owner = 1; cache.owner <= (is_shared ? 2 : 1); cache.owner++)
        for (unsigned line = 0; line < lines; line++)
            cache_access(&cache, line, 15, false, true);
    cache.owner--;
    for (unsigned line = 0; line < lines; line++)
        found += cache_access(&cache, line, 15, false, true) == 15;
    cache_close(&cache);
    return found;
}

static void blocks_side_by_side(void **state)
{
    (void)state;
    assert_int_equal(found_again(1, 256, false), 256);
    assert_int_equal(found_again(4, 256, false), 256); /* 1024 lines in all */
    assert_int_equal(found_again(5, 256, false), 0);
    assert_int_equal(found_again(5, 256, true), 256); /* all use the same ones */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_alone),
                                       cmocka_unit_test(blocks_side_by_side)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
