/*
 * texture_sample.c: a texture fetch: from coordinates to texels, mipmap levels and cube faces.
 * What the CUDA programming guide defines is done as it says; what it leaves open (how coordinates
 * are rounded, how NaN and infinite coordinates are taken) is as an H200 has it, whose answers
 * tests/texture compares. The filter is in texture_filter.c.
 */
#include "simt/texture_filter.h"

#include "simt/num.h"

#include <math.h>
#include <string.h>

#define MOST_TEXELS 32
#define BORDER INT32_MIN
#define OUTSIDE (INT32_MIN + 1) /* of whole coordinates, which know no address mode: zero */

/* Along one axis: two texels, and how far the point is towards the second, of 256. */
struct hit {
    int32_t texel[2]; /* BORDER: outside */
    int32_t part;
};

struct fetch {
    const struct simt_texture *texture;
    const struct texture_request *request;
    texture_memory *memory;
    void *context;
    struct texture_touched *touched;
    uint64_t missing;
    bool is_missing;
    /* What is to be added up, a channel at a time. */
    unsigned count;
    int32_t weights[MOST_TEXELS];
    bool
        counts[MOST_TEXELS]; /* its part is more than 0, though its weight may be rounded to that */
    uint32_t texels[4][MOST_TEXELS];
};

/* Coordinates ------------------------------------------------------------------------------------
 */

static int32_t wrap(int64_t i, int32_t extent)
{
    int64_t rest = i % extent;
    return (int32_t)(rest < 0 ? rest + extent : rest);
}

static int32_t address_texel(int64_t i, int32_t extent, enum texture_address mode)
{
    switch (mode) {
    case TEXTURE_WRAP:
        return wrap(i, extent);
    case TEXTURE_MIRROR: {
        int32_t j = wrap(i, 2 * extent);
        return j < extent ? j : 2 * extent - 1 - j;
    }
    case TEXTURE_BORDER:
        return i < 0 || i >= extent ? BORDER : (int32_t)i;
    case TEXTURE_SEAMLESS: /* one beyond the face is a texel of the next */
        return i < -1 ? -1 : i > extent ? extent : (int32_t)i;
    default:
        return i < 0 ? 0 : i >= extent ? extent - 1 : (int32_t)i;
    }
}

/* Wrapping and mirroring need normalised coordinates; without them a GPU clamps. */
static enum texture_address mode_of(const struct simt_texture *texture, unsigned axis)
{
    enum texture_address mode = texture->address[axis];
    if (!texture->is_normalised && (mode == TEXTURE_WRAP || mode == TEXTURE_MIRROR))
        return TEXTURE_CLAMP;
    return mode;
}

/* Normalised coordinates are cut to so many bits: 8 more than the extent has, from 21 to 23. */
static int coordinate_bits(int32_t extent)
{
    int bits = extent > 1 ? 32 - __builtin_clz((unsigned)extent - 1) + FILTER_BITS : 0;
    return bits < 21 ? 21 : bits > 23 ? 23 : bits;
}

/* The coordinate in texels. NaN is 0, and so is what wraps and is infinite. */
static double in_texels(float x, int32_t extent, bool is_normalised, enum texture_address mode)
{
    const double far = 1 << 30;
    double u = x;
    if (u != u)
        u = 0;
    if (is_normalised) {
        if (mode == TEXTURE_WRAP)
            u = isinf(u) ? 0 : u - floor(u);
        else if (mode == TEXTURE_MIRROR)
            u = isinf(u) ? 0 : u - 2 * floor(u / 2);
        int bits = coordinate_bits(extent);
        u = ldexp(floor(ldexp(u, bits)), -bits) * extent;
    }
    return u > far ? far : u < -far ? -far : u;
}

static struct hit hit_point(float x, int32_t extent, bool is_normalised, enum texture_address mode,
                            int32_t offset)
{
    double u = floor(in_texels(x, extent, is_normalised, mode));
    int32_t texel = address_texel((int64_t)u + offset, extent, mode);
    return (struct hit){.texel = {texel, texel}};
}

static struct hit hit_linear(float x, int32_t extent, bool is_normalised, enum texture_address mode,
                             int32_t offset)
{
    double exact = in_texels(x, extent, is_normalised, mode);
    int64_t u =
        (int64_t)floor(exact * FILTER_ONE + 0.5) - FILTER_ONE / 2 + (int64_t)offset * FILTER_ONE;
    int64_t first = u >> FILTER_BITS;
    struct hit hit = {
        .texel = {address_texel(first, extent, mode), address_texel(first + 1, extent, mode)},
        .part = (int32_t)(u & (FILTER_ONE - 1))};
    if (mode == TEXTURE_CLAMP && (first < 0 || first >= extent - 1)) {
        hit.texel[0] = hit.texel[1] = first < 0 ? 0 : extent - 1;
        hit.part = 0;
    }
    return hit;
}

static struct hit hit_axis(const struct fetch *fetch, unsigned axis, int32_t extent, bool filters)
{
    const struct texture_request *request = fetch->request;
    const struct simt_texture *texture = fetch->texture;
    enum texture_address mode = mode_of(texture, axis);
    if (request->is_integer) {
        int64_t i = (int64_t)request->whole[axis] + request->offset[axis];
        int32_t texel = i < 0 || i >= extent ? OUTSIDE : (int32_t)i;
        return (struct hit){.texel = {texel, texel}};
    }
    float x = request->at[axis];
    return filters ? hit_linear(x, extent, texture->is_normalised, mode, request->offset[axis])
                   : hit_point(x, extent, texture->is_normalised, mode, request->offset[axis]);
}

/* Texels -----------------------------------------------------------------------------------------
 */

static unsigned face_of(const float at[3], float *s, float *t);

/* A texel beyond the edge of a cube's face, on the face that it belongs to. A corner has no texel
 * of its own: the edge's is taken. */
static void cross_edge(int32_t extent, int32_t *x, int32_t *y, int32_t *z)
{
    if (*x >= 0 && *x < extent && *y >= 0 && *y < extent)
        return;
    if ((*x < 0 || *x >= extent) && (*y < 0 || *y >= extent))
        *x = *x < 0 ? 0 : extent - 1;
    float s = (2 * (float)*x + 1) / (float)extent - 1, t = (2 * (float)*y + 1) / (float)extent - 1;
    const float directions[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t},
                                    {s, -1, -t}, {s, -t, 1},  {-s, -t, -1}};
    float u, v;
    unsigned face = face_of(directions[*z % 6], &u, &v);
    int32_t column = (int32_t)(u * (float)extent), row = (int32_t)(v * (float)extent);
    *x = column < extent ? column : extent - 1;
    *y = row < extent ? row : extent - 1;
    *z += (int32_t)face - *z % 6;
}

static const uint8_t *texel_bytes(struct fetch *fetch, const struct texture_level *level, int32_t x,
                                  int32_t y, int32_t z)
{
    if (fetch->texture->address[0] == TEXTURE_SEAMLESS)
        cross_edge((int32_t)level->width, &x, &y, &z);
    const struct simt_texture *texture = fetch->texture;
    uint64_t at = texture_byte(level, (uint64_t)x * texture->element, (uint64_t)y, (uint64_t)z);
    struct texture_touched *touched = fetch->touched;
    if (touched && touched->count < TEXTURE_TOUCHED) {
        touched->bytes = texture->element;
        touched->addresses[touched->count++] = at;
    }
    const uint8_t *host = fetch->memory(fetch->context, at, texture->element);
    if (!host) {
        fetch->is_missing = true;
        fetch->missing = at;
    }
    return host;
}

/* One texel as the kernel gets it. */
static void read_texel(struct fetch *fetch, const struct texture_level *level, int32_t x, int32_t y,
                       int32_t z, uint32_t result[4])
{
    bool outside = x == BORDER || y == BORDER || z == BORDER;
    bool is_zero = x == OUTSIDE || y == OUTSIDE || z == OUTSIDE;
    const uint8_t *host = outside || is_zero ? NULL : texel_bytes(fetch, level, x, y, z);
    uint32_t raw[4] = {0};
    if (outside && !is_zero)
        texture_border(fetch->texture, raw);
    else if (host)
        texture_raw(fetch->texture, host, raw);
    texture_unpack(fetch->texture, raw, result);
}

/* One texel for the filter, as it is stored. */
static void add_texel(struct fetch *fetch, const struct texture_level *level, int32_t x, int32_t y,
                      int32_t z, int32_t weight, bool counts)
{
    uint32_t raw[4] = {0};
    bool outside = x == BORDER || y == BORDER || z == BORDER;
    const uint8_t *host = outside || !counts ? NULL : texel_bytes(fetch, level, x, y, z);
    if (outside && counts)
        texture_border(fetch->texture, raw);
    else if (host)
        texture_raw(fetch->texture, host, raw);
    for (unsigned k = 0; k < 4; k++)
        fetch->texels[k][fetch->count] = raw[k];
    fetch->counts[fetch->count] = counts;
    fetch->weights[fetch->count++] = weight;
}

/* Levels -----------------------------------------------------------------------------------------
 */

static void hit_level(const struct fetch *fetch, const struct texture_level *level, int32_t layer,
                      bool filters, struct hit hits[3])
{
    const int32_t extents[3] = {(int32_t)level->width, (int32_t)level->height,
                                (int32_t)level->depth};
    hits[1] = (struct hit){0};
    hits[2] = (struct hit){.texel = {layer, layer}};
    for (unsigned k = 0; k < fetch->texture->dimensions; k++)
        hits[k] = hit_axis(fetch, k, extents[k], filters);
    /* One row is a plane of height 1 at y = 0: half of it lies outside. */
    if (fetch->texture->dimensions == 1 && !fetch->texture->is_layered && filters &&
        mode_of(fetch->texture, 1) == TEXTURE_BORDER)
        hits[1] = (struct hit){.texel = {BORDER, 0}, .part = FILTER_ONE / 2};
}

static void add_level(struct fetch *fetch, const struct texture_level *level, int32_t layer,
                      int32_t share, bool filters)
{
    struct hit hits[3];
    hit_level(fetch, level, layer, filters, hits);
    unsigned axes = hits[1].part && fetch->texture->dimensions < 2 ? 2 : fetch->texture->dimensions;
    if (!filters) { /* a quad of which one counts */
        for (unsigned k = 0; k < 4; k++)
            add_texel(fetch, level, hits[0].texel[0], hits[1].texel[0], hits[2].texel[0],
                      k ? 0 : share, !k);
        return;
    }
    int32_t weights[8], part[3] = {hits[0].part, hits[1].part, hits[2].part};
    filter_weights(axes, part, share, weights);
    for (unsigned corner = 0; corner < 1u << axes; corner++) {
        bool counts = true;
        for (unsigned k = 0; k < axes; k++)
            counts &= !(corner >> k & 1) || part[k];
        add_texel(fetch, level, hits[0].texel[corner & 1], hits[1].texel[corner >> 1 & 1],
                  hits[2].texel[corner >> 2 & 1], weights[corner], counts);
    }
    while (fetch->count % 4)
        add_texel(fetch, level, 0, 0, layer, 0, false);
}

static void finish(struct fetch *fetch, uint32_t result[4])
{
    const struct simt_texture *texture = fetch->texture;
    for (unsigned k = 0; k < 4; k++)
        result[k] = k < texture->channels
                        ? filter_channel(texture, k, fetch->texels[k], fetch->weights,
                                         fetch->counts, fetch->count)
                        : 0;
}

static void sample_point(struct fetch *fetch, const struct texture_level *level, int32_t layer,
                         uint32_t result[4])
{
    struct hit hits[3];
    hit_level(fetch, level, layer, false, hits);
    read_texel(fetch, level, hits[0].texel[0], hits[1].texel[0], hits[2].texel[0], result);
}

/* The gradients' level: log2 of the longer one, in texels. */
static float gradient_level(const struct fetch *fetch)
{
    const struct simt_texture *texture = fetch->texture;
    const struct texture_level *level = &texture->levels[0];
    const double extents[3] = {level->width, level->height, level->depth};
    double longest = 0;
    for (unsigned g = 0; g < 2; g++) {
        double square = 0;
        for (unsigned k = 0; k < texture->dimensions; k++) {
            double d = fetch->request->gradient[g][k];
            d *= texture->is_normalised ? extents[k] : 1;
            square += d * d;
        }
        longest = square > longest ? square : longest;
    }
    return longest > 0 ? (float)(log2(longest) / 2) : -126;
}

/* In 1/256 of a level, cut. */
static int32_t in_levels(float lod)
{
    return lod > 100    ? 100 * FILTER_ONE
           : lod > -100 ? (int32_t)floorf(lod * FILTER_ONE)
                        : -100 * FILTER_ONE;
}

/* The same, of the request. */
static int32_t level_of(const struct fetch *fetch)
{
    const struct simt_texture *texture = fetch->texture;
    const struct texture_request *request = fetch->request;
    float lod = 0;
    if (request->lod_mode == TEXTURE_LOD_LEVEL)
        lod = request->lod;
    else if (request->lod_mode == TEXTURE_LOD_GRADIENT)
        lod = gradient_level(fetch);
    if (request->is_integer)
        return (int32_t)(lod < 0                          ? 0
                         : lod > texture->level_count - 1 ? texture->level_count - 1
                                                          : lod) *
               FILTER_ONE;
    if (lod != lod)
        lod = 0;
    int32_t last = (texture->level_count - 1) * FILTER_ONE;
    int32_t level = in_levels(lod) + in_levels(texture->bias);
    int32_t lowest = in_levels(texture->lowest), highest = in_levels(texture->highest);
    level = level < lowest ? lowest : level > highest ? highest : level;
    return level < 0 ? 0 : level > last ? last : level;
}

static void sample(struct fetch *fetch, int32_t layer, uint32_t result[4])
{
    const struct simt_texture *texture = fetch->texture;
    bool filters = texture->filters && !fetch->request->is_integer && !texture->reads_integers;
    int32_t lod = texture->level_count > 1 ? level_of(fetch) : 0;
    bool mixes = texture->filters_levels && lod % FILTER_ONE && !texture->reads_integers &&
                 !fetch->request->is_integer;
    const struct texture_level *level =
        &texture->levels[mixes ? lod / FILTER_ONE : (lod + FILTER_ONE / 2) / FILTER_ONE];
    if (!filters && !mixes) {
        sample_point(fetch, level, layer, result);
        return;
    }
    int32_t second = mixes ? lod % FILTER_ONE : 0;
    add_level(fetch, level, layer, FILTER_ONE - second, filters);
    if (second)
        add_level(fetch, level + 1, layer, second, filters);
    finish(fetch, result);
}

/* Gather ------------------------------------------------------------------------------------------
 */

/* One component of the four texels that a linear filter would take, counter-clockwise from below.
 */
static void gather(struct fetch *fetch, int32_t layer, uint32_t result[4])
{
    static const uint8_t order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const struct texture_level *level = &fetch->texture->levels[0];
    struct hit hits[3];
    hit_level(fetch, level, layer, true, hits);
    for (unsigned k = 0; k < 4; k++) {
        uint32_t channels[4];
        read_texel(fetch, level, hits[0].texel[order[k][0]], hits[1].texel[order[k][1]],
                   hits[2].texel[0], channels);
        result[k] = channels[fetch->request->component];
    }
}

/* Cubes -------------------------------------------------------------------------------------------
 */

/* The face that a direction meets, and where on it. */
static unsigned face_of(const float at[3], float *s, float *t)
{
    float x = at[0], y = at[1], z = at[2], ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    unsigned face;
    float major, sc, tc;
    if (az >= ax && az >= ay) { /* edges belong to z, then to y */
        face = 4 + (z < 0);
        major = az, sc = z < 0 ? -x : x, tc = -y;
    } else if (ay >= ax) {
        face = 2 + (y < 0);
        major = ay, sc = x, tc = y < 0 ? -z : z;
    } else {
        face = x < 0;
        major = ax, sc = x < 0 ? z : -z, tc = -y;
    }
    *s = (sc / major + 1) / 2;
    *t = (tc / major + 1) / 2;
    return face;
}

bool texture_fetch(const struct simt_texture *texture, const struct texture_request *request,
                   texture_memory *memory, void *context, struct texture_touched *touched,
                   uint32_t result[4], uint64_t *missing)
{
    struct texture_request on_face = *request;
    struct simt_texture flat;
    struct fetch fetch = {.texture = texture,
                          .request = request,
                          .memory = memory,
                          .context = context,
                          .touched = touched};
    int32_t layer = 0;
    /* Whole coordinates find nothing in an array of one dimension, or in a layer that is not there;
     * others find nothing in linear memory. */
    bool is_row = texture->dimensions == 1 && !texture->is_layered;
    if ((is_row && request->is_integer != texture->is_linear) ||
        (request->is_integer && texture->is_layered && request->layer >= texture->layers)) {
        memset(result, 0, 4 * sizeof *result);
        return true;
    }
    if (texture->is_layered) {
        uint32_t last = texture->layers / (texture->is_cube ? 6 : 1) - 1;
        layer = (int32_t)(request->layer < last ? request->layer : last);
    }
    if (texture->is_cube) { /* a face is a layer; its coordinates are normalised and clamped */
        unsigned face = face_of(request->at, &on_face.at[0], &on_face.at[1]);
        layer = layer * 6 + (int32_t)face;
        memcpy(&flat, texture, sizeof flat);
        flat.is_normalised = true;
        if (texture->is_seamless)
            flat.address[0] = flat.address[1] = TEXTURE_SEAMLESS;
        fetch.texture = &flat;
        fetch.request = &on_face;
    }
    if (request->is_gather)
        gather(&fetch, layer, result);
    else
        sample(&fetch, layer, result);
    *missing = fetch.missing;
    return !fetch.is_missing;
}
