// SPDX-License-Identifier: Apache-2.0
// nic/config/layout.c - reads lists of places, and spreads evenly what has none.
//
// A list is "[cpu:0, switch:1/x8, ...]": one place for each thing, in order. `cpu:N` is a root port
// of socket N; NICs and GPUs may also be behind `switch:N`. Where nobody says it, the i-th of n
// things has the floor(i x places / n)-th place: of switches where there are some, of sockets where
// there are none.
#include "nic/config/layout.h"

#include <string.h>

#define EVEN "even"
#define LANES_MAX 32u
#define SWITCHES_MAX 64u

typedef struct reader {
    const char *attribute;
    const char *text; // the whole value
    const char *at;
    bool switches; // things of this list may be behind switches
    bool lanes;    // things of this list may have lanes of their own
    uint32_t sockets;
    sim_message_t *message;
} reader_t;

static sim_err_t refuse(const reader_t *reader)
{
    return sim_fail_about(reader->message, SIM_ERR_INVALID, reader->attribute,
                          ": \"%s\", expected even, or a list with a place for each, cpu:N of %u "
                          "sockets%s%s",
                          reader->text, reader->sockets, reader->switches ? " or switch:N" : "",
                          reader->lanes ? ", perhaps with its lanes: switch:0/x8" : "");
}

static void skip(reader_t *reader, const char *characters)
{
    reader->at += strspn(reader->at, characters);
}

static bool take(reader_t *reader, const char *word)
{
    const size_t length = strlen(word);
    const bool there = strncmp(reader->at, word, length) == 0;
    reader->at += there ? length : 0;
    return there;
}

// Reads a number below `limit`.
static bool take_number(reader_t *reader, uint32_t limit, uint16_t *number)
{
    uint32_t value = 0;
    const char *const first = reader->at;
    for (; *reader->at >= '0' && *reader->at <= '9' && value < limit; reader->at++) {
        value = value * 10 + (uint32_t)(*reader->at - '0');
    }
    *number = (uint16_t)value;
    return reader->at != first && value < limit;
}

static bool take_spot(reader_t *reader, nic_spot_t *spot)
{
    *spot = (nic_spot_t){.pcie_switch = NIC_NO_SWITCH};
    if (take(reader, "cpu:")) {
        if (!take_number(reader, reader->sockets, &spot->socket)) {
            return false;
        }
    } else if (!reader->switches || !take(reader, "switch:") ||
               !take_number(reader, SWITCHES_MAX, &spot->pcie_switch)) {
        return false;
    }
    if (reader->lanes && take(reader, "/x")) {
        return take_number(reader, LANES_MAX + 1, &spot->lanes) && spot->lanes != 0;
    }
    return true;
}

static sim_err_t read_spots(reader_t *reader, nic_spot_t **spots, uint32_t *count)
{
    size_t found = 0;
    size_t capacity = 0;
    *spots = NULL;
    bool valid = true;
    skip(reader, " ");
    valid = take(reader, "[");
    do {
        skip(reader, " ");
        SIM_GROW(*spots, found, &capacity);
        valid = valid && take_spot(reader, &(*spots)[found++]);
        skip(reader, " ");
    } while (valid && take(reader, ","));
    valid = valid && take(reader, "]");
    skip(reader, " ");
    *count = (uint32_t)found;
    return valid && *reader->at == '\0' ? SIM_OK : refuse(reader);
}

// -- what nobody placed

static uint16_t spread(uint32_t i, uint32_t count, uint32_t places)
{
    return (uint16_t)((uint64_t)i * places / count);
}

// Distributes devices over the PCIe switches, if there are any. width: devices per switch (0:
// evenly).
static void spread_spots(nic_spot_t *spots, uint32_t count, const nic_layout_t *layout,
                         uint32_t width)
{
    for (uint32_t i = 0; i < count; i++) {
        spots[i] = (nic_spot_t){.pcie_switch = NIC_NO_SWITCH};
        if (layout->switches == 0) {
            spots[i].socket = spread(i, count, layout->sockets);
        } else {
            spots[i].pcie_switch =
                (uint16_t)(width != 0 ? i / width : spread(i, count, layout->switches));
        }
    }
}

// -- all of them

static bool is_even(const char *text)
{
    return strcmp(text, EVEN) == 0;
}

static reader_t reader_of(const nic_host_config_t *config, const char *attribute, const char *text,
                          sim_message_t *message)
{
    return (reader_t){.attribute = attribute,
                      .text = text,
                      .at = text,
                      .sockets = (uint32_t)config->sockets,
                      .message = message};
}

static uint32_t switches_named(const nic_spot_t *spots, uint32_t count, uint32_t so_far)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t named =
            spots[i].pcie_switch == NIC_NO_SWITCH ? 0 : spots[i].pcie_switch + 1u;
        so_far = SIM_MAX(named, so_far);
    }
    return so_far;
}

static sim_err_t read_lists(const nic_host_config_t *config, nic_layout_t *layout,
                            uint32_t *switches_placed, sim_message_t *message)
{
    sim_err_t result = SIM_OK;
    if (!is_even(config->nic_places)) {
        reader_t reader = reader_of(config, "nic.host.nic-places", config->nic_places, message);
        reader.switches = reader.lanes = true;
        result = read_spots(&reader, &layout->nic_spots, &layout->nics);
    }
    if (result == SIM_OK && !is_even(config->gpu_places)) {
        reader_t reader = reader_of(config, "nic.host.gpu-places", config->gpu_places, message);
        reader.switches = true;
        result = read_spots(&reader, &layout->gpu_spots, &layout->gpus);
    }
    if (result == SIM_OK && !is_even(config->switch_places)) {
        reader_t reader =
            reader_of(config, "nic.host.switch-places", config->switch_places, message);
        result = read_spots(&reader, &layout->switch_spots, switches_placed);
    }
    return result;
}

static sim_err_t check_counts(const nic_host_config_t *config, uint32_t nics,
                              const nic_layout_t *layout, uint32_t switches_placed,
                              sim_message_t *message)
{
    if (layout->nic_spots != NULL && config->nics_per_switch != 0) {
        return sim_fail_about(
            message, SIM_ERR_INVALID, "nic.host.nics-per-switch",
            ": nic.host.nic-places says which NIC is behind which switch, expected 0");
    }
    if (layout->nic_spots != NULL && nics != NIC_LAYOUT_ANY_NICS && layout->nics != nics) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.host.nic-places",
                              ": %u places, expected one for each of its %u links", layout->nics,
                              nics);
    }
    if (layout->gpu_spots != NULL && layout->gpus != config->gpus) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.host.gpu-places",
                              ": %u places, expected one for each of nic.host.gpus, %" PRIu64,
                              layout->gpus, config->gpus);
    }
    if (layout->switch_spots != NULL && layout->switches != switches_placed &&
        (layout->nic_spots != NULL || nics != NIC_LAYOUT_ANY_NICS)) {
        return sim_fail_about(message, SIM_ERR_RANGE, "nic.host.switch-places",
                              ": %u places, expected one for each of %u PCIe switches",
                              switches_placed, layout->switches);
    }
    return SIM_OK;
}

// Sets the socket of each device behind a switch to the switch's socket.
static void take_sockets(nic_spot_t *spots, uint32_t count, const nic_layout_t *layout)
{
    for (uint32_t i = 0; i < count; i++) {
        if (spots[i].pcie_switch != NIC_NO_SWITCH) {
            spots[i].socket = layout->switch_spots[spots[i].pcie_switch].socket;
        }
    }
}

// Places the devices that no list of the configuration places.
static void fill_up(const nic_host_config_t *config, uint32_t nics, nic_layout_t *layout)
{
    const uint32_t width = (uint32_t)config->nics_per_switch;
    if (layout->switch_spots == NULL) {
        layout->switch_spots = sim_alloc_array(layout->switches, sizeof(nic_spot_t));
        for (uint32_t i = 0; i < layout->switches; i++) {
            layout->switch_spots[i].socket = spread(i, layout->switches, layout->sockets);
        }
    }
    if (layout->nic_spots == NULL) {
        layout->nics = nics;
        layout->nic_spots = sim_alloc_array(nics, sizeof(nic_spot_t));
        const nic_layout_t unswitched = {.sockets = layout->sockets};
        spread_spots(layout->nic_spots, nics, width != 0 ? layout : &unswitched, width);
    }
    if (layout->gpu_spots == NULL) {
        layout->gpus = (uint32_t)config->gpus;
        layout->gpu_spots = sim_alloc_array(layout->gpus, sizeof(nic_spot_t));
        spread_spots(layout->gpu_spots, layout->gpus, layout, 0);
    }
    take_sockets(layout->nic_spots, layout->nics, layout);
    take_sockets(layout->gpu_spots, layout->gpus, layout);
}

sim_err_t nic__layout_create(const nic_host_config_t *config, uint32_t nics, nic_layout_t *layout,
                             sim_message_t *message)
{
    uint32_t switches_placed = 0;
    *layout = (nic_layout_t){.sockets = (uint32_t)config->sockets};
    sim_err_t result = read_lists(config, layout, &switches_placed, message);
    if (result == SIM_OK) {
        const uint32_t width = (uint32_t)config->nics_per_switch;
        const uint32_t some = nics == NIC_LAYOUT_ANY_NICS ? width : nics;
        layout->switches = width == 0 ? 0 : (some + width - 1) / width;
        layout->switches = switches_named(layout->nic_spots, layout->nics, layout->switches);
        layout->switches = switches_named(layout->gpu_spots, layout->gpus, layout->switches);
        result = check_counts(config, nics, layout, switches_placed, message);
    }
    if (result != SIM_OK) {
        nic__layout_destroy(layout);
        return result;
    }
    if (nics != NIC_LAYOUT_ANY_NICS) {
        fill_up(config, nics, layout);
    }
    return SIM_OK;
}

void nic__layout_destroy(nic_layout_t *layout)
{
    SIM_FREE_ALL(layout->nic_spots, layout->switch_spots, layout->gpu_spots);
    *layout = (nic_layout_t){0};
}

sim_err_t nic__location_of(const nic_host_config_t *config, const char *text,
                           nic_location_t *location, sim_message_t *message)
{
    const bool gpu = strncmp(text, "cuda:", 5) == 0;
    const char *const digits = text + (gpu ? 5 : strncmp(text, "cpu:", 4) == 0 ? 4 : 0);
    uint64_t index = 0;
    bool valid = digits != text && *digits != '\0';
    for (const char *at = digits; *at != '\0' && valid; at++) {
        valid = *at >= '0' && *at <= '9' && index < NIC_GPUS_MAX;
        index = index * 10 + (uint64_t)(*at - '0');
    }
    if (!valid || index >= (gpu ? config->gpus : config->sockets)) {
        return sim_fail_about(message, SIM_ERR_UNKNOWN, "location",
                              " \"%s\": expected cpu:N of %" PRIu64 " sockets or cuda:N of %" PRIu64
                              " GPUs",
                              text, config->sockets, config->gpus);
    }
    *location = (nic_location_t){gpu, (uint32_t)index};
    return SIM_OK;
}
