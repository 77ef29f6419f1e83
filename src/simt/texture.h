/*
 * texture.h: what a texture or surface handle stands for, and how texels lie in memory.
 * The driver fills a struct simt_texture from what the program describes, and adds it to the
 * machine's table; instructions find it there by the 64-bit handle. Handles are never used again,
 * so one that outlives its object is known for what it is.
 *
 * A CUDA array lies in device memory of the machine, in blocks of 512 bytes that hold 8 rows of 64
 * bytes each, of which 32 bytes next to each other are 16 of one row and 16 of the next: a GPU's
 * layout, so that the sectors that a warp touches are those that it touches there. Arrays of one
 * row, linear and pitched memory are plain rows.
 */
#ifndef LOCKSTEP_SIMT_TEXTURE_H
#define LOCKSTEP_SIMT_TEXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct simt_machine;

/* Of a channel; in the order of formats below. */
enum texture_format {
    TEXTURE_U8,
    TEXTURE_U16,
    TEXTURE_U32,
    TEXTURE_S8,
    TEXTURE_S16,
    TEXTURE_S32,
    TEXTURE_F16,
    TEXTURE_F32
};

enum texture_address {
    TEXTURE_WRAP,
    TEXTURE_CLAMP,
    TEXTURE_MIRROR,
    TEXTURE_BORDER,
    TEXTURE_SEAMLESS /* of cubes: beyond an edge lies the next face */
};

#define TEXTURE_LEVELS 18

/* Rows, columns and slices of one mipmap level. */
struct texture_level {
    uint64_t address;
    uint32_t width, height, depth; /* texels; 1 in dimensions that the image does not have */
    uint32_t pitch;                /* bytes of a row; of a row of blocks, divided by 8 */
    uint64_t slice;                /* bytes from one layer or slice to the next */
    bool is_blocked;               /* 64 by 8 bytes together, see above */
};

enum texture_state { TEXTURE_LIVE, TEXTURE_DESTROYED, TEXTURE_WITHOUT_ARRAY };

struct simt_texture {
    _Atomic(enum texture_state) state;
    bool is_surface;
    uint8_t format;                      /* enum texture_format */
    uint8_t channels, element;           /* element: bytes of a texel, all channels */
    uint8_t dimensions;                  /* 1 to 3, layers apart */
    bool is_layered, is_cube, is_linear; /* is_linear: memory of one row, fetched by number */
    uint32_t layers;                     /* of a cube: faces */
    uint8_t level_count;
    struct texture_level levels[TEXTURE_LEVELS];
    /* The sampler. */
    uint8_t address[3]; /* enum texture_address */
    bool filters, filters_levels, is_normalised, reads_integers, is_srgb, is_seamless;
    float bias, lowest, highest;
    unsigned anisotropy;
    float border[4];
    uint64_t image;  /* what the driver knows the array by; 0: plain memory */
    uint64_t handle; /* set by simt_texture_add */
};

/* Where byte x of row y in slice z lies; x and y inside. The bytes of an aligned element of up to
 * 16 bytes lie together. */
static inline uint64_t texture_byte(const struct texture_level *level, uint64_t x, uint64_t y,
                                    uint64_t z)
{
    uint64_t slice = level->address + z * level->slice;
    if (!level->is_blocked)
        return slice + y * level->pitch + x;
    uint64_t block = y / 8 * (level->pitch / 64) + x / 64;
    return slice + block * 512 + x % 64 / 32 * 256 + y % 8 / 2 * 64 + x % 32 / 16 * 32 +
           y % 2 * 16 + x % 16;
}

/* Sets how a level of width bytes by height rows lies, from address on; returns its slice's bytes.
 */
uint64_t texture_lay_out(struct texture_level *level, uint64_t address, uint64_t width_bytes,
                         uint32_t height);

/* The handle of a new texture or surface, a copy of what; 0 if there is no memory. */
uint64_t simt_texture_add(struct simt_machine *machine, const struct simt_texture *what);
/* false: there is no such live object. */
bool simt_texture_remove(struct simt_machine *machine, uint64_t handle);
/* The array is gone: what was made from it must not be used any more. */
void simt_texture_orphan(struct simt_machine *machine, uint64_t image);
/* NULL if the handle was never given out. */
const struct simt_texture *simt_texture_find(struct simt_machine *machine, uint64_t handle);
void simt_textures_close(struct simt_machine *machine);

/* What an instruction asks of a texture ----------------------------------------------------------
 */

enum texture_geometry {
    TEXTURE_1D,
    TEXTURE_2D,
    TEXTURE_3D,
    TEXTURE_A1D,
    TEXTURE_A2D,
    TEXTURE_CUBE,
    TEXTURE_ACUBE
};

enum texture_lod { TEXTURE_LOD_ZERO, TEXTURE_LOD_LEVEL, TEXTURE_LOD_GRADIENT };

struct texture_request {
    enum texture_geometry geometry;
    enum texture_lod lod_mode;
    bool is_integer; /* coordinates are whole texels: whole[], not at[] */
    bool is_gather;
    bool wants_f16;     /* results are f16 */
    unsigned component; /* of a gather */
    float at[3];
    int32_t whole[3];
    uint32_t layer;
    float lod;
    float gradient[2][3];
    int32_t offset[3];
};

/* Which texels a fetch read, for watchers. */
#define TEXTURE_TOUCHED 128
struct texture_touched {
    uint32_t count, bytes;
    uint64_t addresses[TEXTURE_TOUCHED];
};

/* How texels come from memory; NULL: not allocated. */
typedef const uint8_t *texture_memory(void *context, uint64_t address, uint32_t bytes);

/* Four words, as the instruction's type has them: integers, or the bits of f32. false: some memory
 * is not there, at *missing. */
bool texture_fetch(const struct simt_texture *texture, const struct texture_request *request,
                   texture_memory *memory, void *context, struct texture_touched *touched,
                   uint32_t result[4], uint64_t *missing);

/* Texels: texture_texel.c ------------------------------------------------------------------------
 */

/* The channels of a texel as they are stored, integers extended to 32 bits; of the border colour;
 * and what the kernel gets for them: integers, or the bits of f32. */
void texture_raw(const struct simt_texture *texture, const uint8_t *bytes, uint32_t channels[4]);
void texture_border(const struct simt_texture *texture, uint32_t channels[4]);
void texture_unpack(const struct simt_texture *texture, const uint32_t raw[4], uint32_t result[4]);
/* Red, green and blue of four bytes are sRGB, and the first of one or two. As f16, for the filter.
 */
bool texture_is_srgb(const struct simt_texture *texture, unsigned channel);
uint32_t texture_srgb_half(uint32_t value);
/* The words of sust.p in the surface's format. */
void texture_pack(const struct simt_texture *texture, const uint32_t words[4], uint8_t *bytes);

#endif
