/*
 * page_thumbs.c: the small pictures of the interactives' index, drawn here from a few shapes, and a
 * sentence for each. Their colours are the page's (thumb-* in course.css). An interactive without a
 * picture of its own gets a plain one.
 */
#include "studio/pages.h"

#include <stdio.h>
#include <string.h>

static void rect(struct lk_buf *out, double x, double y, double width, double height, char colour)
{
    lk_buf_printf(out,
                  "<rect class=\"thumb-%c\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                  "rx=\"1.5\"/>",
                  colour, x, y, width, height);
}

static void line(struct lk_buf *out, const char *kind, const char *d)
{
    lk_buf_printf(out, "<path class=\"thumb-%s\" d=\"%s\"/>", kind, d);
}

static void draw_warp(struct lk_buf *out)
{
    static const unsigned rows[] = {0xffff, 0xffff, 0x3333, 0xcccc, 0x0303, 0xffff};
    for (unsigned y = 0; y < 6; y++)
        for (unsigned x = 0; x < 16; x++)
            rect(out, 14 + 8.3 * x, 14 + 12.5 * y, 6.8, 9, rows[y] >> x & 1 ? 'a' : 'd');
}

static void draw_occupancy(struct lk_buf *out)
{
    line(out, "soft", "M18 12V84H148");
    line(out, "line", "M18 22H52V38H78V54H104V66H126V74H148");
    lk_buf_printf(out, "<circle class=\"thumb-c\" cx=\"78\" cy=\"54\" r=\"5\"/>");
}

static void draw_coalescing(struct lk_buf *out)
{
    for (unsigned i = 0; i < 8; i++) {
        char d[48];
        rect(out, 16 + 16.4 * i, 14, 12, 12, 'a');
        snprintf(d, sizeof d, "M%.1f 26L%.1f 72", 22 + 16.4 * i,
                 i < 4 ? 20 + 9.0 * i : 40 + 15.0 * i);
        line(out, "soft", d);
    }
    rect(out, 14, 72, 38, 14, 'b');
    for (unsigned i = 0; i < 4; i++)
        rect(out, 92 + 15 * i, 72, 13, 14, 'c');
}

static void draw_banks(struct lk_buf *out)
{
    static const unsigned high[] = {1, 4, 1, 2, 1, 6, 1, 1, 3, 1, 1, 2};
    for (unsigned x = 0; x < 12; x++)
        for (unsigned y = 0; y < high[x]; y++)
            rect(out, 14 + 11.2 * x, 76 - 11.5 * y, 9.2, 9.5, y ? 'c' : 'a');
}

static void draw_hierarchy(struct lk_buf *out)
{
    static const char colours[] = "abed";
    for (unsigned i = 0; i < 4; i++)
        rect(out, 64 - 17.0 * i, 12 + 20.0 * i, 32 + 34.0 * i, 16, colours[i]);
}

static void draw_tiles(struct lk_buf *out)
{
    for (unsigned y = 0; y < 5; y++)
        for (unsigned x = 0; x < 8; x++)
            rect(out, 20 + 15.4 * x, 12 + 15.4 * y, 13.5, 13.5,
                 y == 1 && x > 1 && x < 5 ? 'a'
                 : x == 4 && y > 1        ? 'b'
                                          : 'd');
}

static void draw_dot(struct lk_buf *out)
{
    line(out, "soft", "M20 84H144M30 92V10");
    line(out, "line", "M30 84L132 60M30 84L78 18");
    line(out, "soft", "M78 18L92 69");
    lk_buf_printf(out, "<circle class=\"thumb-c\" cx=\"92\" cy=\"69.5\" r=\"4.5\"/>");
}

static void bars(struct lk_buf *out, const char *heights, const char *colours)
{
    for (unsigned i = 0; heights[i]; i++) {
        double high = 8.0 * (heights[i] - '0');
        rect(out, 16 + 13.2 * i, 86 - high, 10.5, high, colours[i]);
    }
}

static void draw_softmax(struct lk_buf *out)
{
    bars(out, "1243128211", "aaaaaaaaaa");
}

static void draw_online(struct lk_buf *out)
{
    bars(out, "3512647243", "bbbbaaaddd");
    line(out, "soft", "M14 28H148");
}

static void draw_bits(struct lk_buf *out)
{
    static const char bits[] = "1011010011010010";
    for (unsigned i = 0; i < 16; i++)
        rect(out, 12 + 17.2 * (i % 8), i < 8 ? 22 : 54, 14.5, 22,
             bits[i] == '0' ? 'd'
             : i == 0       ? 'c'
             : i < 6        ? 'b'
                            : 'a');
}

static void draw_quantisation(struct lk_buf *out)
{
    line(out, "soft", "M14 86C50 84 96 60 146 14");
    line(out, "line", "M14 86H42V72H78V56H110V36H132V18H146");
}

static void draw_attention(struct lk_buf *out)
{
    for (unsigned y = 0; y < 6; y++)
        for (unsigned x = 0; x < 6; x++)
            rect(out, 40 + 13.5 * x, 10 + 13.5 * y, 12, 12,
                 x > y                      ? 'd'
                 : (x * 5 + y * 3) % 4 == 0 ? 'a'
                                            : 'b');
}

static void draw_plain(struct lk_buf *out)
{
    line(out, "soft", "M18 12V84H148");
    line(out, "line", "M22 78C56 74 70 24 144 18");
}

static const struct {
    const char *name;
    void (*draw)(struct lk_buf *out);
    const char *words;
} thumbs[] = {
    {"warp", draw_warp, "32 lanes, and which of them wait"},
    {"occupancy", draw_occupancy, "how many warps an SM can hold, and what limits them"},
    {"coalescing", draw_coalescing, "which sectors a warp's addresses fetch"},
    {"banks", draw_banks, "lanes that want the same bank take turns"},
    {"hierarchy", draw_hierarchy, "sizes, latencies, and the bytes at each level"},
    {"tiles", draw_tiles, "which elements a block's tile covers"},
    {"dot", draw_dot, "two arrows, their product and its rounding"},
    {"softmax", draw_softmax, "scores into weights, and where it overflows"},
    {"online_softmax", draw_online, "the largest and the sum in a single pass"},
    {"float_bits", draw_bits, "sign, exponent and mantissa, bit by bit"},
    {"quantisation", draw_quantisation, "few levels, one outlier, and the error"},
    {"attention", draw_attention, "queries, keys and values, step by step"},
};

/* Eight warps in time: they compute, wait for data, and are held at two barriers. */
static void draw_replay(struct lk_buf *out)
{
    for (unsigned warp = 0; warp < 8; warp++)
        for (unsigned round = 0; round < 2; round++) {
            double y = 12 + 10.0 * warp, x = 12 + 150.0 * round, late = 3.0 * warp;
            rect(out, x, y, 14 + late, 8, 'd');
            rect(out, x + 15 + late, y, 46, 8, 'a');
            rect(out, x + 62 + late, y, 30, 8, 'b');
            rect(out, x + 93 + late, y, 53 - late, 8, 'e');
        }
    line(out, "now", "M206 6V94");
}

void page_replay_card(struct lk_buf *out)
{
    lk_buf_printf(out, "<a id=\"to-replay\" class=\"replay-card\" href=\"/replay\"><svg "
                       "viewBox=\"0 0 320 100\" aria-hidden=\"true\">");
    draw_replay(out);
    lk_buf_printf(out,
                  "</svg><span><strong>Replay</strong><span class=\"soft\">Your kernel, played "
                  "back warp by warp: the line each warp is on, lanes that are off, tiles that "
                  "fill, barriers that hold.</span></span></a>\n");
}

void page_thumb(struct lk_buf *out, const char *name, const char *title)
{
    size_t at = 0, count = sizeof thumbs / sizeof *thumbs;
    while (at < count && strcmp(thumbs[at].name, name) != 0)
        at++;
    lk_buf_printf(out, "<svg viewBox=\"0 0 160 100\" aria-hidden=\"true\">");
    if (at < count)
        thumbs[at].draw(out);
    else
        draw_plain(out);
    lk_buf_printf(out, "</svg><strong>%s</strong>", title);
    if (at < count)
        lk_buf_printf(out, "<span>%s</span>", thumbs[at].words);
}
