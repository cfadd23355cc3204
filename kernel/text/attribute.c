// SPDX-License-Identifier: Apache-2.0
// kernel/text/attribute.c - tables of parameters: defaults, parsing with ranges, printing.
//
// A value is parsed into a value_t, checked against the range, and only then stored, so an error
// leaves the field unchanged. Ranges and defaults are text in the user's syntax, read by the
// parsers of values; one that does not parse is a bug of the table and fails a SIM_CHECK.
#include "kernel/attribute.h"

#include <stdio.h>
#include <string.h>

#include "kernel/parse.h"
#include "kernel/text/attribute_internal.h"

#define CHOICES_MAX 64

typedef union value {
    bool flag;
    uint64_t number;
    sim_ratio_t ratio;
    uint32_t choice;
    uint8_t priorities;
    uint32_t weights[SIM__LIST_MAX];
    sim_profiles_t profiles;
    sim_name_t name;
} value_t;

// -- fields

// The types differ in the bytes of a field and the units of its numbers.
static const struct {
    size_t bytes;
    const sim__measure_t *measure; // NULL: the values are no numbers with units
} types[] = {
    [SIM_ATTR_BOOL] = {sizeof(bool), NULL},
    [SIM_ATTR_COUNT] = {sizeof(uint64_t), &sim__measure_count},
    [SIM_ATTR_BYTES] = {sizeof(uint64_t), &sim__measure_bytes},
    [SIM_ATTR_TIME] = {sizeof(sim_time_t), &sim__measure_time},
    [SIM_ATTR_RATE] = {sizeof(uint64_t), &sim__measure_rate},
    [SIM_ATTR_RATIO] = {sizeof(sim_ratio_t), NULL},
    [SIM_ATTR_ENUM] = {sizeof(uint32_t), NULL},
    [SIM_ATTR_STRING] = {sizeof(char *), NULL},
    [SIM_ATTR_PRIORITIES] = {sizeof(uint8_t), NULL},
    [SIM_ATTR_WEIGHTS] = {SIM__LIST_MAX * sizeof(uint32_t), &sim__measure_count},
    [SIM_ATTR_NAME] = {sizeof(sim_name_t), NULL},
    [SIM_ATTR_PROFILES] = {sizeof(sim_profiles_t), NULL},
};

static size_t field_bytes(const sim_attr_t *attr)
{
    SIM_CHECKF((size_t)attr->type < SIM_COUNT_OF(types), "%s has type %d", attr->path,
               (int)attr->type);
    return types[attr->type].bytes;
}

static char *string_field(const sim_attr_t *attr, const void *config)
{
    char *text;
    memcpy(&text, (const char *)config + attr->offset, sizeof(text));
    return text;
}

static void set_string_field(const sim_attr_t *attr, void *config, const char *text)
{
    char *const copy = sim_strdup(text);
    memcpy((char *)config + attr->offset, &copy, sizeof(copy));
}

// -- choices

// Splits the choices of an ENUM into names, which lie in *buffer, and returns their number. Free
// *buffer with sim_free.
static size_t split_choices(const sim_attr_t *attr, char **buffer, const char **names)
{
    SIM_CHECKF(attr->choices != NULL, "%s has no choices", attr->path);
    size_t count = 0;
    char *at = *buffer = sim_strdup(attr->choices);
    for (char *next = at; next != NULL; at = next) {
        next = strchr(at, '|');
        if (next != NULL) {
            *next++ = '\0';
        }
        SIM_CHECKF(count < CHOICES_MAX, "%s has too many choices", attr->path);
        names[count++] = at;
    }
    return count;
}

static void fail_choice(sim_message_t *message, sim__span_t span, const char *const *names,
                        size_t count)
{
    char list[sizeof(message->text) / 2] = "";
    size_t length = 0;
    for (size_t i = 0; i < count && length < sizeof(list); ++i) {
        const char *const separator = i == 0 ? "" : ", ";
        const int added =
            snprintf(list + length, sizeof(list) - length, "%s%s", separator, names[i]);
        length += added > 0 ? (size_t)added : 0;
    }
    const sim__shown_t shown = sim__show(span);
    const char *const nearest = sim_nearest_name(shown.text, names, count);
    (void)sim_fail(message, SIM_ERR_UNKNOWN, "\"%s\" is not one of %s%s%s%s", shown.text, list,
                   nearest == NULL ? "" : "; did you mean \"", nearest == NULL ? "" : nearest,
                   nearest == NULL ? "" : "\"?");
}

static sim_err_t parse_choice(const sim_attr_t *attr, sim__span_t span, uint32_t *choice,
                              sim_message_t *message)
{
    char *buffer;
    const char *names[CHOICES_MAX];
    const size_t count = split_choices(attr, &buffer, names);
    sim_err_t error = SIM_ERR_UNKNOWN;
    for (size_t i = 0; i < count; ++i) {
        if (sim__span_is(span, names[i])) {
            *choice = (uint32_t)i;
            error = SIM_OK;
        }
    }
    if (error != SIM_OK) {
        fail_choice(message, span, names, count);
    }
    sim_free(buffer);
    return error;
}

static char *choice_name(const sim_attr_t *attr, uint32_t choice)
{
    char *buffer;
    const char *names[CHOICES_MAX];
    const size_t count = split_choices(attr, &buffer, names);
    SIM_CHECKF(choice < count, "%s is choice %" PRIu32, attr->path, choice);
    char *const name = sim_strdup(names[choice]);
    sim_free(buffer);
    return name;
}

// -- scalars

static sim_err_t parse_flag(sim__span_t span, bool *flag, sim_message_t *message)
{
    if (sim__span_is(span, "true") || sim__span_is(span, "on")) {
        *flag = true;
        return SIM_OK;
    }
    if (sim__span_is(span, "false") || sim__span_is(span, "off")) {
        *flag = false;
        return SIM_OK;
    }
    return sim_fail(message, SIM_ERR_INVALID,
                    "\"%s\" is neither true nor false: expected true, false, on or off",
                    sim__show(span).text);
}

static sim_err_t parse_name(sim__span_t span, sim_name_t *name, sim_message_t *message)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
    const sim__shown_t shown = sim__show(span);
    const size_t size = strlen(shown.text);
    if (size == 0 || size > SIM_NAME_MAX || strspn(shown.text, allowed) != size) {
        return sim_fail(message, SIM_ERR_INVALID,
                        "\"%s\" is not a name: expected at most %u of a-z, 0-9, '-', '_' and '.'",
                        shown.text, SIM_NAME_MAX);
    }
    memcpy(name->text, shown.text, size + 1);
    return SIM_OK;
}

// Parses a value of any type but STRING. Looks neither at the range nor at "auto".
static sim_err_t parse_value(const sim_attr_t *attr, sim__span_t span, value_t *value,
                             sim_message_t *message)
{
    switch (attr->type) {
    case SIM_ATTR_BOOL:
        return parse_flag(span, &value->flag, message);
    case SIM_ATTR_TIME:
        if (sim__span_is(span, "never")) {
            value->number = SIM_TIME_NEVER;
            return SIM_OK;
        }
        return sim__parse_number(&sim__measure_time, span, &value->number, message);
    case SIM_ATTR_COUNT:
    case SIM_ATTR_BYTES:
    case SIM_ATTR_RATE:
        return sim__parse_number(types[attr->type].measure, span, &value->number, message);
    case SIM_ATTR_RATIO:
        return sim__parse_ratio(span, &value->ratio, message);
    case SIM_ATTR_ENUM:
        return parse_choice(attr, span, &value->choice, message);
    case SIM_ATTR_PRIORITIES:
        return sim__parse_priorities(span, &value->priorities, message);
    case SIM_ATTR_WEIGHTS:
        return sim__parse_weights(span, value->weights, message);
    case SIM_ATTR_PROFILES:
        return sim__parse_profiles(span, &value->profiles, message);
    case SIM_ATTR_NAME:
        return parse_name(span, &value->name, message);
    case SIM_ATTR_STRING:
        break;
    }
    SIM_CHECKF(false, "%s has type %d", attr->path, (int)attr->type);
    return SIM_ERR_STATE;
}

// -- ranges

// Reads one end of the range as a ratio (of a number: over 1). False: the table has none.
static bool read_bound(const sim_attr_t *attr, const char *text, sim_ratio_t *bound)
{
    if (text == NULL) {
        return false;
    }
    sim_message_t message;
    sim_err_t error;
    if (attr->type == SIM_ATTR_RATIO) {
        error = sim_parse_ratio(text, bound, &message);
    } else {
        const sim__measure_t *const measure = types[attr->type].measure;
        SIM_CHECKF(measure != NULL, "%s cannot have a range", attr->path);
        bound->den = 1;
        error = sim__parse_number(measure, sim__span(text), &bound->num, &message);
    }
    SIM_CHECKF(error == SIM_OK, "range of %s: %s", attr->path, message.text);
    return true;
}

static bool is_less(sim_ratio_t a, sim_ratio_t b)
{
    return (sim_wide_t)a.num * b.den < (sim_wide_t)b.num * a.den;
}

static bool is_within(const sim_attr_t *attr, sim_ratio_t ratio)
{
    sim_ratio_t bound;
    if (read_bound(attr, attr->min_text, &bound) && is_less(ratio, bound)) {
        return false;
    }
    return !read_bound(attr, attr->max_text, &bound) || !is_less(bound, ratio);
}

static bool value_is_within(const sim_attr_t *attr, const value_t *value)
{
    if (attr->type == SIM_ATTR_RATIO) {
        return is_within(attr, value->ratio);
    }
    if (attr->type != SIM_ATTR_WEIGHTS) {
        return types[attr->type].measure == NULL ||
               is_within(attr, (sim_ratio_t){value->number, 1});
    }
    for (size_t i = 0; i < SIM__LIST_MAX; ++i) {
        if (!is_within(attr, (sim_ratio_t){value->weights[i], 1})) {
            return false;
        }
    }
    return true;
}

// Returns whether an attribute is a number with a largest value of its own.
static bool has_maximum(const sim_attr_t *attr)
{
    return attr->max_text != NULL && attr->type != SIM_ATTR_WEIGHTS;
}

static void fail_range(const sim_attr_t *attr, sim__span_t span, sim_message_t *message)
{
    const sim__shown_t shown = sim__show(span);
    const char *const words = attr->min_text == NULL   ? "at most "
                              : attr->max_text == NULL ? "at least "
                                                       : "";
    (void)sim_fail(message, SIM_ERR_RANGE, "%s is out of range: expected %s%s%s%s", shown.text,
                   words, attr->min_text == NULL ? "" : attr->min_text,
                   *words == '\0' ? " .. " : "", attr->max_text == NULL ? "" : attr->max_text);
}

// Appends ", or auto" to a message that says what was expected, if the attribute allows it.
static void mention_auto(const sim_attr_t *attr, sim_message_t *message)
{
    static const char or_auto[] = ", or auto";
    if (attr->auto_ok && message != NULL) {
        const size_t length = strlen(message->text);
        if (length + sizeof(or_auto) <= sizeof(message->text)) {
            memcpy(message->text + length, or_auto, sizeof(or_auto));
        }
    }
}

// -- tables

void sim_attrs_default(const sim_attr_table_t *table, void *config)
{
    memset(config, 0, table->config_bytes);
    for (size_t i = 0; i < table->count; ++i) {
        const sim_attr_t *const attr = &table->attrs[i];
        const size_t prefix_length = strlen(table->prefix);
        SIM_CHECKF(prefix_length == 0 || (strncmp(attr->path, table->prefix, prefix_length) == 0 &&
                                          attr->path[prefix_length] == '.'),
                   "%s is in the table of %s", attr->path, table->prefix);
        SIM_CHECKF(attr->offset + field_bytes(attr) <= table->config_bytes,
                   "%s is outside its struct", attr->path);
        SIM_CHECKF(attr->default_text != NULL, "%s has no default", attr->path);
        sim_message_t message;
        const sim_err_t error = sim_attr_set(attr, config, attr->default_text, &message);
        SIM_CHECKF(error == SIM_OK, "default of %s: %s", attr->path, message.text);
    }
}

void sim_attrs_fini(const sim_attr_table_t *table, void *config)
{
    for (size_t i = 0; i < table->count; ++i) {
        const sim_attr_t *const attr = &table->attrs[i];
        if (attr->type == SIM_ATTR_STRING) {
            sim_free(string_field(attr, config));
            memset((char *)config + attr->offset, 0, field_bytes(attr));
        }
    }
}

void sim_attrs_copy(const sim_attr_table_t *table, void *to, const void *from)
{
    memcpy(to, from, table->config_bytes);
    for (size_t i = 0; i < table->count; ++i) {
        const sim_attr_t *const attr = &table->attrs[i];
        if (attr->type == SIM_ATTR_STRING && string_field(attr, from) != NULL) {
            set_string_field(attr, to, string_field(attr, from));
        }
    }
}

bool sim_attrs_equal(const sim_attr_table_t *table, const void *a, const void *b, size_t ignored,
                     size_t ignored_bytes)
{
    const size_t bytes = table->config_bytes;
    char *const plain = sim_alloc(2 * bytes); // both without what is compared apart
    memcpy(plain, a, bytes);
    memcpy(plain + bytes, b, bytes);
    bool equal = true;
    for (size_t i = 0; i < table->count && equal; ++i) {
        const sim_attr_t *const attr = &table->attrs[i];
        if (attr->type == SIM_ATTR_STRING) {
            const char *const x = string_field(attr, a);
            const char *const y = string_field(attr, b);
            equal = x == y || (x != NULL && y != NULL && strcmp(x, y) == 0);
            memset(plain + attr->offset, 0, field_bytes(attr));
            memset(plain + bytes + attr->offset, 0, field_bytes(attr));
        }
    }
    memset(plain + ignored, 0, ignored_bytes);
    memset(plain + bytes + ignored, 0, ignored_bytes);
    equal = equal && memcmp(plain, plain + bytes, bytes) == 0;
    sim_free(plain);
    return equal;
}

const sim_attr_t *sim_attr_find(const sim_attr_table_t *table, const char *path)
{
    for (size_t i = 0; i < table->count; ++i) {
        if (strcmp(table->attrs[i].path, path) == 0) {
            return &table->attrs[i];
        }
    }
    return NULL;
}

sim_err_t sim_attr_set(const sim_attr_t *attr, void *config, const char *text,
                       sim_message_t *message)
{
    if (attr->type == SIM_ATTR_STRING) {
        char *const before = string_field(attr, config);
        set_string_field(attr, config, text);
        sim_free(before);
        return SIM_OK;
    }
    const sim__span_t span = sim__span(text);
    value_t value;
    memset(&value, 0, sizeof(value));
    if (attr->auto_ok && sim__span_is(span, "auto")) {
        const bool is_number = field_bytes(attr) == sizeof(value.number);
        SIM_CHECKF(is_number || attr->type == SIM_ATTR_RATIO, "%s cannot be auto", attr->path);
        if (is_number) {
            value.number = SIM_AUTO;
        }
    } else {
        const sim_err_t error = parse_value(attr, span, &value, message);
        if (error == SIM_ERR_RANGE && *span.begin != '-' && has_maximum(attr)) {
            fail_range(attr, span, message); // it says more than the limit of 64 bits
        }
        if (error != SIM_OK) {
            mention_auto(attr, message);
            return error;
        }
        if (!value_is_within(attr, &value)) {
            fail_range(attr, span, message);
            mention_auto(attr, message);
            return SIM_ERR_RANGE;
        }
    }
    memcpy((char *)config + attr->offset, &value, field_bytes(attr));
    return SIM_OK;
}

// -- back to text

static char *format_scalar(const sim_attr_t *attr, uint64_t number)
{
    if (attr->auto_ok && number == SIM_AUTO) {
        return sim_strdup("auto");
    }
    if (attr->type == SIM_ATTR_TIME && number == SIM_TIME_NEVER) {
        return sim_strdup("never");
    }
    return sim__format_number(types[attr->type].measure, number);
}

char *sim_attr_get(const sim_attr_t *attr, const void *config)
{
    if (attr->type == SIM_ATTR_STRING) {
        const char *const text = string_field(attr, config);
        return sim_strdup(text == NULL ? "" : text);
    }
    value_t value;
    memset(&value, 0, sizeof(value));
    memcpy(&value, (const char *)config + attr->offset, field_bytes(attr));
    switch (attr->type) {
    case SIM_ATTR_BOOL:
        return sim_strdup(value.flag ? "true" : "false");
    case SIM_ATTR_COUNT:
    case SIM_ATTR_BYTES:
    case SIM_ATTR_TIME:
    case SIM_ATTR_RATE:
        return format_scalar(attr, value.number);
    case SIM_ATTR_RATIO:
        return sim_ratio_is_auto(value.ratio) ? sim_strdup("auto") : sim__format_ratio(value.ratio);
    case SIM_ATTR_ENUM:
        return choice_name(attr, value.choice);
    case SIM_ATTR_PRIORITIES:
        return sim__format_priorities(value.priorities);
    case SIM_ATTR_WEIGHTS:
        return sim__format_weights(value.weights);
    case SIM_ATTR_PROFILES:
        return sim__format_profiles(&value.profiles);
    case SIM_ATTR_NAME:
        return sim_strdup(value.name.text);
    case SIM_ATTR_STRING:
        break;
    }
    SIM_CHECKF(false, "%s has type %d", attr->path, (int)attr->type);
    return NULL;
}

// -- order

// Reads a number, or a ratio, as a ratio. Returns false if it is left to the program, or NEVER.
static bool read_ratio(const sim_attr_t *attr, const void *config, sim_ratio_t *ratio)
{
    const char *const field = (const char *)config + attr->offset;
    if (attr->type == SIM_ATTR_RATIO) {
        memcpy(ratio, field, sizeof(*ratio));
        return !sim_ratio_is_auto(*ratio);
    }
    SIM_CHECKF(types[attr->type].measure != NULL, "%s has no order", attr->path);
    ratio->den = 1;
    memcpy(&ratio->num, field, sizeof(ratio->num));
    return ratio->num < SIM_AUTO;
}

sim_err_t sim_attrs_check(const sim_attr_table_t *table, const void *config, sim_message_t *message)
{
    for (size_t i = 0; i < table->count; i++) {
        const sim_attr_t *const attr = &table->attrs[i];
        const sim_attr_t *const other =
            attr->not_above == NULL ? NULL : sim_attr_find(table, attr->not_above);
        SIM_CHECKF(attr->not_above == NULL || other != NULL, "%s of %s", attr->not_above,
                   attr->path);
        sim_ratio_t value;
        sim_ratio_t limit;
        if (other == NULL || !read_ratio(attr, config, &value) ||
            !read_ratio(other, config, &limit) || !is_less(limit, value) ||
            (limit.num == 0 && *other->default_text == '0')) {
            continue;
        }
        char *const given = sim_attr_get(attr, config);
        char *const most = sim_attr_get(other, config);
        const sim_err_t error =
            sim_fail_about(message, SIM_ERR_RANGE, attr->path,
                           ": %s, expected at most %s, the value of %s", given, most, other->path);
        sim_free(given);
        sim_free(most);
        return error;
    }
    return SIM_OK;
}
