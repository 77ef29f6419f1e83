/*
 * texture_texel.c: texels in memory and as a kernel sees them: integers, or floats that stand for
 * them (0 to 1, -1 to 1, sRGB), and back for formatted stores.
 */
#include "simt/texture.h"

#include "simt/num_format.h"

#include <string.h>

static const uint8_t format_bytes[] = {
    [TEXTURE_U8] = 1,  [TEXTURE_U16] = 2, [TEXTURE_U32] = 4, [TEXTURE_S8] = 1,
    [TEXTURE_S16] = 2, [TEXTURE_S32] = 4, [TEXTURE_F16] = 2, [TEXTURE_F32] = 4};

static bool is_signed(unsigned format)
{
    return format == TEXTURE_S8 || format == TEXTURE_S16 || format == TEXTURE_S32;
}

static uint32_t load_channel(const uint8_t *bytes, unsigned format)
{
    uint32_t word = 0;
    memcpy(&word, bytes, format_bytes[format]);
    if (format == TEXTURE_S8)
        return (uint32_t)(int8_t)word;
    if (format == TEXTURE_S16)
        return (uint32_t)(int16_t)word;
    return word;
}

static uint32_t f32_of_f16(uint32_t half)
{
    if ((half & 0x7fff) > 0x7c00) /* a NaN keeps what it carries */
        return (half & 0x8000) << 16 | 0x7f800000 | (half & 0x3ff) << 13;
    return num_f32_bits((float)num_to_f64(&num_f16_format, half));
}

/* Integers of 8 and 16 bits stand for 0 to 1, or -1 to 1. */
static uint32_t normalised(uint32_t value, unsigned format)
{
    unsigned bits = 8u * format_bytes[format];
    if (!is_signed(format))
        return num_f32_bits((float)((double)value / (double)((1u << bits) - 1)));
    double most = (double)((1u << (bits - 1)) - 1), x = (double)(int32_t)value / most;
    return num_f32_bits((float)(x < -1 ? -1 : x));
}

/* Upper halves of the f32 that an H200 gives for sRGB bytes; the lower are zero. 10 of the 256 were
 * not recorded: they are the curve's value, rounded to 8 bits as the others are within one. */
static const uint16_t srgb[256] = {
    0x0000, 0x39a0, 0x3a20, 0x3a70, 0x3aa0, 0x3ac8, 0x3af0, 0x3b0c, 0x3b20, 0x3b34, 0x3b48, 0x3b5c,
    0x3b70, 0x3b84, 0x3b90, 0x3b9c, 0x3baa, 0x3bb8, 0x3bc6, 0x3bd6, 0x3be6, 0x3bf6, 0x3c03, 0x3c0c,
    0x3c16, 0x3c1f, 0x3c29, 0x3c34, 0x3c3e, 0x3c49, 0x3c55, 0x3c60, 0x3c6c, 0x3c7a, 0x3c83, 0x3c8a,
    0x3c91, 0x3c98, 0x3c9f, 0x3ca6, 0x3cae, 0x3cb6, 0x3cbe, 0x3cc6, 0x3cce, 0x3cd7, 0x3ce0, 0x3ce9,
    0x3cf2, 0x3cfc, 0x3d03, 0x3d08, 0x3d0d, 0x3d12, 0x3d17, 0x3d1c, 0x3d22, 0x3d28, 0x3d2d, 0x3d33,
    0x3d39, 0x3d3f, 0x3d45, 0x3d4c, 0x3d52, 0x3d58, 0x3d60, 0x3d66, 0x3d6c, 0x3d74, 0x3d7a, 0x3d81,
    0x3d85, 0x3d88, 0x3d8c, 0x3d90, 0x3d94, 0x3d98, 0x3d9c, 0x3da0, 0x3da4, 0x3da9, 0x3dad, 0x3db1,
    0x3db6, 0x3dba, 0x3dbf, 0x3dc3, 0x3dc8, 0x3dcd, 0x3dd1, 0x3dd6, 0x3ddb, 0x3de0, 0x3de5, 0x3dea,
    0x3df0, 0x3df4, 0x3dfa, 0x3e00, 0x3e02, 0x3e05, 0x3e08, 0x3e0b, 0x3e0e, 0x3e11, 0x3e14, 0x3e17,
    0x3e1a, 0x3e1d, 0x3e20, 0x3e23, 0x3e26, 0x3e29, 0x3e2c, 0x3e30, 0x3e33, 0x3e36, 0x3e3a, 0x3e3d,
    0x3e40, 0x3e44, 0x3e47, 0x3e4b, 0x3e4e, 0x3e52, 0x3e56, 0x3e59, 0x3e5d, 0x3e61, 0x3e65, 0x3e68,
    0x3e6c, 0x3e70, 0x3e74, 0x3e78, 0x3e7c, 0x3e80, 0x3e82, 0x3e84, 0x3e86, 0x3e88, 0x3e8a, 0x3e8d,
    0x3e8f, 0x3e91, 0x3e93, 0x3e95, 0x3e98, 0x3e9a, 0x3e9c, 0x3e9e, 0x3ea1, 0x3ea3, 0x3ea5, 0x3ea8,
    0x3eaa, 0x3ead, 0x3eaf, 0x3eb2, 0x3eb4, 0x3eb6, 0x3eb9, 0x3ebc, 0x3ebe, 0x3ec1, 0x3ec3, 0x3ec6,
    0x3ec8, 0x3ecb, 0x3ece, 0x3ed1, 0x3ed3, 0x3ed6, 0x3ed9, 0x3edb, 0x3ede, 0x3ee1, 0x3ee4, 0x3ee7,
    0x3eea, 0x3eed, 0x3ef0, 0x3ef2, 0x3ef6, 0x3ef8, 0x3efc, 0x3efe, 0x3f01, 0x3f02, 0x3f04, 0x3f05,
    0x3f07, 0x3f09, 0x3f0a, 0x3f0c, 0x3f0d, 0x3f0f, 0x3f11, 0x3f12, 0x3f14, 0x3f16, 0x3f17, 0x3f19,
    0x3f1b, 0x3f1c, 0x3f1e, 0x3f20, 0x3f21, 0x3f23, 0x3f25, 0x3f27, 0x3f29, 0x3f2a, 0x3f2c, 0x3f2e,
    0x3f30, 0x3f32, 0x3f33, 0x3f35, 0x3f37, 0x3f39, 0x3f3b, 0x3f3d, 0x3f3f, 0x3f41, 0x3f43, 0x3f45,
    0x3f47, 0x3f49, 0x3f4b, 0x3f4d, 0x3f4f, 0x3f51, 0x3f53, 0x3f55, 0x3f57, 0x3f59, 0x3f5b, 0x3f5d,
    0x3f5f, 0x3f61, 0x3f63, 0x3f65, 0x3f68, 0x3f6a, 0x3f6c, 0x3f6e, 0x3f70, 0x3f72, 0x3f74, 0x3f76,
    0x3f7a, 0x3f7c, 0x3f7e, 0x3f80,
};

bool texture_is_srgb(const struct simt_texture *texture, unsigned channel)
{
    return texture->is_srgb && texture->format == TEXTURE_U8 && !texture->reads_integers &&
           (channel == 0 || (texture->channels == 4 && channel < 3));
}

/* A stored channel as the kernel gets it. */
static uint32_t convert(const struct simt_texture *texture, unsigned channel, uint32_t value)
{
    unsigned format = texture->format;
    if (format == TEXTURE_F16)
        return f32_of_f16(value);
    if (texture->reads_integers || format_bytes[format] == 4)
        return value;
    if (texture_is_srgb(texture, channel))
        return (uint32_t)srgb[value & 0xff] << 16;
    return normalised(value, format);
}

uint32_t texture_srgb_half(uint32_t value)
{
    return (uint32_t)num_from_f64(&num_f16_format,
                                  (double)num_f32_from((uint32_t)srgb[value & 0xff] << 16), NUM_RN);
}

void texture_raw(const struct simt_texture *texture, const uint8_t *bytes, uint32_t channels[4])
{
    for (unsigned k = 0; k < 4; k++)
        channels[k] = k < texture->channels
                          ? load_channel(bytes + k * format_bytes[texture->format], texture->format)
                          : 0;
}

void texture_unpack(const struct simt_texture *texture, const uint32_t raw[4], uint32_t result[4])
{
    for (unsigned k = 0; k < 4; k++)
        result[k] = k < texture->channels ? convert(texture, k, raw[k]) : 0;
}

/* A fraction of the format's largest number, to the nearest. */
static uint32_t quantise(float x, unsigned format)
{
    unsigned bits = 8u * format_bytes[format];
    double most = is_signed(format) ? (double)((1u << (bits - 1)) - 1) : (double)((1u << bits) - 1);
    double low = is_signed(format) ? -1 : 0, part = x;
    part = part > 1 ? 1 : part > low ? part : low;
    return (uint32_t)(int32_t)nearbyint(part * most);
}

void texture_border(const struct simt_texture *texture, uint32_t raw[4])
{
    unsigned format = texture->format;
    for (unsigned k = 0; k < 4; k++) {
        uint32_t bits = num_f32_bits(texture->border[k]);
        if (k >= texture->channels)
            raw[k] = 0;
        else if (format == TEXTURE_F16)
            raw[k] = (uint32_t)num_from_f64(&num_f16_format, (double)texture->border[k], NUM_RZ);
        else if (texture->reads_integers) /* the low bits, whatever they mean */
            raw[k] = load_channel((const uint8_t *)&bits, format);
        else
            raw[k] = format_bytes[format] == 4 ? bits : quantise(texture->border[k], format);
    }
}

/* Integers are clamped to what the format holds; f16 stays finite. */
static uint32_t clamp_word(uint32_t word, unsigned format)
{
    int64_t bits = 8 * format_bytes[format];
    int64_t most = is_signed(format) ? (INT64_C(1) << (bits - 1)) - 1 : (INT64_C(1) << bits) - 1;
    int64_t least = is_signed(format) ? -most - 1 : 0;
    int64_t value = is_signed(format) ? (int64_t)(int32_t)word : (int64_t)word;
    return (uint32_t)(value < least ? least : value > most ? most : value);
}

void texture_pack(const struct simt_texture *texture, const uint32_t words[4], uint8_t *bytes)
{
    unsigned format = texture->format, size = format_bytes[format];
    for (unsigned k = 0; k < texture->channels; k++) {
        uint32_t word = words[k];
        if (format == TEXTURE_F16)
            word = (uint32_t)num_from_f64_satfinite(&num_f16_format, (double)num_f32_from(word),
                                                    NUM_RZ);
        else if (format != TEXTURE_F32)
            word = clamp_word(word, format);
        memcpy(bytes + k * size, &word, size);
    }
}
