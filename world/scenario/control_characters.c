// SPDX-License-Identifier: Apache-2.0
// world/scenario/control_characters.c - control characters as text.
#define _GNU_SOURCE // fopencookie

#include "world/control_characters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUT_BYTES 4096u
#define ESCAPE_BYTES 11u // the longest text of one character, with its end
#define CHARACTER_BYTES 4u

typedef struct shown {
    int descriptor;
    world_shown_kind_t kind;
    unsigned char begun[CHARACTER_BYTES]; // the first bytes of a character whose rest is to come
    size_t begun_count;
    char out[OUT_BYTES];
    size_t used;
} shown_t;

bool world_must_show(uint32_t code_point)
{
    return (code_point < 0x20 && code_point != '\t' && code_point != '\n') ||
           (code_point >= 0x7f && code_point < 0xa0) ||
           (code_point >= 0x200b && code_point <= 0x200f) ||
           (code_point >= 0x2028 && code_point <= 0x202e) ||
           (code_point >= 0x2060 && code_point <= 0x206f) || code_point == 0xfeff;
}

static bool flush(shown_t *shown)
{
    size_t done = 0;
    while (done < shown->used) {
        const ssize_t count = write(shown->descriptor, shown->out + done, shown->used - done);
        if (count < 0 && errno != EINTR) {
            shown->used = 0;
            return false;
        }
        done += count > 0 ? (size_t)count : 0;
    }
    shown->used = 0;
    return true;
}

static bool put(shown_t *shown, const char *bytes, size_t size)
{
    const bool room = shown->used + size <= OUT_BYTES || flush(shown);
    if (room) {
        memcpy(shown->out + shown->used, bytes, size);
        shown->used += size;
    }
    return room;
}

static bool put_escape(shown_t *shown, uint32_t code_point)
{
    char text[ESCAPE_BYTES];
    const bool byte = code_point < 0x80 && shown->kind == WORLD_SHOWN_TEXT;
    const int size = snprintf(text, sizeof(text), byte ? "\\x%02x" : "\\u%04x", code_point);
    return put(shown, text, (size_t)size);
}

static bool put_bad_byte(shown_t *shown, unsigned char byte)
{
    char text[ESCAPE_BYTES];
    const bool json = shown->kind == WORLD_SHOWN_JSON;
    const int size = snprintf(text, sizeof(text), json ? "\\u%04x" : "\\x%02x", byte);
    return put(shown, text, (size_t)size);
}

// Returns whether the bytes are the begin of a character that is not complete.
static bool is_begun(const unsigned char *bytes, size_t size)
{
    const size_t whole = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
    bool begun = bytes[0] >= 0xc2 && bytes[0] <= 0xf4 && size < whole;
    for (size_t i = 1; i < size && begun; i++) {
        begun = (bytes[i] & 0xc0) == 0x80;
    }
    return begun;
}

// Shows one character, or one byte that begins none. Returns how many bytes it took; 0: writing
// failed.
static size_t put_next(shown_t *shown, const unsigned char *bytes, size_t size)
{
    const world_utf8_t c = world_utf8_decode(bytes, size);
    if (c.size == 0) {
        return put_bad_byte(shown, bytes[0]) ? 1 : 0;
    }
    const bool done = world_must_show(c.code_point) ? put_escape(shown, c.code_point)
                                                    : put(shown, (const char *)bytes, c.size);
    return done ? c.size : 0;
}

// Returns whether the character that began with earlier bytes is complete.
static bool put_begun(shown_t *shown, const unsigned char *bytes, size_t size, size_t *taken)
{
    while (shown->begun_count > 0) {
        while (is_begun(shown->begun, shown->begun_count) && *taken < size) {
            SIM_CHECK(shown->begun_count < sizeof(shown->begun));
            shown->begun[shown->begun_count++] = bytes[(*taken)++];
        }
        if (is_begun(shown->begun, shown->begun_count)) {
            return true;
        }
        const size_t out = put_next(shown, shown->begun, shown->begun_count);
        if (out == 0) {
            return false;
        }
        shown->begun_count -= out;
        memmove(shown->begun, shown->begun + out, shown->begun_count);
    }
    return true;
}

static ssize_t on_write(void *cookie, const char *text, size_t size)
{
    shown_t *const shown = cookie;
    const unsigned char *const bytes = (const unsigned char *)text;
    size_t at = 0;
    bool good = put_begun(shown, bytes, size, &at);
    while (good && at < size) {
        if (is_begun(bytes + at, size - at)) {
            shown->begun_count = size - at;
            memcpy(shown->begun, bytes + at, shown->begun_count);
            break;
        }
        const size_t out = put_next(shown, bytes + at, size - at);
        good = out > 0;
        at += out;
    }
    return good && flush(shown) ? (ssize_t)size : 0;
}

static int on_close(void *cookie)
{
    shown_t *const shown = cookie;
    bool good = true;
    for (size_t i = 0; i < shown->begun_count && good; i++) {
        good = put_bad_byte(shown, shown->begun[i]);
    }
    good = good && flush(shown);
    sim_free(shown);
    return good ? 0 : -1;
}

FILE *world_shown_open(int descriptor, world_shown_kind_t kind, bool by_lines)
{
    shown_t *const shown = sim_alloc(sizeof(*shown));
    shown->descriptor = descriptor;
    shown->kind = kind;
    const cookie_io_functions_t ends = {.write = on_write, .close = on_close};
    FILE *const stream = fopencookie(shown, "w", ends);
    if (stream == NULL) {
        sim_free(shown);
        return NULL;
    }
    setvbuf(stream, NULL, by_lines ? _IOLBF : _IOFBF, BUFSIZ);
    return stream;
}
