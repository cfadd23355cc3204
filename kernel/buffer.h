// SPDX-License-Identifier: Apache-2.0
// kernel/buffer.h - bytes that one process writes and another one of the same build reads.
//
// Values are copied as they lie in memory, so both processes must run the same program on the same
// kind of machine. Pointers are never put: they mean nothing to the reader.
#ifndef KERNEL_BUFFER_H
#define KERNEL_BUFFER_H

#include <string.h>

#include "kernel/base.h"

SIM_C_BEGIN

// A growing array of bytes. All zeros is an empty one; free `bytes` with sim_free.
typedef struct sim_buffer {
    unsigned char *bytes;
    size_t count;
    size_t capacity;
} sim_buffer_t;

// Allocates memory for at least `more` further bytes.
void sim__buffer_grow(sim_buffer_t *buffer, size_t more);

// Makes room for at least `more` further bytes, and returns the address of the first.
static inline void *sim_buffer_room(sim_buffer_t *buffer, size_t more)
{
    if (SIM_UNLIKELY(buffer->capacity - buffer->count < more)) {
        sim__buffer_grow(buffer, more);
    }
    return buffer->bytes + buffer->count;
}

// Appends `size` bytes.
static inline void sim_buffer_put(sim_buffer_t *buffer, const void *bytes, size_t size)
{
    if (size > 0) {
        memcpy(sim_buffer_room(buffer, size), bytes, size);
        buffer->count += size;
    }
}
static inline void sim_buffer_put_u64(sim_buffer_t *buffer, uint64_t value)
{
    sim_buffer_put(buffer, &value, sizeof(value));
}
static inline void sim_buffer_put_u32(sim_buffer_t *buffer, uint32_t value)
{
    sim_buffer_put(buffer, &value, sizeof(value));
}

// Bytes that are still to be read.
typedef struct sim_reader {
    const unsigned char *at;
    size_t left;
} sim_reader_t;

// Copies the next `size` bytes. That there are fewer is a bug of the writer and fails a check.
static inline void sim_reader_get(sim_reader_t *reader, void *bytes, size_t size)
{
    SIM_CHECK(size <= reader->left);
    if (size > 0) {
        memcpy(bytes, reader->at, size);
        reader->at += size;
        reader->left -= size;
    }
}
static inline uint64_t sim_reader_u64(sim_reader_t *reader)
{
    uint64_t value;
    sim_reader_get(reader, &value, sizeof(value));
    return value;
}
static inline uint32_t sim_reader_u32(sim_reader_t *reader)
{
    uint32_t value;
    sim_reader_get(reader, &value, sizeof(value));
    return value;
}

SIM_C_END

#endif // KERNEL_BUFFER_H
