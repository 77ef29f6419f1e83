/*
 * cases.c: the cases: filters, address modes, formats, layers, mipmaps, gathers, queries, surfaces.
 */
#include "bits.h"

#include <stdio.h>
#include <string.h>

/* BASE has what most cases share, and a case says what is different. */
#pragma GCC diagnostic ignored "-Woverride-init"

static const struct {
    const char *name;
    int fmt;
} formats[] = {{"u8", CU_AD_FORMAT_UNSIGNED_INT8},   {"s8", CU_AD_FORMAT_SIGNED_INT8},
               {"u16", CU_AD_FORMAT_UNSIGNED_INT16}, {"s16", CU_AD_FORMAT_SIGNED_INT16},
               {"u32", CU_AD_FORMAT_UNSIGNED_INT32}, {"s32", CU_AD_FORMAT_SIGNED_INT32},
               {"f16", CU_AD_FORMAT_HALF},           {"f32", CU_AD_FORMAT_FLOAT}};
enum { U8, S8, U16, S16, U32, S32, F16, F32 };
static const char *const modes[] = {"wrap", "clamp", "mirror", "border"};

#define CASE(...) ((struct texcase){__VA_ARGS__})
#define BASE(format_, channels_, w_, h_, d_)                                                       \
    .fmt = formats[format_].fmt, .ch = (channels_), .w = (w_), .h = (h_), .d = (d_),               \
    .addr = {1, 1, 1}, .n = 256, .levels = 1, .border = {0.25f, -1.5f, 3.0f, 0.7f}
#define NORM CU_TRSF_NORMALIZED_COORDINATES
#define LDST CUDA_ARRAY3D_SURFACE_LDST
#define LAYERED CUDA_ARRAY3D_LAYERED
#define CUBE CUDA_ARRAY3D_CUBEMAP
#define GATHER CUDA_ARRAY3D_TEXTURE_GATHER

static const int shape[3][3] = {{13, 0, 0}, {13, 9, 0}, {7, 6, 5}};
static const char *const fetch[3] = {"tex.1d.v4.f32.f32", "tex.2d.v4.f32.f32", "tex.3d.v4.f32.f32"};

static void filter_cases(void)
{
    static const int list[] = {U8, S8, U16, S16, F16, F32};
    for (int dim = 0; dim < 3; dim++)
        for (int f = 0; f < 6; f++)
            for (int data = 0; data < (f >= 4 ? 3 : 1); data++) {
                static const int kinds[] = {DATA_UNIT, DATA_WIDE, DATA_SPECIAL};
                for (int where = 0; where < 2; where++)
                    texture_case(
                        &CASE(.op = fetch[dim],
                              BASE(list[f], 4, shape[dim][0], shape[dim][1], shape[dim][2]),
                              .filter = 1, .data = kinds[data], .where = where),
                        "filter_%dd_%s_%d_%d", dim + 1, formats[list[f]].name, data, where);
            }
}

static void address_cases(void)
{
    for (int dim = 0; dim < 3; dim++)
        for (int mode = 0; mode < 4; mode++)
            for (int normal = 0; normal < 2; normal++)
                for (int filter = 0; filter < 2; filter++) {
                    struct texcase c =
                        CASE(.op = fetch[dim],
                             BASE(F32, 4, shape[dim][0], shape[dim][1], shape[dim][2]),
                             .filter = filter, .flags = normal ? NORM : 0);
                    for (int k = 0; k < 3; k++)
                        c.addr[k] = mode;
                    texture_case(&c, "address_%dd_%s_%d_%d", dim + 1, modes[mode], normal, filter);
                }
    for (int filter = 0; filter < 2; filter++) {
        texture_case(&CASE(.op = fetch[1], BASE(F32, 1, 16, 8, 0), .addr = {0, 3, 1}, .flags = NORM,
                           .filter = filter),
                     "address_mixed_wb_%d", filter);
        texture_case(&CASE(.op = fetch[1], BASE(F32, 1, 16, 8, 0), .addr = {2, 1, 1}, .flags = NORM,
                           .filter = filter),
                     "address_mixed_mc_%d", filter);
        texture_case(&CASE(.op = fetch[2], BASE(F32, 1, 8, 8, 4), .addr = {0, 2, 3}, .flags = NORM,
                           .filter = filter),
                     "address_mixed_wmb_%d", filter);
    }
    static const int widths[] = {1, 2, 3, 7, 100, 1000, 4096, 16384, 65537, 131072};
    for (int i = 0; i < 10; i++)
        for (int normal = 0; normal < 2; normal++)
            for (int filter = 0; filter < 2; filter++)
                for (int mode = 0; mode < (normal ? 3 : 1); mode++) {
                    static const int which[] = {1, 0, 2};
                    struct texcase c = CASE(.op = fetch[0], BASE(F32, 1, widths[i], 0, 0),
                                            .filter = filter, .flags = normal ? NORM : 0);
                    c.addr[0] = c.addr[1] = c.addr[2] = which[mode];
                    texture_case(&c, "width_%d_%d_%d_%d", widths[i], normal, filter, mode);
                }
    for (int filter = 0; filter < 2; filter++)
        for (int normal = 0; normal < 2; normal++) {
            texture_case(&CASE(.op = fetch[1], BASE(U8, 4, 640, 480, 0), .filter = filter,
                               .flags = normal ? NORM : 0, .where = WHERE_LINE),
                         "image_%d_%d", filter, normal);
            texture_case(&CASE(.op = fetch[1], BASE(F32, 1, 1024, 1024, 0), .addr = {0, 0, 0},
                               .filter = filter, .flags = normal ? NORM : 0),
                         "square_%d_%d", filter, normal);
        }
}

static void format_cases(void)
{
    static const int channels[] = {1, 2, 4};
    for (int f = 0; f < 8; f++)
        for (int k = 0; k < 3; k++)
            for (int mode = 1; mode <= 3; mode += 2) {
                struct texcase c = CASE(BASE(f, channels[k], 11, 5, 0), .data = DATA_BITS);
                c.n = 64;
                c.addr[0] = c.addr[1] = mode;
                if (f < 6) {
                    c.flags = CU_TRSF_READ_AS_INTEGER;
                    c.op = "tex.2d.v4.u32.f32";
                    texture_case(&c, "format_%s_%d_u32_%s", formats[f].name, channels[k],
                                 modes[mode]);
                    c.op = "tex.2d.v4.s32.f32";
                    texture_case(&c, "format_%s_%d_s32_%s", formats[f].name, channels[k],
                                 modes[mode]);
                    c.op = "tex.2d.v4.f32.f32";
                    texture_case(&c, "format_%s_%d_asfloat_%s", formats[f].name, channels[k],
                                 modes[mode]);
                    c.filter = 1;
                    texture_case(&c, "format_%s_%d_intlinear_%s", formats[f].name, channels[k],
                                 modes[mode]);
                    c.filter = 0;
                    c.flags = 0;
                }
                c.op = "tex.2d.v4.f32.f32";
                texture_case(&c, "format_%s_%d_f32_%s", formats[f].name, channels[k], modes[mode]);
                c.op = "tex.2d.v4.u32.f32";
                texture_case(&c, "format_%s_%d_u32n_%s", formats[f].name, channels[k], modes[mode]);
                c.op = "tex.2d.v2.f16x2.f32";
                texture_case(&c, "format_%s_%d_f16x2_%s", formats[f].name, channels[k],
                             modes[mode]);
            }
    for (int filter = 0; filter < 2; filter++)
        for (int f = 0; f < 8; f++) {
            if (filter && (f == U32 || f == S32))
                continue;
            struct texcase c = CASE(.op = "tex.2d.v2.f16x2.f32", BASE(f, 4, 13, 9, 0),
                                    .filter = filter, .data = DATA_WIDE);
            texture_case(&c, "half_%s_%d", formats[f].name, filter);
        }
    for (int filter = 0; filter < 2; filter++)
        for (int k = 0; k < 3; k++) {
            struct texcase c = CASE(.op = fetch[1], BASE(U8, channels[k], 32, 32, 0),
                                    .filter = filter, .flags = CU_TRSF_SRGB);
            texture_case(&c, "srgb_%d_%d", channels[k], filter);
            c.addr[0] = c.addr[1] = 3;
            texture_case(&c, "srgb_border_%d_%d", channels[k], filter);
        }
    for (int f = 0; f < 4; f++) {
        struct texcase c = CASE(.op = fetch[1], BASE(f, 4, 13, 9, 0), .filter = 1,
                                .addr = {3, 3, 3}, .border = {0.25f, -1.5f, 3.0f, 0.7f});
        texture_case(&c, "border_%s", formats[f].name);
    }
}

static void integer_cases(void)
{
    static const char *const ops[] = {"tex.1d.v4.f32.s32", "tex.2d.v4.f32.s32",
                                      "tex.3d.v4.f32.s32"};
    for (int dim = 0; dim < 3; dim++)
        for (int mode = 0; mode < 4; mode++)
            for (int filter = 0; filter < 2; filter++)
                for (int normal = 0; normal < 2; normal++) {
                    struct texcase c =
                        CASE(.op = ops[dim],
                             BASE(F32, 4, shape[dim][0], shape[dim][1], shape[dim][2]),
                             .filter = filter, .flags = normal ? NORM : 0);
                    for (int k = 0; k < 3; k++)
                        c.addr[k] = mode;
                    c.n = 64;
                    texture_case(&c, "integer_%dd_%s_%d_%d", dim + 1, modes[mode], filter, normal);
                }
    for (int f = 0; f < 8; f++)
        for (int k = 1; k <= 4; k *= 2) {
            struct texcase c =
                CASE(.op = "tex.1d.v4.f32.s32", BASE(f, k, 37, 0, 0), .kind = KIND_LINEAR);
            c.n = 64;
            texture_case(&c, "linear_%s_%d_f32", formats[f].name, k);
            c.op = "tex.1d.v4.u32.s32";
            c.flags = CU_TRSF_READ_AS_INTEGER;
            texture_case(&c, "linear_%s_%d_u32", formats[f].name, k);
            c.op = "tex.1d.v4.s32.s32";
            texture_case(&c, "linear_%s_%d_s32", formats[f].name, k);
        }
    for (int filter = 0; filter < 2; filter++) {
        texture_case(&CASE(.op = "tex.1d.v4.f32.f32", BASE(F32, 1, 37, 0, 0), .kind = KIND_LINEAR,
                           .filter = filter),
                     "linear_float_coordinate_%d", filter);
        texture_case(&CASE(.op = "tex.1d.v4.f32.f32", BASE(F32, 1, 37, 0, 0), .kind = KIND_LINEAR,
                           .filter = filter, .flags = NORM),
                     "linear_normalised_%d", filter);
        texture_case(&CASE(.op = "tex.1d.v4.f32.s32", BASE(F32, 1, 37, 0, 0), .kind = KIND_LINEAR,
                           .filter = filter, .flags = NORM, .addr = {0, 0, 0}),
                     "linear_wrap_%d", filter);
        for (int normal = 0; normal < 2; normal++)
            for (int mode = 0; mode < 4; mode++) {
                texture_case(&CASE(.op = "tex.2d.v4.f32.f32", BASE(F32, 1, 37, 11, 0),
                                   .kind = KIND_PITCH, .filter = filter, .flags = normal ? NORM : 0,
                                   .addr = {mode, mode, mode}),
                             "pitch_f32_%d_%d_%s", filter, normal, modes[mode]);
                texture_case(&CASE(.op = "tex.2d.v4.f32.f32", BASE(U8, 4, 37, 11, 0),
                                   .kind = KIND_PITCH, .filter = filter, .flags = normal ? NORM : 0,
                                   .addr = {mode, mode, mode}),
                             "pitch_u8_%d_%d_%s", filter, normal, modes[mode]);
            }
        texture_case(&CASE(.op = "tex.2d.v4.f32.s32", BASE(F32, 2, 37, 11, 0), .kind = KIND_PITCH,
                           .filter = filter),
                     "pitch_integer_%d", filter);
    }
}

static void layer_cases(void)
{
    for (int filter = 0; filter < 2; filter++)
        for (int normal = 0; normal < 2; normal++) {
            unsigned flags = normal ? NORM : 0;
            for (int mode = 0; mode < 4; mode++) {
                texture_case(&CASE(.op = "tex.a1d.v4.f32.f32", BASE(F32, 4, 12, 0, 5),
                                   .array_flags = LAYERED, .filter = filter, .flags = flags,
                                   .addr = {mode, mode, mode}),
                             "layer_1d_%d_%d_%s", filter, normal, modes[mode]);
                texture_case(&CASE(.op = "tex.a2d.v4.f32.f32", BASE(F32, 4, 12, 7, 5),
                                   .array_flags = LAYERED, .filter = filter, .flags = flags,
                                   .addr = {mode, mode, mode}),
                             "layer_2d_%d_%d_%s", filter, normal, modes[mode]);
            }
            texture_case(&CASE(.op = "tex.a2d.v4.f32.s32", BASE(F32, 4, 12, 7, 5),
                               .array_flags = LAYERED, .filter = filter, .flags = flags),
                         "layer_2d_s32_%d_%d", filter, normal);
            texture_case(&CASE(.op = "tex.a1d.v4.f32.s32", BASE(F32, 4, 12, 0, 5),
                               .array_flags = LAYERED, .filter = filter, .flags = flags),
                         "layer_1d_s32_%d_%d", filter, normal);
            for (int seam = 0; seam < 2; seam++)
                for (int mode = 0; mode < 4; mode++) {
                    unsigned f = flags | (seam ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
                    texture_case(&CASE(.op = "tex.cube.v4.f32.f32", BASE(F32, 4, 8, 8, 6),
                                       .array_flags = CUBE, .filter = filter, .flags = f,
                                       .addr = {mode, mode, mode}),
                                 "cube_%d_%d_%d_%s", filter, normal, seam, modes[mode]);
                    if (mode < 2)
                        texture_case(&CASE(.op = "tex.acube.v4.f32.f32", BASE(F32, 4, 8, 8, 18),
                                           .array_flags = CUBE | LAYERED, .filter = filter,
                                           .flags = f, .addr = {mode, mode, mode}),
                                     "acube_%d_%d_%d_%s", filter, normal, seam, modes[mode]);
                }
        }
}

static void mipmap_cases(void)
{
    static const struct {
        const char *name, *level, *grad, *plain, *base;
        int w, h, d, levels;
        unsigned flags;
    } shapes[] = {{"1d", "tex.level.1d.v4.f32.f32", "tex.grad.1d.v4.f32.f32", "tex.1d.v4.f32.f32",
                   "tex.base.1d.v4.f32.f32", 64, 0, 0, 7, 0},
                  {"2d", "tex.level.2d.v4.f32.f32", "tex.grad.2d.v4.f32.f32", "tex.2d.v4.f32.f32",
                   "tex.base.2d.v4.f32.f32", 64, 32, 0, 7, 0},
                  {"2dodd", "tex.level.2d.v4.f32.f32", "tex.grad.2d.v4.f32.f32",
                   "tex.2d.v4.f32.f32", "tex.base.2d.v4.f32.f32", 37, 21, 0, 5, 0},
                  {"3d", "tex.level.3d.v4.f32.f32", "tex.grad.3d.v4.f32.f32", "tex.3d.v4.f32.f32",
                   "tex.base.3d.v4.f32.f32", 16, 16, 8, 5, 0},
                  {"a1d", "tex.level.a1d.v4.f32.f32", "tex.grad.a1d.v4.f32.f32",
                   "tex.a1d.v4.f32.f32", "tex.base.a1d.v4.f32.f32", 32, 0, 4, 6, LAYERED},
                  {"a2d", "tex.level.a2d.v4.f32.f32", "tex.grad.a2d.v4.f32.f32",
                   "tex.a2d.v4.f32.f32", "tex.base.a2d.v4.f32.f32", 32, 32, 4, 6, LAYERED},
                  {"cube", "tex.level.cube.v4.f32.f32", "tex.grad.cube.v4.f32.f32",
                   "tex.cube.v4.f32.f32", "tex.base.cube.v4.f32.f32", 16, 16, 6, 5, CUBE},
                  {"acube", "tex.level.acube.v4.f32.f32", "tex.grad.acube.v4.f32.f32",
                   "tex.acube.v4.f32.f32", "tex.base.acube.v4.f32.f32", 16, 16, 12, 5,
                   CUBE | LAYERED}};
    for (int s = 0; s < 8; s++)
        for (int filter = 0; filter < 2; filter++)
            for (int mip = 0; mip < 2; mip++) {
                struct texcase c = CASE(BASE(F32, 4, shapes[s].w, shapes[s].h, shapes[s].d),
                                        .kind = KIND_MIPMAP, .array_flags = shapes[s].flags,
                                        .filter = filter, .mip = mip, .flags = NORM, .high = 20);
                c.levels = shapes[s].levels;
                c.op = shapes[s].level;
                texture_case(&c, "level_%s_%d_%d", shapes[s].name, filter, mip);
                c.flags |= CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
                texture_case(&c, "level_%s_%d_%d_exact", shapes[s].name, filter, mip);
                c.flags &= ~(unsigned)CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
                c.bias = 0.7f;
                texture_case(&c, "level_%s_%d_%d_bias", shapes[s].name, filter, mip);
                c.bias = 0;
                c.low = 1.25f;
                c.high = 2.6f;
                texture_case(&c, "level_%s_%d_%d_clamp", shapes[s].name, filter, mip);
                c.low = 0;
                c.high = 20;
                c.op = shapes[s].grad;
                c.where = WHERE_LINE;
                texture_case(&c, "grad_%s_%d_%d", shapes[s].name, filter, mip);
                c.aniso = 1;
                texture_case(&c, "grad_%s_%d_%d_aniso1", shapes[s].name, filter, mip);
                c.aniso = 4;
                texture_case(&c, "grad_%s_%d_%d_aniso4", shapes[s].name, filter, mip);
                c.aniso = 0;
                c.op = shapes[s].plain;
                texture_case(&c, "plain_%s_%d_%d", shapes[s].name, filter, mip);
                c.op = shapes[s].base;
                texture_case(&c, "base_%s_%d_%d", shapes[s].name, filter, mip);
            }
}

static void odd_mipmap_cases(void)
{
    struct texcase c =
        CASE(.op = "tex.level.2d.v4.f32.s32", BASE(F32, 1, 32, 16, 0), .kind = KIND_MIPMAP);
    c.levels = 5;
    c.high = 20;
    texture_case(&c, "level_integer");
    c.op = "tex.level.2d.v4.f32.f32";
    c.flags = 0;
    texture_case(&c, "level_unnormalised");
    c.flags = NORM;
    c.mip = 1;
    c.filter = 1;
    c.fmt = CU_AD_FORMAT_UNSIGNED_INT8;
    c.ch = 4;
    texture_case(&c, "level_u8");
    c.fmt = CU_AD_FORMAT_HALF;
    c.data = DATA_WIDE;
    texture_case(&c, "level_f16");
    c.fmt = CU_AD_FORMAT_FLOAT;
    texture_case(&c, "level_f32_wide");
    c.view = CU_RES_VIEW_FORMAT_FLOAT_4X32;
    c.view_first_level = 1;
    c.view_last_level = 3;
    texture_case(&c, "level_view");
    c.view = 0;
    c.kind = KIND_ARRAY;
    texture_case(&c, "level_of_array");
}

static void gather_cases(void)
{
    static const char *const parts[] = {"r", "g", "b", "a"};
    for (int k = 0; k < 4; k++)
        for (int normal = 0; normal < 2; normal++) {
            char op[60];
            snprintf(op, sizeof op, "tld4.%s.2d.v4.f32.f32", parts[k]);
            struct texcase c = CASE(.op = op, BASE(F32, 4, 13, 9, 0), .array_flags = GATHER,
                                    .flags = normal ? NORM : 0);
            texture_case(&c, "gather_%s_%d", parts[k], normal);
            c.addr[0] = c.addr[1] = normal ? 0 : 3;
            texture_case(&c, "gather_%s_%d_mode", parts[k], normal);
            c.filter = 1;
            texture_case(&c, "gather_%s_%d_linear", parts[k], normal);
            c.ch = 1;
            texture_case(&c, "gather_%s_%d_one", parts[k], normal);
            c.array_flags = 0;
            texture_case(&c, "gather_%s_%d_noflag", parts[k], normal);
        }
    static const struct {
        const char *op;
        int f;
        unsigned flags;
    } typed[] = {{"tld4.r.2d.v4.u32.f32", U8, CU_TRSF_READ_AS_INTEGER},
                 {"tld4.g.2d.v4.s32.f32", S16, CU_TRSF_READ_AS_INTEGER},
                 {"tld4.b.2d.v4.f32.f32", U8, 0},
                 {"tld4.a.2d.v4.f32.f32", F16, 0},
                 {"tld4.r.2d.v2.f16x2.f32", F32, 0}};
    for (int k = 0; k < 5; k++)
        texture_case(&CASE(.op = typed[k].op, BASE(typed[k].f, 4, 13, 9, 0), .array_flags = GATHER,
                           .flags = typed[k].flags, .data = DATA_WIDE),
                     "gather_typed_%d", k);
    texture_case(&CASE(.op = "tld4.r.a2d.v4.f32.f32", BASE(F32, 4, 13, 9, 4),
                       .array_flags = GATHER | LAYERED),
                 "gather_a2d");
    texture_case(
        &CASE(.op = "tld4.r.cube.v4.f32.f32", BASE(F32, 4, 8, 8, 6), .array_flags = GATHER | CUBE),
        "gather_cube");
    texture_case(&CASE(.op = "tld4.r.2d.v4.f32.f32", BASE(F32, 1, 13, 9, 0), .array_flags = GATHER,
                       .offset = {2, -1}),
                 "gather_offset");
    texture_case(
        &CASE(.op = "tex.2d.v4.f32.f32", BASE(F32, 1, 13, 9, 0), .filter = 1, .offset = {3, -2}),
        "offset_2d");
    texture_case(&CASE(.op = "tex.2d.v4.f32.f32", BASE(F32, 1, 13, 9, 0), .flags = NORM,
                       .addr = {0, 2, 0}, .offset = {3, -2}),
                 "offset_2d_wrap");
    texture_case(&CASE(.op = "tex.3d.v4.f32.f32", BASE(F32, 1, 7, 6, 5), .offset = {1, -8, 7}),
                 "offset_3d");
    texture_case(&CASE(.op = "tex.1d.v4.f32.s32", BASE(F32, 1, 13, 0, 0), .offset = {-3}),
                 "offset_1d");
    texture_case(&CASE(.op = "tex.level.2d.v4.f32.f32", BASE(F32, 1, 32, 16, 0),
                       .kind = KIND_MIPMAP, .levels = 4, .high = 20, .flags = NORM,
                       .offset = {5, 4}),
                 "offset_level");
}

static void query_cases(void)
{
    static const char *const queries[] = {"txq.width.b32",        "txq.height.b32",
                                          "txq.depth.b32",        "txq.level.width.b32",
                                          "txq.level.height.b32", "txq.level.depth.b32"};
    for (unsigned k = 0; k < sizeof queries / sizeof *queries; k++) {
        struct texcase c = CASE(.op = queries[k], BASE(F32, 4, 13, 9, 0));
        c.n = 8;
        texture_case(&c, "query_2d_%s", queries[k]);
        c.kind = KIND_MIPMAP;
        c.levels = 4;
        c.flags = NORM;
        c.fmt = CU_AD_FORMAT_UNSIGNED_INT8;
        c.ch = 2;
        texture_case(&c, "query_mip_%s", queries[k]);
        c.array_flags = LAYERED;
        c.d = 5;
        c.fmt = CU_AD_FORMAT_SIGNED_INT16;
        c.ch = 1;
        c.flags |= CU_TRSF_READ_AS_INTEGER;
        texture_case(&c, "query_layered_%s", queries[k]);
        c.array_flags = 0;
        c.fmt = CU_AD_FORMAT_HALF;
        texture_case(&c, "query_3d_%s", queries[k]);
        c.kind = KIND_LINEAR;
        c.h = c.d = 0;
        c.flags = 0;
        c.fmt = CU_AD_FORMAT_SIGNED_INT32;
        texture_case(&c, "query_linear_%s", queries[k]);
        c.kind = KIND_PITCH;
        c.h = 4;
        c.fmt = CU_AD_FORMAT_UNSIGNED_INT16;
        texture_case(&c, "query_pitch_%s", queries[k]);
        c = CASE(.op = queries[k], BASE(F32, 1, 8, 8, 12), .array_flags = CUBE | LAYERED);
        c.n = 8;
        texture_case(&c, "query_acube_%s", queries[k]);
    }
    static const char *const surface[] = {"suq.width.b32", "suq.height.b32", "suq.depth.b32"};
    for (unsigned k = 0; k < 3; k++) {
        struct texcase c = CASE(.op = surface[k], BASE(F32, 4, 13, 9, 0), .array_flags = LDST);
        c.n = 8;
        texture_case(&c, "query_2d_%s", surface[k]);
        c.fmt = CU_AD_FORMAT_UNSIGNED_INT8;
        c.ch = 2;
        c.d = 4;
        texture_case(&c, "query_3d_%s", surface[k]);
        c.array_flags |= LAYERED;
        texture_case(&c, "query_layered_%s", surface[k]);
        c.h = 0;
        texture_case(&c, "query_a1d_%s", surface[k]);
    }
    static const char *const types[] = {"istypep.texref", "istypep.surfref", "istypep.samplerref"};
    for (unsigned k = 0; k < 3; k++)
        texture_case(&CASE(.op = types[k], BASE(F32, 4, 13, 9, 0), .n = 8), "query_%s", types[k]);
}

static const struct {
    const char *geometry;
    int w, h, d;
    unsigned flags;
} surface_shapes[] = {{"1d", 13, 0, 0, 0},
                      {"2d", 13, 9, 0, 0},
                      {"3d", 7, 6, 5, 0},
                      {"a1d", 12, 0, 5, LAYERED},
                      {"a2d", 12, 7, 5, LAYERED}};
static const char *const bounds[] = {"clamp", "zero", "trap"};

static void surface_cases(void)
{
    static const struct {
        const char *type;
        int f, ch;
    } types[] = {{"b8", U8, 1},      {"v2.b8", U8, 2},   {"v4.b8", U8, 4},   {"b16", U16, 1},
                 {"v2.b16", U16, 2}, {"v4.b16", U16, 4}, {"b32", F32, 1},    {"v2.b32", F32, 2},
                 {"v4.b32", F32, 4}, {"b64", F32, 2},    {"v2.b64", F32, 4}, {"b32", U8, 4}};
    char op[100];
    for (int s = 0; s < 5; s++)
        for (int b = 0; b < 3; b++)
            for (int t = 0; t < 12; t++) {
                if (t != 8 && t != 4 && s != 1)
                    continue;
                struct texcase c =
                    CASE(.op = op,
                         BASE(types[t].f, types[t].ch, surface_shapes[s].w, surface_shapes[s].h,
                              surface_shapes[s].d),
                         .array_flags = LDST | surface_shapes[s].flags, .data = DATA_BITS, .n = 64);
                c.n = 64;
                snprintf(op, sizeof op, "suld.b.%s.%s.%s", surface_shapes[s].geometry,
                         types[t].type, bounds[b]);
                texture_case(&c, "surface_%s_%s_%s_%d_load", surface_shapes[s].geometry,
                             types[t].type, bounds[b], types[t].f);
                c.n = b == 0 ? 1
                             : 24; /* several threads may be clamped to one place: the last wins */
                snprintf(op, sizeof op, "sust.b.%s.%s.%s", surface_shapes[s].geometry,
                         types[t].type, bounds[b]);
                texture_case(&c, "surface_%s_%s_%s_%d_store", surface_shapes[s].geometry,
                             types[t].type, bounds[b], types[t].f);
            }
}

static void formatted_surface_cases(void)
{
    char op[100];
    static const char *const sample[] = {"suld.b.2d.v2.b32.clamp", "suld.b.2d.b8.clamp",
                                         "suld.b.2d.v4.b32.zero", "suld.b.2d.b16.zero"};
    for (int k = 0; k < 4; k++) /* of another size than the element, and not aligned */
        texture_case(&CASE(.op = sample[k], BASE(F32, 1, 13, 9, 0), .array_flags = LDST,
                           .data = DATA_BITS, .n = 64),
                     "surface_size_%d", k);
    for (int f = 0; f < 8; f++)
        for (int ch = 1; ch <= 4; ch *= 2) {
            snprintf(op, sizeof op, "sust.p.2d.%sb32.clamp",
                     ch == 1   ? ""
                     : ch == 2 ? "v2."
                               : "v4.");
            struct texcase c = CASE(.op = op, BASE(f, ch, 13, 9, 0), .array_flags = LDST,
                                    .data = DATA_BITS, .where = WHERE_GRID);
            c.n = 1;
            texture_case(&c, "surface_format_%s_%d", formats[f].name, ch);
            snprintf(op, sizeof op, "sust.p.2d.v4.b32.zero");
            c.n = 16;
            texture_case(&c, "surface_format_%s_%d_v4", formats[f].name, ch);
        }
}

static void reduction_cases(void)
{
    char op[100];
    static const struct {
        const char *op;
        int f, ch;
    } reductions[] = {{"add.2d.u32", U32, 1}, {"min.2d.u32", U32, 1}, {"max.2d.u32", U32, 1},
                      {"min.2d.s32", S32, 1}, {"max.2d.s32", S32, 1}, {"and.2d.b32", U32, 1},
                      {"or.2d.b32", U32, 1},  {"add.2d.u64", U32, 2}, {"min.2d.u64", U32, 2},
                      {"max.2d.s64", U32, 2}, {"add.1d.u32", U32, 1}, {"add.3d.u32", U32, 1}};
    for (int k = 0; k < 12; k++)
        for (int b = 0; b < 3; b++) {
            const char *geometry = strchr(reductions[k].op, '.') + 1;
            int s = !strncmp(geometry, "1d", 2)    ? 0
                    : !strncmp(geometry, "2d", 2)  ? 1
                    : !strncmp(geometry, "3d", 2)  ? 2
                    : !strncmp(geometry, "a1d", 3) ? 3
                                                   : 4;
            struct texcase c =
                CASE(.op = op,
                     BASE(reductions[k].f, reductions[k].ch, surface_shapes[s].w,
                          surface_shapes[s].h, surface_shapes[s].d),
                     .array_flags = LDST | surface_shapes[s].flags, .data = DATA_BITS);
            c.n = 200;
            snprintf(op, sizeof op, "sured.b.%s.%s", reductions[k].op, bounds[b]);
            texture_case(&c, "reduce_%s_%s", reductions[k].op, bounds[b]);
            if (!strstr(reductions[k].op, "64")) {
                if (strstr(reductions[k].op, ".u32") && !strstr(reductions[k].op, "add"))
                    continue;
                snprintf(op, sizeof op, "sured.p.%.*s.b32.%s",
                         (int)(strrchr(reductions[k].op, '.') - reductions[k].op), reductions[k].op,
                         bounds[b]);
                texture_case(&c, "reduce_p_%s_%s", reductions[k].op, bounds[b]);
            }
        }
}

static void view_cases(void)
{
    static const struct {
        int view, f, ch;
        const char *name;
    } views[] = {{CU_RES_VIEW_FORMAT_UINT_4X8, U32, 1, "u8x4_of_u32"},
                 {CU_RES_VIEW_FORMAT_UINT_4X8, U8, 4, "u8x4"},
                 {CU_RES_VIEW_FORMAT_SINT_4X8, U8, 4, "s8x4_of_u8"},
                 {CU_RES_VIEW_FORMAT_FLOAT_1X32, U32, 1, "f32_of_u32"},
                 {CU_RES_VIEW_FORMAT_FLOAT_2X16, U32, 1, "f16x2_of_u32"},
                 {CU_RES_VIEW_FORMAT_UINT_2X16, F32, 1, "u16x2_of_f32"},
                 {CU_RES_VIEW_FORMAT_FLOAT_4X32, F32, 4, "f32x4"}};
    for (unsigned k = 0; k < sizeof views / sizeof *views; k++) {
        struct texcase c = CASE(.op = fetch[1], BASE(views[k].f, views[k].ch, 16, 8, 0),
                                .view = views[k].view, .data = DATA_BITS);
        c.flags = NORM;
        c.where = WHERE_GRID;
        texture_case(&c, "view_%s", views[k].name);
        c.flags |= CU_TRSF_READ_AS_INTEGER;
        c.op = "tex.2d.v4.u32.f32";
        texture_case(&c, "view_%s_u32", views[k].name);
    }
    texture_case(&CASE(.op = "tex.a2d.v4.f32.f32", BASE(F32, 1, 16, 8, 6), .array_flags = LAYERED,
                       .view = CU_RES_VIEW_FORMAT_FLOAT_1X32, .view_first_layer = 2,
                       .view_last_layer = 4),
                 "view_layers");
}

void texture_cases(void)
{
    filter_cases();
    address_cases();
    format_cases();
    integer_cases();
    layer_cases();
    mipmap_cases();
    odd_mipmap_cases();
    gather_cases();
    query_cases();
    surface_cases();
    formatted_surface_cases();
    reduction_cases();
    view_cases();
}
