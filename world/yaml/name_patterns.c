// SPDX-License-Identifier: Apache-2.0
// world/yaml/name_patterns.c - lets name patterns stand in YAML without quotes, and refuses what is
// no text.
//
// In YAML, `*` begins an alias and `[`, `]`, `,` structure flow collections, so that
// `{from: host[*]}` is a syntax error. Scenarios have no aliases, and a `[` that follows a letter
// or digit at once can be nothing but part of a name. Both are replaced by private-use characters
// before the parser sees them and put back in every scalar after. So are the commas and brackets of
// an expression: `{leaves: $(max(gpus / 8, 1))}`.
#include "kernel/utf8.h"
#include "world/control_characters.h"
#include "world/yaml/yaml_internal.h"

#include <string.h>

// U+E000 to U+E003: EE 80 80 to EE 80 83.
#define SHIELD_LEAD "\xee\x80"
static const char shielded_characters[] = {'*', '[', ']', ','};
#define BRACKET_BYTES_MAX 256u

world_utf8_t world_utf8_decode(const unsigned char *bytes, size_t size)
{
    const size_t length = sim_utf8_bytes(bytes, size);
    uint32_t code_point = length < 2 ? bytes[0] : bytes[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        code_point = code_point << 6 | (bytes[i] & 0x3fu);
    }
    return (world_utf8_t){length == 0 ? 0 : code_point, length};
}

static bool allowed(uint32_t code_point)
{
    if (code_point < 0x20) {
        return code_point == '\t' || code_point == '\n' || code_point == '\r';
    }
    return code_point != 0x7f && code_point < 0x110000 &&
           !(code_point >= 0xe000 && code_point < 0xe000 + sizeof(shielded_characters)) &&
           !(code_point >= 0x80 && code_point < 0xa0 && code_point != 0x85) &&
           (code_point & 0xfffe) != 0xfffe;
}

static sim_err_t check_text(const world_place_t *start, const char *bytes, size_t size,
                            world_error_t *error)
{
    world_place_t place = *start;
    for (size_t i = 0; i < size;) {
        const world_utf8_t c = world_utf8_decode((const unsigned char *)bytes + i, size - i);
        if (c.size == 0) {
            return world_fail(error, SIM_ERR_INVALID, &place,
                              "byte 0x%02x is not UTF-8, expected a YAML text file in UTF-8",
                              (unsigned)(unsigned char)bytes[i]);
        }
        // A byte order mark may only begin the text.
        if (!allowed(c.code_point) || (c.code_point == 0xfeff && i > 0)) {
            return world_fail(error, SIM_ERR_INVALID, &place,
                              "character U+%04" PRIX32 " cannot stand in a scenario, "
                              "expected a YAML text file",
                              c.code_point);
        }
        i += c.size;
        if (place.line > 0 && c.code_point == '\n') {
            place.line++;
            place.column = 0;
        }
        place.column++;
    }
    return SIM_OK;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '*' || c == '?';
}

// Bytes of "[...]" at p when it is part of a name, else 0.
static size_t bracket_bytes(const char *bytes, size_t size, size_t p)
{
    if (bytes[p] != '[' || p == 0 || !is_word(bytes[p - 1])) {
        return 0;
    }
    for (size_t i = p + 1; i < size && i - p < BRACKET_BYTES_MAX; i++) {
        if (bytes[i] == ']') {
            return i - p + 1;
        }
        if (!is_word(bytes[i]) && bytes[i] != ',' && bytes[i] != '-' && bytes[i] != '>') {
            return 0;
        }
    }
    return 0;
}

// Returns the bytes of an expression "$(...)" at p, or 0 if there is none. Its commas and brackets
// have no meaning in YAML.
static size_t expression_bytes(const char *bytes, size_t size, size_t p)
{
    if (bytes[p] != '$' || p + 1 == size || bytes[p + 1] != '(') {
        return 0;
    }
    size_t depth = 0;
    for (size_t i = p + 1; i < size && i - p < BRACKET_BYTES_MAX && bytes[i] != '\n'; i++) {
        depth += bytes[i] == '(';
        depth -= bytes[i] == ')';
        if (depth == 0) {
            return i - p + 1;
        }
    }
    return 0;
}

static size_t shield_one(char *to, char character)
{
    const char *const found = memchr(shielded_characters, character, sizeof(shielded_characters));
    if (found == NULL) {
        *to = character;
        return 1;
    }
    memcpy(to, SHIELD_LEAD, 2);
    to[2] = (char)(0x80 + (found - shielded_characters));
    return 3;
}

sim_err_t world__yaml_shield(const world_place_t *place, const char *bytes, size_t size,
                             char **shielded, size_t *shielded_size, world_error_t *error)
{
    const sim_err_t result = check_text(place, bytes, size, error);
    if (result != SIM_OK) {
        return result;
    }
    char *const to = sim_alloc_array(size + 1, 3);
    size_t used = 0;
    size_t bracket_end = 0;
    for (size_t i = 0; i < size; i++) {
        if (i >= bracket_end) {
            const size_t expression = expression_bytes(bytes, size, i);
            bracket_end = i + (expression > 0 ? expression : bracket_bytes(bytes, size, i));
        }
        if (i < bracket_end || bytes[i] == '*') {
            used += shield_one(to + used, bytes[i]);
        } else {
            to[used++] = bytes[i];
        }
    }
    SIM_CHECK(used >= size && used <= 3 * size);
    *shielded = to;
    *shielded_size = used;
    return SIM_OK;
}

sim_err_t world__yaml_unshield(const char *text, size_t size, char **plain)
{
    if (memchr(text, '\0', size) != NULL) {
        return SIM_ERR_INVALID;
    }
    char *const to = sim_alloc(size + 1);
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        if (i + 2 < size && memcmp(text + i, SHIELD_LEAD, 2) == 0) {
            const unsigned index = (unsigned)(unsigned char)text[i + 2] - 0x80u;
            if (index < sizeof(shielded_characters)) {
                to[used++] = shielded_characters[index];
                i += 2;
                continue;
            }
        }
        to[used++] = text[i];
    }
    SIM_CHECK(used <= size);
    to[used] = '\0';
    *plain = to;
    return SIM_OK;
}
