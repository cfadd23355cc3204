// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_attribute.c - values of attributes of any text and type: what is accepted prints
// as text that is accepted and prints the same; what is refused says what was expected.
//
// The first byte chooses the attribute, the rest is the value.
#include "kernel/attribute.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

#define FIELD_BYTES sizeof(sim_profiles_t) // of the largest field

// clang-format off
static const sim_attr_t attrs[] = {
    {.path = "x.bool", .type = SIM_ATTR_BOOL},
    {.path = "x.count", .type = SIM_ATTR_COUNT, .auto_ok = true},
    {.path = "x.bytes", .type = SIM_ATTR_BYTES, .max_text = "4GB"},
    {.path = "x.time", .type = SIM_ATTR_TIME},
    {.path = "x.rate", .type = SIM_ATTR_RATE, .min_text = "1bps", .auto_ok = true},
    {.path = "x.ratio", .type = SIM_ATTR_RATIO},
    {.path = "x.share", .type = SIM_ATTR_RATIO, .min_text = "0.1%", .max_text = "1"},
    {.path = "x.enum", .type = SIM_ATTR_ENUM, .choices = "strict|dwrr|fifo"},
    {.path = "x.string", .type = SIM_ATTR_STRING},
    {.path = "x.priorities", .type = SIM_ATTR_PRIORITIES},
    {.path = "x.weights", .type = SIM_ATTR_WEIGHTS, .min_text = "1"},
    {.path = "x.profiles", .type = SIM_ATTR_PROFILES},
};
// clang-format on

static void free_string(const sim_attr_t *attr, unsigned char *field)
{
    if (attr->type == SIM_ATTR_STRING) {
        char *text;
        memcpy(&text, field, sizeof(text));
        sim_free(text);
    }
}

static void check_round_trip(const sim_attr_t *attr, const unsigned char *field)
{
    unsigned char again[FIELD_BYTES] = {0};
    sim_message_t message = {.text = ""};
    char *const text = sim_attr_get(attr, field);
    const sim_err_t error = sim_attr_set(attr, again, text, &message);
    SIM_CHECKF(error == SIM_OK, "\"%s\": %s", text, message.text);
    char *const twice = sim_attr_get(attr, again);
    SIM_CHECKF(strcmp(text, twice) == 0, "\"%s\" and \"%s\"", text, twice);
    if (attr->type != SIM_ATTR_STRING) {
        SIM_CHECKF(memcmp(field, again, FIELD_BYTES) == 0, "%s \"%s\"", attr->path, text);
    }
    sim_free(twice);
    sim_free(text);
    free_string(attr, again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const sim_attr_t *const attr = &attrs[data[0] % SIM_COUNT_OF(attrs)];
    char *const text = sim_alloc(size); // zeroed: ends the text
    memcpy(text, data + 1, size - 1);
    unsigned char field[FIELD_BYTES] = {0};
    sim_message_t message = {.text = ""};
    const sim_err_t error = sim_attr_set(attr, field, text, &message);
    if (error == SIM_OK) {
        check_round_trip(attr, field);
        free_string(attr, field);
    } else {
        static const unsigned char untouched[FIELD_BYTES] = {0};
        SIM_CHECK(memcmp(field, untouched, sizeof(field)) == 0);
        SIM_CHECKF(message.text[0] != '\0', "%s \"%s\"", attr->path, text);
    }
    sim_free(text);
    return 0;
}
