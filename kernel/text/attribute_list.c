// SPDX-License-Identifier: Apache-2.0
// kernel/text/attribute_list.c - parses and writes attributes that are lists: priorities, weights,
// profiles by rate.
#include <string.h>

#include "kernel/text/attribute_internal.h"

// The words for a kind of list in messages.
typedef struct list_words {
    const char *noun; // "x" is not ...
    const char *expected;
} list_words_t;

static const list_words_t priority_words = {"a priority",
                                            "priorities 0 .. 7 such as [3, 4], 3 or []"};
static const list_words_t weight_words = {
    "a weight", "8 weights such as [1, 1, 1, 4, 1, 1, 1, 1], or one for all"};

// Parses the numbers of "[a, b]" or of the single "a": at most SIM__LIST_MAX.
static sim_err_t parse_list(sim__span_t span, const list_words_t *words, uint64_t *items,
                            size_t *count, sim_message_t *message)
{
    const sim__span_t all = span;
    const sim__shown_t shown = sim__show(all);
    const bool opened = span.begin < span.end && *span.begin == '[';
    const bool closed = span.begin < span.end && span.end[-1] == ']';
    *count = 0;
    if (opened != closed) {
        return sim_fail(message, SIM_ERR_INVALID, "\"%s\" is not a list: expected %s", shown.text,
                        words->expected);
    }
    if (opened) {
        span = sim__span_trim((sim__span_t){span.begin + 1, span.end - 1});
        if (span.begin >= span.end) {
            return SIM_OK;
        }
    }
    for (const char *at = span.begin; at != NULL;) {
        const char *const comma = opened ? memchr(at, ',', (size_t)(span.end - at)) : NULL;
        const sim__span_t item = {at, comma == NULL ? span.end : comma};
        if (*count == SIM__LIST_MAX) {
            return sim_fail(message, SIM_ERR_RANGE, "\"%s\" has too many items: expected %s",
                            shown.text, words->expected);
        }
        uint64_t number;
        const sim_err_t error =
            sim__parse_number(&sim__measure_count, sim__span_trim(item), &number, NULL);
        if (error != SIM_OK) {
            return sim_fail(message, error, "\"%s\" is not %s: expected %s",
                            sim__show(sim__span_trim(item)).text, words->noun, words->expected);
        }
        items[(*count)++] = number;
        at = comma == NULL ? NULL : comma + 1;
    }
    return SIM_OK;
}

sim_err_t sim__parse_priorities(sim__span_t span, uint8_t *priorities, sim_message_t *message)
{
    uint64_t items[SIM__LIST_MAX];
    size_t count;
    const sim_err_t error = parse_list(span, &priority_words, items, &count, message);
    if (error != SIM_OK) {
        return error;
    }
    unsigned bits = 0;
    for (size_t i = 0; i < count; ++i) {
        if (items[i] >= SIM__LIST_MAX) {
            return sim_fail(message, SIM_ERR_RANGE, "there is no priority %" PRIu64 ": expected %s",
                            items[i], priority_words.expected);
        }
        if ((bits >> items[i] & 1U) != 0) {
            return sim_fail(message, SIM_ERR_EXISTS,
                            "priority %" PRIu64 " is listed twice: expected %s", items[i],
                            priority_words.expected);
        }
        bits |= 1U << items[i];
    }
    *priorities = (uint8_t)bits;
    return SIM_OK;
}

sim_err_t sim__parse_weights(sim__span_t span, uint32_t *weights, sim_message_t *message)
{
    uint64_t items[SIM__LIST_MAX];
    size_t count;
    const sim_err_t error = parse_list(span, &weight_words, items, &count, message);
    if (error != SIM_OK) {
        return error;
    }
    if (count != SIM__LIST_MAX && (count != 1 || *span.begin == '[')) {
        return sim_fail(message, SIM_ERR_INVALID, "\"%s\" is a list of %zu: expected %s",
                        sim__show(span).text, count, weight_words.expected);
    }
    for (size_t i = 0; i < SIM__LIST_MAX; ++i) {
        const uint64_t weight = items[count == 1 ? 0 : i];
        if (weight > UINT32_MAX) {
            return sim_fail(message, SIM_ERR_RANGE,
                            "weight %" PRIu64 " is too large: expected at most %" PRIu32, weight,
                            UINT32_MAX);
        }
        weights[i] = (uint32_t)weight;
    }
    return SIM_OK;
}

char *sim__format_priorities(unsigned priorities)
{
    char text[2 + 3 * SIM__LIST_MAX + 1] = "[";
    size_t length = 1;
    for (unsigned i = 0; i < SIM__LIST_MAX; ++i) {
        if ((priorities >> i & 1U) != 0) {
            if (length > 1) {
                text[length++] = ',';
                text[length++] = ' ';
            }
            text[length++] = (char)('0' + i);
        }
    }
    text[length] = ']';
    return sim_strdup(text);
}

char *sim__format_weights(const uint32_t *w)
{
    return sim_format("[%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32
                      ", %" PRIu32 ", %" PRIu32 "]",
                      w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]);
}

// -- profiles

static const char profiles_expected[] =
    "rows of rate, two sizes and a probability such as [25Gbps 100KB 400KB 0.2, 100Gbps 400KB "
    "1600KB 0.2], or []";
#define PROFILE_FIELDS 4u

// Splits a row at blanks. Returns the number of fields, or PROFILE_FIELDS + 1 if there are more.
static size_t split_fields(sim__span_t row, sim__span_t *fields)
{
    size_t count = 0;
    for (const char *at = row.begin; at < row.end;) {
        const char *end = at;
        while (end < row.end && strchr(" \t\r\n", *end) == NULL) {
            end++;
        }
        if (count == PROFILE_FIELDS) {
            return count + 1;
        }
        fields[count++] = (sim__span_t){at, end};
        while (end < row.end && strchr(" \t\r\n", *end) != NULL) {
            end++;
        }
        at = end;
    }
    return count;
}

static sim_err_t parse_profile(sim__span_t row, sim_profile_t *profile, sim_message_t *message)
{
    sim__span_t fields[PROFILE_FIELDS];
    if (split_fields(row, fields) != PROFILE_FIELDS) {
        return sim_fail(message, SIM_ERR_INVALID, "\"%s\" is not a profile: expected %s",
                        sim__show(row).text, profiles_expected);
    }
    sim_err_t error = sim__parse_number(&sim__measure_rate, fields[0], &profile->rate_bps, message);
    if (error == SIM_OK) {
        error = sim__parse_number(&sim__measure_bytes, fields[1], &profile->low_bytes, message);
    }
    if (error == SIM_OK) {
        error = sim__parse_number(&sim__measure_bytes, fields[2], &profile->high_bytes, message);
    }
    if (error == SIM_OK) {
        error = sim__parse_ratio(fields[3], &profile->probability, message);
    }
    if (error != SIM_OK) {
        return error;
    }
    if (profile->low_bytes > profile->high_bytes ||
        profile->probability.num > profile->probability.den) {
        return sim_fail(message, SIM_ERR_RANGE,
                        "\"%s\": expected the first size to be at most the second, and a "
                        "probability of at most 1",
                        sim__show(row).text);
    }
    return SIM_OK;
}

static sim_err_t add_profile(sim__span_t row, sim_profiles_t *profiles, sim_message_t *message)
{
    if (profiles->count == SIM_PROFILES_MAX) {
        return sim_fail(message, SIM_ERR_RANGE, "there are too many profiles: expected at most %u",
                        SIM_PROFILES_MAX);
    }
    sim_profile_t profile = {0};
    const sim_err_t error = parse_profile(row, &profile, message);
    if (error != SIM_OK) {
        return error;
    }
    for (uint32_t i = 0; i < profiles->count; i++) {
        if (profiles->rows[i].rate_bps == profile.rate_bps) {
            return sim_fail(message, SIM_ERR_EXISTS,
                            "\"%s\" has the rate of an earlier profile: expected each rate once",
                            sim__show(row).text);
        }
    }
    profiles->rows[profiles->count++] = profile;
    return SIM_OK;
}

sim_err_t sim__parse_profiles(sim__span_t span, sim_profiles_t *profiles, sim_message_t *message)
{
    memset(profiles, 0, sizeof(*profiles));
    const bool opened = span.begin < span.end && *span.begin == '[';
    if (!opened || span.end - span.begin < 2 || span.end[-1] != ']') {
        return sim_fail(message, SIM_ERR_INVALID, "\"%s\" is not a list: expected %s",
                        sim__show(span).text, profiles_expected);
    }
    span = sim__span_trim((sim__span_t){span.begin + 1, span.end - 1});
    if (span.begin >= span.end) {
        return SIM_OK;
    }
    for (const char *at = span.begin; at != NULL;) {
        const char *const comma = memchr(at, ',', (size_t)(span.end - at));
        const sim__span_t row = {at, comma == NULL ? span.end : comma};
        const sim_err_t error = add_profile(sim__span_trim(row), profiles, message);
        if (error != SIM_OK) {
            return error;
        }
        at = comma == NULL ? NULL : comma + 1;
    }
    return SIM_OK;
}

char *sim__format_profiles(const sim_profiles_t *profiles)
{
    char *text = sim_strdup("[");
    for (uint32_t i = 0; i < profiles->count; i++) {
        const sim_profile_t *const row = &profiles->rows[i];
        char *const rate = sim__format_number(&sim__measure_rate, row->rate_bps);
        char *const low = sim__format_number(&sim__measure_bytes, row->low_bytes);
        char *const high = sim__format_number(&sim__measure_bytes, row->high_bytes);
        char *const probability = sim__format_ratio(row->probability);
        char *const longer =
            sim_format("%s%s%s %s %s %s", text, i == 0 ? "" : ", ", rate, low, high, probability);
        SIM_FREE_ALL(rate, low, high, probability, text);
        text = longer;
    }
    char *const whole = sim_format("%s]", text);
    sim_free(text);
    return whole;
}
