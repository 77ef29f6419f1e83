/*
 * run.c: one case: makes its texture or surface, runs its instruction in every thread, and prints
 * the words that come out.
 */
#include "bits.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct lk_driver *driver;
FILE *out; /* the case that runs: its words */

#define CHECK(call)                                                                                \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != CUDA_SUCCESS) {                                                             \
            fprintf(stderr, "%s:%d: %s gives %d\n", __FILE__, __LINE__, #call, (int)result_);      \
            return (int)result_;                                                                   \
        }                                                                                          \
    } while (0)

/* Numbers -------------------------------------------------------------------------------------- */

uint64_t texture_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static uint32_t random_at(uint64_t seed, uint64_t index)
{
    uint64_t x = seed + index * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((x ^ (x >> 31)) >> 16);
}

static float unit(uint32_t bits)
{
    return (float)(bits >> 8) * 0x1p-24f;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static int format_bytes(int format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    default:
        return 4;
    }
}

static uint32_t make_float(int data, uint32_t r, uint32_t s)
{
    static const uint32_t special[] = {0x7f800000, 0xff800000, 0x7fc00000, 0x7f812345, 0xffc54321,
                                       0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff,
                                       0x00000000, 0x80000000, 0x3f800000, 0xbf800000};
    switch (data) {
    case DATA_UNIT:
        return bits_of(unit(r));
    case DATA_WIDE: /* exponents from -12 to 11 */
        return (r & 0x807fffff) | (115 + s % 24) << 23;
    case DATA_SPECIAL:
        if (s % 3 == 0)
            return special[r % (sizeof special / sizeof *special)];
        return (r & 0x807fffff) | (100 + s % 50) << 23;
    default:
        return r;
    }
}

static uint16_t make_half(int data, uint32_t r, uint32_t s)
{
    static const uint16_t special[] = {0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x0001, 0x83ff, 0x0400,
                                       0x7bff, 0xfbff, 0x0000, 0x8000, 0x3c00, 0xbc00};
    switch (data) {
    case DATA_UNIT:
        return (uint16_t)((r & 0x3ff) | (10 + s % 5) << 10);
    case DATA_WIDE:
        return (uint16_t)((r & 0x83ff) | (1 + s % 30) << 10);
    case DATA_SPECIAL:
        if (s % 3 == 0)
            return special[r % (sizeof special / sizeof *special)];
        return (uint16_t)((r & 0x83ff) | (s % 31) << 10);
    default:
        return (uint16_t)r;
    }
}

static void fill(const struct texcase *c, uint64_t seed, void *bytes, size_t elements)
{
    for (size_t i = 0; i < elements; i++) {
        uint32_t r = random_at(seed, 2 * i + 1000000), s = random_at(seed, 2 * i + 1000001);
        if (c->fmt == CU_AD_FORMAT_FLOAT)
            ((uint32_t *)bytes)[i] = make_float(c->data, r, s);
        else if (c->fmt == CU_AD_FORMAT_HALF)
            ((uint16_t *)bytes)[i] = make_half(c->data, r, s);
        else if (format_bytes(c->fmt) == 4)
            ((uint32_t *)bytes)[i] = r;
        else if (format_bytes(c->fmt) == 2)
            ((uint16_t *)bytes)[i] = (uint16_t)r;
        else
            ((uint8_t *)bytes)[i] = (uint8_t)r;
    }
}

static bool has(const char *op, const char *part)
{
    return strstr(op, part) != NULL;
}

/* One coordinate along a dimension of extent texels. */
static uint32_t coordinate(const struct texcase *c, uint64_t seed, uint64_t index, int extent,
                           bool integer, bool normalised)
{
    uint32_t r = random_at(seed, index * 4), s = random_at(seed, index * 4 + 1),
             t = random_at(seed, index * 4 + 2);
    if (integer && has(c->op, ".trap"))
        return r % (unsigned)extent;
    if (integer) {
        static const int special[] = {-1, -2, 0, 1, 0x7fffffff, (int)0x80000000, 0x10000, -0x8000};
        if (c->where != WHERE_GRID && t % 8 == 0)
            return (uint32_t)special[r % 8];
        if (c->where != WHERE_GRID && t % 8 == 1)
            return (uint32_t)(extent - 2 + (int)(r % 5));
        return (uint32_t)((int)(r % (unsigned)(extent + 4)) - 2);
    }
    static const float special[] = {NAN,          INFINITY,   -INFINITY, 0.0f,
                                    -0.0f,        1e30f,      -1e30f,    2147483648.0f,
                                    16777216.0f,  -1e-8f,     1e-40f,    4294967296.0f,
                                    -16777217.0f, 8388607.5f, 0.5f,      -0.5f};
    float x;
    unsigned pick = c->where == WHERE_GRID ? 8 : c->where == WHERE_LINE ? 0 : t % 20;
    if (pick < 7)
        x = (unit(r) * 3.4f - 1.2f) * (float)extent;
    else if (pick < 11)
        x = (float)(int)(r % (unsigned)(extent + 3)) - 1.0f + (float)(s % 256) / 256.0f;
    else if (pick < 15) {
        x = (float)(int)(r % (unsigned)(extent + 3)) - 1.0f + ((float)(s % 256) + 0.5f) / 256.0f;
        int step = (int)(s >> 16) % 5 - 2;
        x = float_of(bits_of(x) + (uint32_t)step);
    } else if (pick < 17) {
        x = float_of(bits_of((float)(int)(r % (unsigned)(2 * extent + 2)) * 0.5f) + s % 5 - 2);
    } else
        return bits_of(special[r % 16]);
    if (normalised)
        x /= (float)extent;
    return bits_of(x);
}

/* The instruction ------------------------------------------------------------------------------ */

static int axes_of(const char *op)
{
    if (has(op, ".cube") || has(op, ".acube"))
        return 3;
    if (has(op, ".1d") || has(op, ".a1d"))
        return 1;
    if (has(op, ".3d"))
        return 3;
    return 2;
}

static const char *coordinates_of(const char *op)
{
    if (has(op, ".a1d"))
        return "{layer, x}";
    if (has(op, ".a2d"))
        return "{layer, x, y, y}";
    if (has(op, ".acube"))
        return "{layer, x, y, z}";
    if (has(op, ".1d"))
        return "{x}";
    if (has(op, ".2d"))
        return "{x, y}";
    return "{x, y, z, z}";
}

/* Threads: 16 words of input each, 4 of output. */
static void write_ptx(const struct texcase *c, char *text, size_t size)
{
    const char *op = c->op;
    char body[1024], extra[200] = "";
    if (has(op, ".level."))
        snprintf(extra, sizeof extra, ", lod");
    if (has(op, ".grad.")) {
        int axes = axes_of(op);
        snprintf(extra, sizeof extra, "%s",
                 axes == 1   ? ", {g0}, {g3}"
                 : axes == 2 ? ", {g0, g1}, {g3, g4}"
                             : ", {g0, g1, g2, g2}, {g3, g4, g5, g5}");
    }
    if (c->offset[0] || c->offset[1] || c->offset[2]) {
        char more[100];
        if (axes_of(op) == 1)
            snprintf(more, sizeof more, ", {%d}", c->offset[0]);
        else if (axes_of(op) == 2)
            snprintf(more, sizeof more, ", {%d, %d}", c->offset[0], c->offset[1]);
        else
            snprintf(more, sizeof more, ", {%d, %d, %d, %d}", c->offset[0], c->offset[1],
                     c->offset[2], c->offset[2]);
        strcat(extra, more);
    }
    const char *where = coordinates_of(op);
    bool v2 = has(op, ".v2."), v4 = has(op, ".v4.");
    const char *words = v4 ? "{o0, o1, o2, o3}" : v2 ? "{o0, o1}" : "o0";
    if (has(op, ".b8") || has(op, ".b16"))
        words = v4 ? "{h0, h1, h2, h3}" : v2 ? "{h0, h1}" : "h0";
    if (has(op, ".b64"))
        words = v2 ? "{d0, d1}" : "d0";
    if (has(op, "tex.") || has(op, "tld4."))
        snprintf(body, sizeof body, "%s %s, [handle, %s]%s;", op, words, where, extra);
    else if (has(op, "txq.") || has(op, "suq."))
        snprintf(body, sizeof body,
                 has(op, "txq.level") ? "%s o0, [handle], lod;" : "%s o0, [handle];", op);
    else if (has(op, "suld."))
        snprintf(body, sizeof body, "%s %s, [handle, %s];", op, words, where);
    else if (has(op, "sust."))
        snprintf(body, sizeof body, "%s [handle, %s], %s;", op, where, words);
    else if (has(op, "istypep"))
        snprintf(body, sizeof body, "%s p, handle;\n selp.b32 o0, 1, 0, p;", op);
    else
        snprintf(body, sizeof body, "%s [handle, %s], %s;", op, where, has(op, "64") ? "d0" : "o0");
    const char *after = "";
    bool load = has(op, "suld.");
    if (has(op, ".b8") || has(op, ".b16"))
        after = load ? v4   ? "cvt.u32.u16 o0, h0; cvt.u32.u16 o1, h1; cvt.u32.u16 o2, h2; "
                              "cvt.u32.u16 o3, h3;"
                       : v2 ? "cvt.u32.u16 o0, h0; cvt.u32.u16 o1, h1;"
                            : "cvt.u32.u16 o0, h0;"
                     : "";
    if (has(op, ".b64") && load)
        after = v2 ? "mov.b64 {o0, o1}, d0; mov.b64 {o2, o3}, d1;" : "mov.b64 {o0, o1}, d0;";
    snprintf(
        text, size,
        ".version 8.1\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u32 p3)\n{\n"
        ".reg .b64 handle, in, out, t, d0, d1;\n.reg .b32 i, n, b, layer, lod, zero;\n"
        ".reg .b32 x, y, z, g0, g1, g2, g3, g4, g5, o0, o1, o2, o3;\n"
        ".reg .b16 h0, h1, h2, h3;\n.reg .pred p, q;\n"
        "ld.param.u64 handle, [p0]; ld.param.u64 in, [p1]; ld.param.u64 out, [p2];\n"
        "ld.param.u32 n, [p3];\n"
        "mov.u32 i, %%ctaid.x; mov.u32 b, %%ntid.x; mul.lo.u32 i, i, b; mov.u32 b, %%tid.x;\n"
        "add.u32 i, i, b; setp.ge.u32 q, i, n; @q ret;\n"
        "mul.wide.u32 t, i, 64; add.u64 in, in, t; mul.wide.u32 t, i, 16; add.u64 out, out, t;\n"
        "ld.global.b32 x, [in]; ld.global.b32 y, [in+4]; ld.global.b32 z, [in+8];\n"
        "ld.global.b32 layer, [in+12]; ld.global.b32 lod, [in+16];\n"
        "ld.global.b32 g0, [in+20]; ld.global.b32 g1, [in+24]; ld.global.b32 g2, [in+28];\n"
        "ld.global.b32 g3, [in+32]; ld.global.b32 g4, [in+36]; ld.global.b32 g5, [in+40];\n"
        "ld.global.b32 o0, [in+44]; ld.global.b32 o1, [in+48]; ld.global.b32 o2, [in+52];\n"
        "ld.global.b32 o3, [in+56];\n"
        "mov.b64 d0, {o0, o1}; mov.b64 d1, {o2, o3};\n"
        "cvt.u16.u32 h0, o0; cvt.u16.u32 h1, o1; cvt.u16.u32 h2, o2; cvt.u16.u32 h3, o3;\n"
        "%s\n%s\n"
        "st.global.v4.b32 [out], {o0, o1, o2, o3};\nret;\n}\n",
        body, after);
}

struct thread_input {
    uint32_t at[3], layer, lod, grad[6], value[4], pad;
};

static float gradient(uint64_t seed, uint64_t index, int extent, bool normalised)
{
    float g = (unit(random_at(seed, index)) * 2 - 1) *
              ldexpf(1.0f, (int)(random_at(seed, index + 1) % 9) - 4);
    return normalised ? g / (float)extent : g;
}

static void make_input(const struct texcase *c, uint64_t seed, struct thread_input *in)
{
    const char *op = c->op;
    bool surface = has(op, "su") && (has(op, "suld") || has(op, "sust") || has(op, "sured"));
    bool integer = surface || (has(op, "tex.") && has(op, ".s32") && op[strlen(op) - 3] == 's');
    bool normalised = (c->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    bool bytes = surface && has(op, ".b.");
    int element = format_bytes(c->fmt) * c->ch;
    int layers = c->d ? c->d : 1;
    if (has(op, ".acube"))
        layers /= 6;
    for (int i = 0; i < c->n; i++) {
        struct thread_input *t = &in[i];
        int extent[3] = {c->w, c->h ? c->h : 1, c->d ? c->d : 1};
        for (int k = 0; k < 3; k++)
            t->at[k] =
                coordinate(c, seed, (uint64_t)i * 8 + (uint64_t)k, extent[k], integer, normalised);
        if (has(op, ".cube") || has(op, ".acube"))
            for (int k = 0; k < 3; k++) {
                float v = unit(random_at(seed, (uint64_t)i * 8 + 900000 + (uint64_t)k)) * 2 - 1;
                unsigned pick = random_at(seed, (uint64_t)i * 8 + 900003 + (uint64_t)k) % 12;
                t->at[k] = bits_of(pick == 0 ? 0.0f : pick == 1 ? 1.0f : pick == 2 ? -1.0f : v * 3);
                if (c->where == WHERE_MIXED && i % 16 == 0 && pick == 3)
                    t->at[k] = bits_of(NAN);
            }
        if (bytes) /* byte coordinates */
            t->at[0] *= (uint32_t)element;
        int layer = (int)(random_at(seed, (uint64_t)i + 700000) % (unsigned)(layers + 3)) - 1;
        if (has(op, ".trap"))
            layer = (int)(random_at(seed, (uint64_t)i + 700000) % (unsigned)layers);
        t->layer = (uint32_t)layer;
        float lod = unit(random_at(seed, (uint64_t)i + 600000)) * (float)(c->levels + 3) - 1.5f;
        if (i % 4 == 1)
            lod = floorf(lod * 256) / 256;
        if (i % 16 == 7)
            lod = floorf(lod) + 0.5f;
        if (i % 64 == 3)
            lod = NAN;
        t->lod = has(op, ".s32") && op[strlen(op) - 3] == 's'
                     ? (uint32_t)(int)(i % (c->levels + 3)) - 1
                     : bits_of(lod);
        if (has(op, "txq.level"))
            t->lod = (uint32_t)(i % (c->levels + 2));
        for (int k = 0; k < 6; k++)
            t->grad[k] = bits_of(gradient(seed, 800000 + (uint64_t)i * 16 + 2 * (uint64_t)k,
                                          extent[k % 3], normalised));
        for (int k = 0; k < 4; k++)
            t->value[k] = random_at(seed, 500000 + (uint64_t)i * 4 + (uint64_t)k);
        if (has(op, "sust.p") && c->fmt == CU_AD_FORMAT_FLOAT)
            for (int k = 0; k < 4; k++)
                t->value[k] = bits_of(unit(t->value[k]) * 3 - 1);
    }
}

/* Resources ------------------------------------------------------------------------------------ */

struct resource {
    CUDA_RESOURCE_DESC desc;
    CUarray array;
    CUmipmappedArray mipmap;
    CUdeviceptr memory;
    size_t bytes;
};

static int upload(const struct texcase *c, CUarray array, int w, int h, int d, uint64_t seed)
{
    size_t row = (size_t)w * (size_t)(format_bytes(c->fmt) * c->ch);
    size_t rows = (size_t)(h ? h : 1), slices = (size_t)(d ? d : 1);
    void *bytes = malloc(row * rows * slices);
    fill(c, seed, bytes, (size_t)w * rows * slices * (size_t)c->ch);
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = bytes,
                          .srcPitch = row,
                          .srcHeight = rows,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = row,
                          .Height = rows,
                          .Depth = slices};
    CHECK(driver->cuMemcpy3D_v2(&copy));
    free(bytes);
    return 0;
}

static int make_resource(const struct texcase *c, uint64_t seed, struct resource *r)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = (size_t)c->w,
                                 .Height = (size_t)c->h,
                                 .Depth = (size_t)c->d,
                                 .Format = (CUarray_format)c->fmt,
                                 .NumChannels = (unsigned)c->ch,
                                 .Flags = c->array_flags};
    size_t row = (size_t)c->w * (size_t)(format_bytes(c->fmt) * c->ch);
    if (c->kind == KIND_ARRAY) {
        CHECK(driver->cuArray3DCreate_v2(&r->array, &d));
        if (upload(c, r->array, c->w, c->h, c->d, seed))
            return 1;
        r->desc.resType = CU_RESOURCE_TYPE_ARRAY;
        r->desc.res.array.hArray = r->array;
    } else if (c->kind == KIND_MIPMAP) {
        CHECK(driver->cuMipmappedArrayCreate(&r->mipmap, &d, (unsigned)c->levels));
        bool layered = (c->array_flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
        for (int level = 0; level < c->levels; level++) {
            CUarray array;
            CHECK(driver->cuMipmappedArrayGetLevel(&array, r->mipmap, (unsigned)level));
            int w = c->w >> level, h = c->h >> level, depth = layered ? c->d : c->d >> level;
            if (upload(c, array, w ? w : 1, c->h && !h ? 1 : h, c->d && !depth ? 1 : depth,
                       seed + (uint64_t)level * 77))
                return 1;
        }
        r->desc.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        r->desc.res.mipmap.hMipmappedArray = r->mipmap;
    } else {
        size_t pitch = c->kind == KIND_PITCH ? (row + 511) / 512 * 512 : row;
        size_t rows = c->kind == KIND_PITCH ? (size_t)c->h : 1;
        r->bytes = pitch * rows;
        CHECK(driver->cuMemAlloc_v2(&r->memory, r->bytes));
        char *bytes = calloc(1, r->bytes);
        char *tight = malloc(row * rows);
        fill(c, seed, tight, row * rows / (size_t)format_bytes(c->fmt));
        for (size_t y = 0; y < rows; y++)
            memcpy(bytes + y * pitch, tight + y * row, row);
        CHECK(driver->cuMemcpyHtoD_v2(r->memory, bytes, r->bytes));
        free(bytes);
        free(tight);
        if (c->kind == KIND_LINEAR) {
            r->desc.resType = CU_RESOURCE_TYPE_LINEAR;
            r->desc.res.linear.devPtr = r->memory;
            r->desc.res.linear.format = (CUarray_format)c->fmt;
            r->desc.res.linear.numChannels = (unsigned)c->ch;
            r->desc.res.linear.sizeInBytes = r->bytes;
        } else {
            r->desc.resType = CU_RESOURCE_TYPE_PITCH2D;
            r->desc.res.pitch2D.devPtr = r->memory;
            r->desc.res.pitch2D.format = (CUarray_format)c->fmt;
            r->desc.res.pitch2D.numChannels = (unsigned)c->ch;
            r->desc.res.pitch2D.width = (size_t)c->w;
            r->desc.res.pitch2D.height = (size_t)c->h;
            r->desc.res.pitch2D.pitchInBytes = pitch;
        }
    }
    return 0;
}

static void free_resource(struct resource *r)
{
    if (r->array)
        driver->cuArrayDestroy(r->array);
    if (r->mipmap)
        driver->cuMipmappedArrayDestroy(r->mipmap);
    if (r->memory)
        driver->cuMemFree_v2(r->memory);
}

static int make_handle(const struct texcase *c, struct resource *r, bool surface,
                       unsigned long long *handle)
{
    if (surface) {
        CHECK(driver->cuSurfObjectCreate(handle, &r->desc));
        return 0;
    }
    CUDA_TEXTURE_DESC t = {.filterMode = (CUfilter_mode)c->filter,
                           .flags = c->flags,
                           .maxAnisotropy = c->aniso,
                           .mipmapFilterMode = (CUfilter_mode)c->mip,
                           .mipmapLevelBias = c->bias,
                           .minMipmapLevelClamp = c->low,
                           .maxMipmapLevelClamp = c->high};
    for (int k = 0; k < 3; k++)
        t.addressMode[k] = (CUaddress_mode)c->addr[k];
    memcpy(t.borderColor, c->border, sizeof t.borderColor);
    CUDA_RESOURCE_VIEW_DESC v = {.format = (CUresourceViewFormat)c->view,
                                 .width = (size_t)c->w,
                                 .height = (size_t)c->h,
                                 .depth = (size_t)c->d,
                                 .firstMipmapLevel = c->view_first_level,
                                 .lastMipmapLevel = c->view_last_level,
                                 .firstLayer = c->view_first_layer,
                                 .lastLayer = c->view_last_layer};
    CHECK(driver->cuTexObjectCreate(handle, &r->desc, &t, c->view ? &v : NULL));
    return 0;
}

static void print_array(const struct texcase *c, struct resource *r)
{
    size_t row = (size_t)c->w * (size_t)(format_bytes(c->fmt) * c->ch);
    size_t rows = (size_t)(c->h ? c->h : 1), slices = (size_t)(c->d ? c->d : 1);
    unsigned char *bytes = calloc(1, row * rows * slices + 4);
    CUDA_MEMCPY3D copy = {.dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = bytes,
                          .dstPitch = row,
                          .dstHeight = rows,
                          .srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = r->array,
                          .WidthInBytes = row,
                          .Height = rows,
                          .Depth = slices};
    CUresult result = driver->cuMemcpy3D_v2(&copy);
    if (result)
        fprintf(out, " copy:%d", (int)result);
    for (size_t i = 0; i < row * rows * slices; i += 4) {
        uint32_t word;
        memcpy(&word, bytes + i, 4);
        fprintf(out, " %x", word);
    }
    free(bytes);
}

int texture_run(const char *name, const struct texcase *c)
{
    uint64_t seed = texture_hash(name);
    static char text[8192];
    static char last_op[200];
    static CUmodule module;
    static CUfunction function;
    struct resource r = {0};
    unsigned long long handle = 0;
    bool surface = has(c->op, "su") && (has(c->op, "suld") || has(c->op, "sust") ||
                                        has(c->op, "sured") || has(c->op, "suq"));
    char key[200];
    snprintf(key, sizeof key, "%s %d %d %d", c->op, c->offset[0], c->offset[1], c->offset[2]);
    if (strcmp(key, last_op) != 0) {
        if (module)
            driver->cuModuleUnload(module);
        module = NULL;
        last_op[0] = 0;
        write_ptx(c, text, sizeof text);
        char log[2000] = "";
        CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void *values[] = {log, (void *)(uintptr_t)sizeof log};
        CUresult result = driver->cuModuleLoadDataEx(&module, text, 2, options, values);
        if (result) {
            for (char *p = log; *p; p++)
                *p = *p == '\n' ? ';' : *p;
            fprintf(out, " load:%d %s", (int)result, log);
            return 0;
        }
        result = driver->cuModuleGetFunction(&function, module, "k");
        if (result) {
            fprintf(out, " function:%d", (int)result);
            return 0;
        }
        strcpy(last_op, key);
    }
    int code = make_resource(c, seed, &r);
    if (!code)
        code = make_handle(c, &r, surface, &handle);
    if (code) {
        fprintf(out, " make:%d", code);
        free_resource(&r);
        return 0;
    }
    size_t in_bytes = (size_t)c->n * sizeof(struct thread_input), out_bytes = (size_t)c->n * 16;
    struct thread_input *in = calloc(1, in_bytes);
    uint32_t *answers = calloc(1, out_bytes);
    make_input(c, seed, in);
    CUdeviceptr in_device, out_device;
    CHECK(driver->cuMemAlloc_v2(&in_device, in_bytes));
    CHECK(driver->cuMemAlloc_v2(&out_device, out_bytes));
    CHECK(driver->cuMemcpyHtoD_v2(in_device, in, in_bytes));
    CHECK(driver->cuMemsetD32_v2(out_device, 0xa5a5a5a5, out_bytes / 4));
    unsigned n = (unsigned)c->n;
    void *params[] = {&handle, &in_device, &out_device, &n};
    CHECK(
        driver->cuLaunchKernel(function, (n + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    CHECK(driver->cuCtxSynchronize());
    CHECK(driver->cuMemcpyDtoH_v2(answers, out_device, out_bytes));
    if (has(c->op, "sust") || has(c->op, "sured"))
        print_array(c, &r);
    else
        for (int i = 0; i < c->n; i++) {
            int words = has(c->op, "q.") || has(c->op, "istypep") ? 1 : 4;
            for (int k = 0; k < words; k++)
                fprintf(out, " %x", answers[i * 4 + k]);
        }
    CHECK(driver->cuMemFree_v2(in_device));
    CHECK(driver->cuMemFree_v2(out_device));
    CHECK(surface ? driver->cuSurfObjectDestroy(handle) : driver->cuTexObjectDestroy(handle));
    free_resource(&r);
    free(in);
    free(answers);
    return 0;
}
