// SPDX-License-Identifier: Apache-2.0
// labels: clang
// studio/tests/fuzz/fuzz_studio_packet.c - fuzzes the layers of packets and their bytes.
//
// The input is a frame, shown whole and as a snap length of half of it would leave it, as each kind
// of transport. Layers and fields must lie within what was captured, one behind the other.
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "studio/server/data/packets/packet_file.h"

static size_t place(const json_t *object, const char *key)
{
    return (size_t)json_integer_value(json_object_get(object, key));
}

static void check_layers(const uint8_t *bytes, size_t captured, size_t size, const char *transport)
{
    sim_message_t message = {.text = ""};
    json_t *const layers = studio_packet_layers(bytes, captured, size, transport, NULL, &message);
    size_t end = 0;
    for (size_t i = 0; i < json_array_size(layers); i++) {
        const json_t *const layer = json_array_get(layers, i);
        const json_t *const fields = json_object_get(layer, "fields");
        SIM_CHECK(place(layer, "from") >= end && place(layer, "to") >= place(layer, "from"));
        SIM_CHECK(place(layer, "to") <= captured);
        end = place(layer, "from");
        for (size_t j = 0; j < json_array_size(fields); j++) {
            const json_t *const field = json_array_get(fields, j);
            SIM_CHECK(place(field, "from") >= place(layer, "from"));
            SIM_CHECK(place(field, "to") <= captured);
        }
    }
    json_decref(layers);
    studio_brief_t brief;
    char info[100];
    studio_packet_brief(bytes, captured, &brief);
    studio_packet_info(bytes, captured, info, sizeof(info));
    SIM_CHECK(strlen(info) < sizeof(info) && strlen(brief.kind) < sizeof(brief.kind));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const transports[] = {NULL, "adamap", "sdr", "go-back-n"};
    if (size == 0 || size > STUDIO_PACKET_BYTES_MAX) {
        return 0;
    }
    // Half of the frame lies in memory of its own, so that a read of one byte too many is found.
    uint8_t *const half = sim_alloc(size / 2 + 1);
    memcpy(half, data, size / 2);
    for (size_t i = 0; i < SIM_COUNT_OF(transports); i++) {
        check_layers(data, size, size, transports[i]);
        check_layers(half, size / 2, size, transports[i]);
    }
    sim_free(half);
    return 0;
}
