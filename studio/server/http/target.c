// SPDX-License-Identifier: Apache-2.0
// studio/server/http/target.c - parses targets, ranges and host names.
#include "studio/server/http/target.h"

#include "kernel/utf8.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

static int hex(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool studio_text_is_clean(const char *text, size_t size_bytes)
{
    const unsigned char *const bytes = (const unsigned char *)text;
    for (size_t i = 0; i < size_bytes;) {
        const bool space = bytes[i] == '\t' || bytes[i] == '\n' || bytes[i] == '\r';
        const size_t length = sim_utf8_bytes(bytes + i, size_bytes - i);
        if (length == 0 || (bytes[i] < 0x20 && !space) || bytes[i] == 0x7f) {
            return false;
        }
        i += length;
    }
    return true;
}

// Returns the code point of a sequence of clean text, and moves *text behind it.
static uint32_t code_point(const char **text)
{
    const unsigned char *const at = (const unsigned char *)*text;
    const size_t length = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    uint32_t code = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        code = code << 6 | (at[i] & 0x3fu);
    }
    *text += length;
    return code;
}

typedef struct range {
    uint32_t first;
    uint32_t last;
} range_t;

static bool is_in(uint32_t code, const range_t *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (code >= ranges[i].first && code <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

bool studio_text_is_visible(const char *text)
{
    // Unicode's controls, format characters, fillers, variation selectors, tags and wide spaces.
    static const range_t hidden[] = {
        {0x00, 0x1f},       {0x7f, 0xa0},     {0xad, 0xad},     {0x34f, 0x34f},
        {0x61c, 0x61c},     {0x115f, 0x1160}, {0x1680, 0x1680}, {0x17b4, 0x17b5},
        {0x180b, 0x180f},   {0x2000, 0x200f}, {0x2028, 0x202f}, {0x205f, 0x206f},
        {0x2800, 0x2800},   {0x3000, 0x3000}, {0x3164, 0x3164}, {0xfe00, 0xfe0f},
        {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1d173, 0x1d17a},
        {0xe0000, 0xe0fff},
    };
    while (*text != '\0') {
        if (is_in(code_point(&text), hidden, SIM_COUNT_OF(hidden))) {
            return false;
        }
    }
    return true;
}

bool studio_text_is_plain(const char *text)
{
    // Latin with accents, but no dotless i, kra and long s; kana, ideographs and hangul.
    static const range_t plain[] = {
        {0x20, 0x7e},     {0xc0, 0xd6},     {0xd8, 0xf6},     {0xf8, 0x130},
        {0x132, 0x137},   {0x139, 0x17e},   {0x3041, 0x3096}, {0x30a1, 0x30fc},
        {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xac00, 0xd7a3},
    };
    while (*text != '\0') {
        if (!is_in(code_point(&text), plain, SIM_COUNT_OF(plain))) {
            return false;
        }
    }
    return true;
}

// Decodes the escapes of text in place; plus: '+' is a space, as in a query. Returns false for a
// bad escape or a refused character.
static bool decode(char *text, bool plus)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        char c = *from;
        if (c == '%') {
            const int high = hex(from[1]);
            const int low = high < 0 ? -1 : hex(from[2]);
            if (low < 0 || high * 16 + low == 0) {
                return false;
            }
            c = (char)(high * 16 + low);
            from += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        *to++ = c;
    }
    *to = '\0';
    return studio_text_is_clean(text, (size_t)(to - text));
}

static bool segment_ok(const char *text)
{
    return text[0] != '\0' && strcmp(text, ".") != 0 && strcmp(text, "..") != 0 &&
           strpbrk(text, "/\\\t\r\n") == NULL;
}

// Splits a path that begins behind its first slash and is not decoded yet.
static bool split_path(char *path, studio_target_t *target)
{
    if (path[0] == '\0') {
        return true; // the path is "/"
    }
    for (char *next = path; next != NULL;) {
        char *const text = next;
        next = strchr(text, '/');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (target->segment_count == STUDIO_SEGMENTS_MAX || !decode(text, false) ||
            !segment_ok(text)) {
            return false;
        }
        target->segments[target->segment_count++] = text;
    }
    return true;
}

static bool split_query(char *query, studio_target_t *target)
{
    size_t capacity = 0;
    for (char *next = query; next != NULL;) {
        char *const name = next;
        next = strchr(name, '&');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (name[0] == '\0') {
            continue; // an empty pair, as in "a=1&&b=2" or behind a lone '?'
        }
        char *text = strchr(name, '=');
        if (text == NULL) {
            text = name + strlen(name);
        } else {
            *text++ = '\0';
        }
        if (target->value_count == STUDIO_VALUES_MAX || !decode(name, true) ||
            !decode(text, true) || name[0] == '\0') {
            return false;
        }
        SIM_APPEND(target->values, target->value_count, capacity, (studio_value_t){name, text});
    }
    return true;
}

bool studio_target_parse(const char *raw, studio_target_t *target)
{
    memset(target, 0, sizeof(*target));
    if (raw[0] != '/' || strlen(raw) > STUDIO_TARGET_BYTES_MAX || strchr(raw, '#') != NULL) {
        return false;
    }
    target->memory = sim_strdup(raw);
    char *const query = strchr(target->memory, '?');
    if (query != NULL) {
        *query = '\0';
    }
    if (!split_path(target->memory + 1, target) ||
        (query != NULL && !split_query(query + 1, target))) {
        studio_target_fini(target);
        return false;
    }
    return true;
}

void studio_target_fini(studio_target_t *target)
{
    sim_free(target->memory);
    sim_free(target->values);
    memset(target, 0, sizeof(*target));
}

const char *studio_target_value(const studio_target_t *target, const char *name, size_t index)
{
    for (size_t i = 0; i < target->value_count; i++) {
        if (strcmp(target->values[i].name, name) == 0 && index-- == 0) {
            return target->values[i].text;
        }
    }
    return NULL;
}

// -- routes

// Returns the next segment of a route's path and its *length; NULL at the end.
static const char *route_segment(const char **path, size_t *length)
{
    if (**path != '/' || (*path)[1] == '\0') {
        return NULL;
    }
    const char *const text = *path + 1;
    *length = strcspn(text, "/");
    *path = text + *length;
    return text;
}

static bool is_rest(const char *text, size_t length)
{
    return length > 5 && text[0] == '{' && memcmp(text + length - 4, "...}", 4) == 0;
}

bool studio_target_matches(const studio_target_t *target, const char *route_path)
{
    size_t length = 0;
    size_t i = 0;
    for (const char *text = route_segment(&route_path, &length); text != NULL;
         text = route_segment(&route_path, &length)) {
        if (i == target->segment_count) {
            return false;
        }
        if (is_rest(text, length)) {
            return true;
        }
        const char *const segment = target->segments[i++];
        if (text[0] != '{' && (strlen(segment) != length || memcmp(segment, text, length) != 0)) {
            return false;
        }
    }
    return i == target->segment_count;
}

static char *join(const studio_target_t *target, size_t first)
{
    char *text = sim_strdup(target->segments[first]);
    for (size_t i = first + 1; i < target->segment_count; i++) {
        char *const longer = sim_format("%s/%s", text, target->segments[i]);
        sim_free(text);
        text = longer;
    }
    return text;
}

char *studio_target_segment(const studio_target_t *target, const char *route_path, const char *name)
{
    const size_t name_length = strlen(name);
    size_t length = 0;
    size_t i = 0;
    for (const char *text = route_segment(&route_path, &length);
         text != NULL && i < target->segment_count;
         text = route_segment(&route_path, &length), i++) {
        const bool rest = is_rest(text, length);
        const size_t inner = rest ? length - 5 : length - 2;
        if (text[0] == '{' && inner == name_length && memcmp(text + 1, name, inner) == 0) {
            return rest ? join(target, i) : sim_strdup(target->segments[i]);
        }
    }
    return NULL;
}

// -- ranges

// Reads the digits at *text; returns false if there are none or too many.
static bool digits(const char **text, uint64_t *number)
{
    const char *const begin = *text;
    *number = 0;
    while (**text >= '0' && **text <= '9' && *text - begin < 18) {
        *number = *number * 10 + (uint64_t)(**text - '0');
        (*text)++;
    }
    return *text > begin && !(**text >= '0' && **text <= '9');
}

studio_range_kind_t studio_range_parse(const char *header, uint64_t size_bytes, uint64_t *first,
                                       uint64_t *count)
{
    *first = 0;
    *count = size_bytes;
    if (header == NULL || strncmp(header, "bytes=", 6) != 0) {
        return STUDIO_RANGE_WHOLE;
    }
    const char *text = header + 6;
    uint64_t from = 0;
    uint64_t to = 0;
    const bool has_from = digits(&text, &from);
    if (*text != '-') {
        return STUDIO_RANGE_WHOLE;
    }
    text++;
    const bool has_to = digits(&text, &to);
    if (*text != '\0' || (!has_from && !has_to) || (has_from && has_to && to < from)) {
        return STUDIO_RANGE_WHOLE;
    }
    if (!has_from) { // the last bytes, as in "bytes=-50"
        from = to < size_bytes ? size_bytes - to : 0;
        to = size_bytes;
    } else {
        to = has_to && to < size_bytes ? to + 1 : size_bytes;
    }
    if (from >= to) {
        return STUDIO_RANGE_NONE;
    }
    *first = from;
    *count = to - from;
    return STUDIO_RANGE_PART;
}

// -- hosts

static bool in_list(const char *name, size_t length, const char *names)
{
    while (names != NULL && *names != '\0') {
        const size_t entry = strcspn(names, ",");
        if (entry == length && strncasecmp(names, name, length) == 0) {
            return true;
        }
        names += entry + (names[entry] == ',');
    }
    return false;
}

bool studio_host_allowed(const char *host, const char *names)
{
    char name[256];
    const char *begin = host;
    size_t length = strcspn(host, ":");
    const char *rest = host + length;
    unsigned char address[16];
    const bool bracketed = host[0] == '[';
    if (bracketed) {
        begin = host + 1;
        length = strcspn(begin, "]");
        rest = begin[length] == ']' ? begin + length + 1 : "?";
    }
    if (length == 0 || length >= sizeof(name) ||
        (rest[0] != '\0' &&
         (rest[0] != ':' || strspn(rest + 1, "0123456789") != strlen(rest + 1)))) {
        return false;
    }
    memcpy(name, begin, length);
    name[length] = '\0';
    if (bracketed) {
        return inet_pton(AF_INET6, name, address) == 1;
    }
    return inet_pton(AF_INET, name, address) == 1 || strcasecmp(name, "localhost") == 0 ||
           in_list(name, length, names);
}
