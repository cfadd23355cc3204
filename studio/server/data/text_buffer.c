// SPDX-License-Identifier: Apache-2.0
// studio/server/data/text_buffer.c - a growing text.
#include "studio/server/data/text_buffer.h"

#include "kernel/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void studio_out_fini(studio_out_t *out)
{
    sim_free(out->bytes);
    *out = (studio_out_t){.bytes = NULL};
}

void studio_out_bytes(studio_out_t *out, const char *bytes, size_t size)
{
    SIM_RESERVE(out->bytes, out->size + size + 1, &out->capacity);
    if (size > 0) {
        memcpy(out->bytes + out->size, bytes, size);
    }
    out->size += size;
    out->bytes[out->size] = '\0';
}

void studio_out_text(studio_out_t *out, const char *text)
{
    studio_out_bytes(out, text, strlen(text));
}

void studio_out_format(studio_out_t *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    const int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    SIM_CHECK(size >= 0);
    SIM_RESERVE(out->bytes, out->size + (size_t)size + 1, &out->capacity);
    (void)vsnprintf(out->bytes + out->size, (size_t)size + 1, format, again);
    va_end(again);
    out->size += (size_t)size;
}

void studio_out_json(studio_out_t *out, const char *text)
{
    studio_out_bytes(out, "\"", 1);
    const uint8_t *at = (const uint8_t *)text;
    while (*at != '\0') {
        const size_t size = sim_utf8_bytes(at, 4); // stops at the 0
        if (size == 0) {
            studio_out_text(out, "\xef\xbf\xbd");
            at++;
            continue;
        }
        if (*at == '"' || *at == '\\') {
            studio_out_bytes(out, "\\", 1);
            studio_out_bytes(out, (const char *)at, 1);
        } else if (*at < 0x20 || *at == 0x7f) {
            studio_out_format(out, "\\u%04x", *at);
        } else {
            studio_out_bytes(out, (const char *)at, size);
        }
        at += size;
    }
    studio_out_bytes(out, "\"", 1);
}

// Returns whether a spreadsheet would run the text as a formula: names come from users.
static bool is_formula(const char *text)
{
    char *end = NULL;
    if (text[0] == '\0' || strchr("=+-@\t\r", text[0]) == NULL) {
        return false;
    }
    (void)strtod(text, &end);
    return end == text || *end != '\0';
}

void studio_out_csv(studio_out_t *out, const char *text)
{
    if (is_formula(text)) {
        studio_out_bytes(out, "'", 1);
    }
    if (strpbrk(text, ",\"\r\n") == NULL) {
        studio_out_text(out, text);
        return;
    }
    studio_out_bytes(out, "\"", 1);
    for (; *text != '\0'; text++) {
        studio_out_bytes(out, text, 1);
        if (*text == '"') {
            studio_out_bytes(out, "\"", 1);
        }
    }
    studio_out_bytes(out, "\"", 1);
}

void studio_out_real(studio_out_t *out, double value, bool csv)
{
    if (!isfinite(value)) {
        studio_out_text(out, csv ? "" : "null");
        return;
    }
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, value);
        const double back = strtod(text, NULL);
        if (!(back < value) && !(back > value)) {
            break;
        }
    }
    studio_out_text(out, text);
}

static void put_decimal(studio_out_t *out, const studio_cell_t *cell)
{
    char text[40];
    const bool minus = cell->mantissa < 0;
    uint64_t rest = minus ? -(uint64_t)cell->mantissa : (uint64_t)cell->mantissa;
    size_t at = sizeof(text);
    unsigned decimals = cell->decimals;
    while (decimals > 0 && rest % 10 == 0) {
        rest /= 10;
        decimals--;
    }
    for (unsigned i = 0; rest > 0 || i <= decimals; i++) {
        if (decimals > 0 && i == decimals) {
            text[--at] = '.';
        }
        text[--at] = (char)('0' + rest % 10);
        rest /= 10;
    }
    if (minus) {
        text[--at] = '-';
    }
    studio_out_bytes(out, text + at, sizeof(text) - at);
}

void studio_out_cell(studio_out_t *out, const studio_cell_t *cell, bool csv)
{
    switch (cell->kind) {
    case STUDIO_CELL_MISSING:
        studio_out_text(out, csv ? "" : "null");
        break;
    case STUDIO_CELL_DECIMAL:
        put_decimal(out, cell);
        break;
    case STUDIO_CELL_REAL:
        studio_out_real(out, cell->real, csv);
        break;
    case STUDIO_CELL_TEXT:
        if (csv) {
            studio_out_csv(out, cell->text);
        } else {
            studio_out_json(out, cell->text);
        }
        break;
    default:
        SIM_CHECK(false);
    }
}
