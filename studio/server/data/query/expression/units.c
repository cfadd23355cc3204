// SPDX-License-Identifier: Apache-2.0
// studio/server/data/query/expression/units.c - units of expressions, and shell patterns.
#include "studio/server/data/query/expression/expression_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    studio_unit_t unit;
} units[] = {
    {"ps", {1, 0, 0, false, 1e-12}},    {"ns", {1, 0, 0, false, 1e-9}},
    {"us", {1, 0, 0, false, 1e-6}},     {"ms", {1, 0, 0, false, 1e-3}},
    {"s", {1, 0, 0, false, 1}},         {"bit", {0, 1, 0, false, 1}},
    {"bytes", {0, 1, 0, false, 8}},     {"B", {0, 1, 0, false, 8}},
    {"KB", {0, 1, 0, false, 8e3}},      {"MB", {0, 1, 0, false, 8e6}},
    {"GB", {0, 1, 0, false, 8e9}},      {"KiB", {0, 1, 0, false, 8192}},
    {"MiB", {0, 1, 0, false, 8388608}}, {"GiB", {0, 1, 0, false, 8589934592.0}},
    {"bit/s", {-1, 1, 0, false, 1}},    {"bps", {-1, 1, 0, false, 1}},
    {"Kbps", {-1, 1, 0, false, 1e3}},   {"Mbps", {-1, 1, 0, false, 1e6}},
    {"Gbps", {-1, 1, 0, false, 1e9}},   {"B/s", {-1, 1, 0, false, 8}},
    {"bytes/s", {-1, 1, 0, false, 8}},  {"MB/s", {-1, 1, 0, false, 8e6}},
    {"GB/s", {-1, 1, 0, false, 8e9}},   {"packets", {0, 0, 1, false, 1}},
    {"frames", {0, 0, 1, false, 1}},    {"M/s", {-1, 0, 0, false, 1e6}},
    {"1/s", {-1, 0, 0, false, 1}},      {"packets/s", {-1, 0, 1, false, 1}},
};

bool studio_unit_find(const char *name, size_t size, studio_unit_t *unit)
{
    for (size_t i = 0; i < SIM_COUNT_OF(units); i++) {
        if (strlen(units[i].name) == size && memcmp(units[i].name, name, size) == 0) {
            *unit = units[i].unit;
            return true;
        }
    }
    return false;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

const char *studio__unit_name(const studio_unit_t *unit, char *text, size_t size)
{
    text[0] = '\0';
    if (unit->plain) {
        return text;
    }
    for (size_t i = 0; i < SIM_COUNT_OF(units); i++) {
        const studio_unit_t *const have = &units[i].unit;
        if (have->time == unit->time && have->bits == unit->bits &&
            have->packets == unit->packets && near(unit->factor, have->factor)) {
            (void)snprintf(text, size, "%s", units[i].name);
            return text;
        }
    }
    (void)snprintf(text, size, "%.6g%s%.0d%s%.0d%s%.0d", unit->factor,
                   unit->bits != 0 ? " bit" : "", unit->bits == 1 ? 0 : unit->bits,
                   unit->packets != 0 ? " packets" : "", unit->packets == 1 ? 0 : unit->packets,
                   unit->time != 0 ? " s" : "", unit->time == 1 ? 0 : unit->time);
    return text;
}

bool studio_number_in(const char *text, const char *unit, double *value)
{
    char *end = NULL;
    if (strspn(text, " +-.0123456789") == 0) {
        return false;
    }
    const double number = strtod(text, &end);
    if (end == text || !isfinite(number)) {
        return false;
    }
    const char *const name = end + strspn(end, " ");
    *value = number;
    if (*name == '\0') {
        return true;
    }
    studio_unit_t from;
    studio_unit_t to;
    if (!studio_unit_find(name, strlen(name), &from) ||
        !studio_unit_find(unit, strlen(unit), &to) || from.time != to.time ||
        from.bits != to.bits || from.packets != to.packets) {
        return false;
    }
    // The ratio of the factors, or its inverse, is a whole number, which is exact.
    *value = from.factor >= to.factor ? number * round(from.factor / to.factor)
                                      : number / round(to.factor / from.factor);
    return true;
}

// Matches a letter against one class "[a-z]"; moves *pattern behind the "]".
static bool matches_class(const char **pattern, char letter)
{
    const char *at = *pattern + 1;
    const bool inverted = *at == '!' || *at == '^';
    at += inverted;
    bool found = false;
    for (bool first = true; *at != '\0' && (*at != ']' || first); first = false) {
        if (at[1] == '-' && at[2] != ']' && at[2] != '\0') {
            found = found || (letter >= at[0] && letter <= at[2]);
            at += 3;
        } else {
            found = found || letter == *at;
            at++;
        }
    }
    *pattern = *at == ']' ? at + 1 : at;
    return found != inverted;
}

bool studio_glob(const char *pattern, const char *text)
{
    // The match only ever returns to the last star, so its cost is at most the product of the
    // lengths.
    const char *star = NULL;
    const char *from = NULL;
    while (*text != '\0') {
        const char *at = pattern;
        bool fits = false;
        if (*pattern == '*') {
            star = pattern++;
            from = text;
            continue;
        }
        if (*pattern == '[' && strchr(pattern + 1, ']') != NULL) {
            fits = matches_class(&at, *text);
        } else if (*pattern != '\0') {
            fits = *pattern == '?' || *pattern == *text;
            at++;
        }
        if (fits) {
            pattern = at;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}

bool studio_text_has(const char *text, const char *part)
{
    const size_t size = strlen(part);
    const int first = tolower((unsigned char)part[0]);
    for (; size > 0 && *text != '\0'; text++) {
        if (tolower((unsigned char)*text) == first && strncasecmp(text, part, size) == 0) {
            return true;
        }
    }
    return size == 0;
}

json_t *studio_expression_help(void)
{
    json_t *const functions = json_array();
    for (size_t i = 0; i < STUDIO_CALL_COUNT; i++) {
        json_array_append_new(functions,
                              json_pack("{s:s,s:s,s:s}", "name", studio__functions[i].name,
                                        "arguments", studio__functions[i].arguments, "help",
                                        studio__functions[i].help));
    }
    json_t *const names = json_array();
    for (size_t i = 0; i < SIM_COUNT_OF(units); i++) {
        json_array_append_new(names, json_string(units[i].name));
    }
    return json_pack("{s:o,s:[s,s,s,s,s,s,s,s,s,s,s,s,s,s,s,s,s,s],s:o}", "functions", functions,
                     "operators", "or", "and", "not", "=", "!=", "<", "<=", ">", ">=", "~", "!~",
                     "in", "+", "-", "*", "/", "%", "^", "units", names);
}
