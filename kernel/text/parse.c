// SPDX-License-Identifier: Apache-2.0
// kernel/text/parse.c - converts numbers with units and ratios: text to exact integers and back.
//
// A decimal number is read as two integers, the digits before and behind the point, and scaled by
// its unit in 128 bits. A value that is no whole number of base units is refused, never rounded.
#include <stdio.h>
#include <string.h>

#include "kernel/parse.h"
#include "kernel/text/attribute_internal.h"

typedef struct unit {
    const char *name;
    uint64_t scale; // in base units: bytes, picoseconds, bit/s
    bool written;   // output uses this name, input knows all
} unit_t;

struct sim__measure {
    const char *noun;     // "10 apples" is not ...
    const char *expected; // ...: expected ...
    const char *finest;   // the base unit as a value
    const char *base;     // the base unit after a number, "" if none is needed
    const char *zero;     // how zero is written
    bool bare_ok;         // a number without a unit counts base units
    const unit_t *units;  // powers of 1000 before powers of 1024, each largest first
    size_t unit_count;
};

static const unit_t byte_units[] = {
    {"TB", UINT64_C(1000000000000), true}, {"GB", UINT64_C(1000000000), true},
    {"MB", UINT64_C(1000000), true},       {"KB", UINT64_C(1000), true},
    {"kB", UINT64_C(1000), false},         {"B", 1, false},
    {"TiB", UINT64_C(1) << 40, true},      {"GiB", UINT64_C(1) << 30, true},
    {"MiB", UINT64_C(1) << 20, true},      {"KiB", UINT64_C(1) << 10, true},
};

static const unit_t time_units[] = {
    {"min", 60 * SIM_PS_PER_S, true}, {"s", SIM_PS_PER_S, true},   {"ms", SIM_PS_PER_MS, true},
    {"us", SIM_PS_PER_US, true},      {"ns", SIM_PS_PER_NS, true}, {"ps", 1, true},
};

static const unit_t rate_units[] = {
    {"Tbps", UINT64_C(1000000000000), true},
    {"Tb/s", UINT64_C(1000000000000), false},
    {"Gbps", UINT64_C(1000000000), true},
    {"Gb/s", UINT64_C(1000000000), false},
    {"Mbps", UINT64_C(1000000), true},
    {"Mb/s", UINT64_C(1000000), false},
    {"Kbps", UINT64_C(1000), true},
    {"Kb/s", UINT64_C(1000), false},
    {"kbps", UINT64_C(1000), false},
    {"kb/s", UINT64_C(1000), false},
    {"bps", 1, true},
    {"b/s", 1, false},
};

const sim__measure_t sim__measure_bytes = {
    .noun = "a size",
    .expected = "bytes such as 64KB or 4096",
    .finest = "one byte",
    .base = " bytes",
    .zero = "0",
    .bare_ok = true,
    .units = byte_units,
    .unit_count = SIM_COUNT_OF(byte_units),
};
const sim__measure_t sim__measure_time = {
    .noun = "a time",
    .expected = "a time such as 10us",
    .finest = "1ps",
    .base = "ps",
    .zero = "0s",
    .units = time_units,
    .unit_count = SIM_COUNT_OF(time_units),
};
const sim__measure_t sim__measure_rate = {
    .noun = "a rate",
    .expected = "a rate such as 100Gbps",
    .finest = "1bps",
    .base = "bps",
    .zero = "0bps",
    .units = rate_units,
    .unit_count = SIM_COUNT_OF(rate_units),
};
const sim__measure_t sim__measure_count = {
    .noun = "a count",
    .expected = "a whole number such as 12",
    .finest = "1",
    .base = "",
    .zero = "0",
    .bare_ok = true,
};

static const char ratio_expected[] = "a ratio such as 0.2, 20% or 1/8";
#define EXPONENT_MAX 19u // 10^19 is the largest power of ten that fits a ratio

// -- spans

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

sim__span_t sim__span_trim(sim__span_t span)
{
    while (span.begin < span.end && is_blank(*span.begin)) {
        ++span.begin;
    }
    while (span.begin < span.end && is_blank(span.end[-1])) {
        --span.end;
    }
    return span;
}

sim__span_t sim__span(const char *text)
{
    const sim__span_t span = {text, text + strlen(text)};
    return sim__span_trim(span);
}

bool sim__span_is(sim__span_t span, const char *text)
{
    const size_t length = (size_t)(span.end - span.begin);
    return strlen(text) == length && memcmp(span.begin, text, length) == 0;
}

sim__shown_t sim__show(sim__span_t span)
{
    static const char more[] = "...";
    sim__shown_t shown;
    const size_t room = sizeof(shown.text) - sizeof(more);
    size_t used = 0;
    size_t whole = 0; // where the last character that is complete in UTF-8 ends
    bool cut = false;
    for (const char *p = span.begin; p < span.end && !cut; ++p) {
        const unsigned char c = (unsigned char)*p;
        const bool control = c < 0x20 || c == 0x7f;
        whole = (c & 0xc0) == 0x80 ? whole : used;
        cut = used + (control ? 4 : 1) > room;
        if (!cut && control) {
            used += (size_t)snprintf(shown.text + used, sizeof("\\x1b"), "\\x%02x", c);
        } else if (!cut) {
            shown.text[used++] = *p;
        }
    }
    used = cut ? whole : used;
    memcpy(shown.text + used, cut ? more : "", cut ? sizeof(more) : 1);
    return shown;
}

// -- decimals

uint64_t sim__power_of_ten(unsigned exponent)
{
    uint64_t power = 1;
    for (unsigned i = 0; i < exponent; ++i) {
        power *= 10;
    }
    return power;
}

bool sim__take_decimal(sim__span_t *span, sim__decimal_t *decimal)
{
    const char *at = span->begin;
    *decimal = (sim__decimal_t){0};
    if (at == span->end || !is_digit(*at)) {
        return false;
    }
    for (; at < span->end && is_digit(*at); ++at) {
        const sim_wide_t whole = (sim_wide_t)decimal->whole * 10 + (sim_wide_t)(*at - '0');
        decimal->overflow = decimal->overflow || whole > UINT64_MAX;
        decimal->whole = (uint64_t)whole;
    }
    if (at < span->end && *at == '.') {
        const char *const first = ++at;
        while (at < span->end && is_digit(*at)) {
            ++at;
        }
        if (at == first) {
            return false;
        }
        const char *last = at;
        while (last > first && last[-1] == '0') {
            --last;
        }
        if (last - first > SIM__PLACES_MAX) {
            decimal->too_fine = true;
            last = first + SIM__PLACES_MAX;
        }
        for (const char *digit = first; digit < last; ++digit) {
            decimal->fraction = decimal->fraction * 10 + (uint64_t)(*digit - '0');
            ++decimal->places;
        }
    }
    span->begin = at;
    return true;
}

static sim_err_t fail_at(sim_message_t *message, sim_err_t error, sim__span_t span,
                         const char *problem, const char *expected)
{
    return sim_fail(message, error, "\"%s\" %s: expected %s", sim__show(span).text, problem,
                    expected);
}

static sim_err_t fail_noun(sim_message_t *message, sim__span_t span, const char *noun,
                           const char *expected)
{
    return sim_fail(message, SIM_ERR_INVALID, "\"%s\" is not %s: expected %s", sim__show(span).text,
                    noun, expected);
}

static bool is_negative(sim__span_t span)
{
    return span.end - span.begin >= 2 && span.begin[0] == '-' && is_digit(span.begin[1]);
}

// -- numbers with units

// Returns the scale of the unit that span names, or 0.
static uint64_t find_scale(const sim__measure_t *measure, sim__span_t span)
{
    for (size_t i = 0; i < measure->unit_count; ++i) {
        if (sim__span_is(span, measure->units[i].name)) {
            return measure->units[i].scale;
        }
    }
    return 0;
}

// Computes decimal * scale, which must be whole and at most SIM__NUMBER_MAX.
static sim_err_t apply_scale(const sim__decimal_t *decimal, uint64_t scale, uint64_t *number)
{
    if (decimal->overflow) {
        return SIM_ERR_RANGE;
    }
    if (decimal->too_fine) {
        return SIM_ERR_INVALID;
    }
    const uint64_t places = sim__power_of_ten(decimal->places);
    const sim_wide_t fraction = (sim_wide_t)decimal->fraction * scale;
    if (fraction % places != 0) {
        return SIM_ERR_INVALID;
    }
    const sim_wide_t total = (sim_wide_t)decimal->whole * scale + fraction / places;
    if (total > SIM__NUMBER_MAX) {
        return SIM_ERR_RANGE;
    }
    *number = (uint64_t)total;
    return SIM_OK;
}

sim_err_t sim__parse_number(const sim__measure_t *measure, sim__span_t span, uint64_t *number,
                            sim_message_t *message)
{
    const sim__span_t all = span;
    sim__decimal_t decimal;
    if (is_negative(span)) {
        return fail_at(message, SIM_ERR_RANGE, all, "is negative", measure->expected);
    }
    if (!sim__take_decimal(&span, &decimal)) {
        return fail_noun(message, all, measure->noun, measure->expected);
    }
    uint64_t scale = 1;
    span = sim__span_trim(span);
    if (span.begin < span.end) {
        scale = find_scale(measure, span);
        if (scale == 0) {
            return fail_noun(message, all, measure->noun, measure->expected);
        }
    } else if (!measure->bare_ok) {
        return fail_at(message, SIM_ERR_INVALID, all, "has no unit", measure->expected);
    }
    uint64_t result = 0;
    const sim_err_t error = apply_scale(&decimal, scale, &result);
    if (error == SIM_ERR_RANGE) {
        return sim_fail(message, error, "\"%s\" is too large: expected at most %" PRIu64 "%s",
                        sim__show(all).text, SIM__NUMBER_MAX, measure->base);
    }
    if (error != SIM_OK) {
        return sim_fail(message, error, "\"%s\" is finer than %s: expected %s", sim__show(all).text,
                        measure->finest, measure->expected);
    }
    *number = result;
    return SIM_OK;
}

sim_err_t sim_parse_bytes(const char *text, uint64_t *bytes, sim_message_t *message)
{
    return sim__parse_number(&sim__measure_bytes, sim__span(text), bytes, message);
}

sim_err_t sim_parse_time(const char *text, sim_time_t *time_ps, sim_message_t *message)
{
    const sim__span_t span = sim__span(text);
    if (sim__span_is(span, "never")) {
        *time_ps = SIM_TIME_NEVER;
        return SIM_OK;
    }
    return sim__parse_number(&sim__measure_time, span, time_ps, message);
}

sim_err_t sim_parse_rate(const char *text, uint64_t *rate_bps, sim_message_t *message)
{
    return sim__parse_number(&sim__measure_rate, sim__span(text), rate_bps, message);
}

sim_err_t sim_parse_count(const char *text, uint64_t *count, sim_message_t *message)
{
    return sim__parse_number(&sim__measure_count, sim__span(text), count, message);
}

// -- ratios

static sim_wide_t greatest_common_divisor(sim_wide_t a, sim_wide_t b)
{
    while (b != 0) {
        const sim_wide_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Reduces num / den to lowest terms. Returns false if those do not fit.
static bool reduce_ratio(sim_wide_t num, sim_wide_t den, sim_ratio_t *ratio)
{
    const sim_wide_t divisor = greatest_common_divisor(num, den);
    num /= divisor;
    den /= divisor;
    if (num > UINT64_MAX || den > UINT64_MAX) {
        return false;
    }
    *ratio = (sim_ratio_t){(uint64_t)num, (uint64_t)den};
    return true;
}

// Takes an exponent such as "e-12", as error rates are written, and gives the power of ten that
// divides the number. False: there is no exponent, or no ratio can have it.
static bool take_exponent(sim__span_t *span, sim_wide_t *divisor)
{
    const char *p = span->begin;
    if (span->end - p < 3 || (*p != 'e' && *p != 'E') || p[1] != '-') {
        return false;
    }
    unsigned exponent = 0;
    for (p += 2; p < span->end && *p >= '0' && *p <= '9' && exponent < 100; ++p) {
        exponent = exponent * 10 + (unsigned)(*p - '0');
    }
    if (exponent > EXPONENT_MAX || p[-1] == '-') {
        return false;
    }
    span->begin = p;
    *divisor = sim__power_of_ten(exponent);
    return true;
}

sim_err_t sim__parse_ratio(sim__span_t span, sim_ratio_t *ratio, sim_message_t *message)
{
    const sim__span_t all = span;
    sim__decimal_t decimal;
    if (is_negative(span)) {
        return fail_at(message, SIM_ERR_RANGE, all, "is negative", ratio_expected);
    }
    if (!sim__take_decimal(&span, &decimal)) {
        return fail_noun(message, all, "a ratio", ratio_expected);
    }
    bool fits = !decimal.overflow && !decimal.too_fine;
    const sim_wide_t places = sim__power_of_ten(decimal.places);
    sim_wide_t den = places;
    if (span.begin < span.end && *span.begin == '/' && decimal.places == 0) {
        ++span.begin;
        sim__decimal_t divisor;
        if (!sim__take_decimal(&span, &divisor) || divisor.places != 0 || divisor.too_fine) {
            return fail_noun(message, all, "a ratio", ratio_expected);
        }
        fits = fits && !divisor.overflow;
        den = divisor.whole;
    } else if (span.begin < span.end) {
        sim_wide_t divisor = 1;
        if (take_exponent(&span, &divisor)) {
            den = places * divisor;
        }
        span = sim__span_trim(span);
        if (span.begin < span.end && divisor == 1 && *span.begin == '%') {
            ++span.begin;
            den = places * 100;
        }
    }
    if (span.begin < span.end) {
        return fail_noun(message, all, "a ratio", ratio_expected);
    }
    if (fits && den == 0) {
        return fail_at(message, SIM_ERR_INVALID, all, "divides by zero", ratio_expected);
    }
    if (!fits || !reduce_ratio(decimal.whole * places + decimal.fraction, den, ratio)) {
        return fail_at(message, SIM_ERR_RANGE, all, "has too many digits", ratio_expected);
    }
    return SIM_OK;
}

sim_err_t sim_parse_ratio(const char *text, sim_ratio_t *ratio, sim_message_t *message)
{
    return sim__parse_ratio(sim__span(text), ratio, message);
}

// -- back to text

static unsigned digit_count(uint64_t number)
{
    unsigned count = 1;
    while (number >= 10) {
        number /= 10;
        ++count;
    }
    return count;
}

// Writes the number in the unit that leaves the fewest digits. A power of 1024 is chosen only if it
// saves a digit: 1024KB is not written as 1000KiB, but 65536 is as 64KiB.
char *sim__format_number(const sim__measure_t *measure, uint64_t number)
{
    if (number == 0) {
        return sim_strdup(measure->zero);
    }
    const unit_t bare = {"", 1, true};
    const unit_t *best = measure->bare_ok ? &bare : NULL;
    for (size_t i = 0; i < measure->unit_count; ++i) {
        const unit_t *const unit = &measure->units[i];
        if (!unit->written || number % unit->scale != 0) {
            continue;
        }
        if (best == NULL || digit_count(number / unit->scale) < digit_count(number / best->scale)) {
            best = unit;
        }
    }
    SIM_CHECK(best != NULL);
    return sim_format("%" PRIu64 "%s", number / best->scale, best->name);
}

// Returns the ratio as a decimal, or NULL if that never ends or needs too many digits.
static char *format_decimal(sim_ratio_t ratio)
{
    for (unsigned places = 0; places < SIM__PLACES_MAX; ++places) {
        const uint64_t power = sim__power_of_ten(places);
        if ((sim_wide_t)ratio.num * power % ratio.den != 0) {
            continue;
        }
        const uint64_t whole = ratio.num / ratio.den;
        const uint64_t rest = (uint64_t)((sim_wide_t)(ratio.num % ratio.den) * power / ratio.den);
        if (places == 0) {
            return sim_format("%" PRIu64, whole);
        }
        return sim_format("%" PRIu64 ".%0*" PRIu64, whole, (int)places, rest);
    }
    return NULL;
}

#define ZEROS_READABLE 3u // behind the point: 0.0001 is written as 1e-4

// Writes a small decimal with an exponent: "2.5e-7" for "0.00000025". Returns NULL for others.
static char *format_exponent(const char *decimal)
{
    static const char start[] = "0.";
    if (decimal == NULL || strncmp(decimal, start, strlen(start)) != 0) {
        return NULL;
    }
    const size_t zeros = strspn(decimal + strlen(start), "0");
    const char *const digits = decimal + strlen(start) + zeros;
    if (zeros < ZEROS_READABLE || digits[0] == '\0') {
        return NULL;
    }
    const char *const point = digits[1] != '\0' ? "." : "";
    return sim_format("%c%s%se-%zu", digits[0], point, digits + 1, zeros + 1);
}

char *sim__format_ratio(sim_ratio_t ratio)
{
    SIM_CHECK(ratio.den > 0);
    char *const fraction = sim_format("%" PRIu64 "/%" PRIu64, ratio.num, ratio.den);
    char *decimal = format_decimal(ratio);
    char *const exponent = format_exponent(decimal);
    if (exponent != NULL) {
        sim_free(decimal);
        decimal = exponent;
    }
    const bool shorter = decimal != NULL && strlen(decimal) <= strlen(fraction);
    sim_free(shorter ? fraction : decimal);
    return shorter ? decimal : fraction;
}
