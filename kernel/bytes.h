// SPDX-License-Identifier: Apache-2.0
// kernel/bytes.h - writes numbers into bytes and reads them back, in a stated byte order.
//
// Wire formats and files are written and read through these and never through a struct laid over
// the bytes: there is no alignment, padding or host byte order to get wrong, and compilers turn
// each into one load or store. The caller guarantees that the bytes are there. A value put must fit
// its width: the 24-bit forms keep the low 24 bits.
#ifndef KERNEL_BYTES_H
#define KERNEL_BYTES_H

#include <stddef.h>
#include <stdint.h>

// -- big endian: network byte order

static inline void sim_put_be16(uint8_t *bytes, uint16_t value)
{
    bytes[0] = (uint8_t)(value >> 8);
    bytes[1] = (uint8_t)value;
}

static inline void sim_put_be24(uint8_t *bytes, uint32_t value)
{
    bytes[0] = (uint8_t)(value >> 16);
    bytes[1] = (uint8_t)(value >> 8);
    bytes[2] = (uint8_t)value;
}

static inline void sim_put_be32(uint8_t *bytes, uint32_t value)
{
    bytes[0] = (uint8_t)(value >> 24);
    bytes[1] = (uint8_t)(value >> 16);
    bytes[2] = (uint8_t)(value >> 8);
    bytes[3] = (uint8_t)value;
}

static inline void sim_put_be64(uint8_t *bytes, uint64_t value)
{
    sim_put_be32(bytes, (uint32_t)(value >> 32));
    sim_put_be32(bytes + 4, (uint32_t)value);
}

static inline uint16_t sim_get_be16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static inline uint32_t sim_get_be24(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
}

static inline uint32_t sim_get_be32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static inline uint64_t sim_get_be64(const uint8_t *bytes)
{
    return (uint64_t)sim_get_be32(bytes) << 32 | sim_get_be32(bytes + 4);
}

// -- little endian: files of this program, and the ICRC

static inline void sim_put_le16(uint8_t *bytes, uint16_t value)
{
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
}

static inline void sim_put_le32(uint8_t *bytes, uint32_t value)
{
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
    bytes[2] = (uint8_t)(value >> 16);
    bytes[3] = (uint8_t)(value >> 24);
}

static inline void sim_put_le64(uint8_t *bytes, uint64_t value)
{
    sim_put_le32(bytes, (uint32_t)value);
    sim_put_le32(bytes + 4, (uint32_t)(value >> 32));
}

static inline uint16_t sim_get_le16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[1] << 8 | bytes[0]);
}

static inline uint32_t sim_get_le32(const uint8_t *bytes)
{
    return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

static inline uint64_t sim_get_le64(const uint8_t *bytes)
{
    return (uint64_t)sim_get_le32(bytes + 4) << 32 | sim_get_le32(bytes);
}

// Numbers of a width of up to 8 bytes.
static inline void sim_put_le(uint8_t *bytes, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
}

static inline uint64_t sim_get_le(const uint8_t *bytes, size_t width)
{
    uint64_t value = 0;
    for (size_t i = width; i-- > 0;) {
        value = value << 8 | bytes[i];
    }
    return value;
}

#endif // KERNEL_BYTES_H
