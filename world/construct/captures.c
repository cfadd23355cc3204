// SPDX-License-Identifier: Apache-2.0
// world/construct/captures.c - the files of a capture: one, or with {port} or {node} in its name
// one per port or node (docs/formats/captures.md); their check.
#include <stdlib.h>
#include <string.h>

#include "net/frame.h"
#include "net/ports.h"
#include "nic/frames.h"
#include "pcap-out/fabric.h"
#include "pcap-out/pcap_file.h"
#include "world/capture_files.h"
#include "world/captures.h"
#include "world/format.h"
#include "world/names.h"
#include "world/scenario/capture_names.h"

// Each file is open during the run; systems commonly allow a process 1024.
#define FILES_MAX 900u
#define FIELD_SIZE 6u // of "{port}" and of "{node}"

// -- files

sim_err_t world_capture_files(const world_t *world, const world_capture_t *capture,
                              world_capture_files_t *files, world_error_t *error)
{
    *files = (world_capture_files_t){0};
    size_t count = 0;
    const sim_err_t result = world_find_ports(world, &capture->ports, capture->config.ports,
                                              &capture->place, &files->ports, &count, error);
    const char *const pattern = capture->config.file;
    const bool one = !world__capture_is_pattern(pattern);
    const bool by_node = strstr(pattern, "{port}") == NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++) {
        // ports come node by node
        if (i > 0 && (one || (by_node && files->ports[i]->node == files->ports[i - 1]->node))) {
            files->items[files->count - 1].port_count++;
            continue;
        }
        SIM_APPEND(
            files->items, files->count, capacity,
            (world_capture_file_t){
                .name = one ? sim_strdup(pattern)
                            : world_capture_file_name(pattern, net_port_name(files->ports[i])),
                .ports = &files->ports[i],
                .port_count = 1,
            });
    }
    return result;
}

void world_capture_files_fini(world_capture_files_t *files)
{
    for (size_t i = 0; i < files->count; i++) {
        sim_free(files->items[i].name);
    }
    sim_free(files->items);
    sim_free(files->ports);
    *files = (world_capture_files_t){0};
}

// -- the check

typedef struct named_file {
    const char *name;
    size_t capture;
} named_file_t;

static int by_name(const void *left, const void *right)
{
    const named_file_t *const a = left;
    const named_file_t *const b = right;
    const int order = strcmp(a->name, b->name);
    return order != 0 ? order : a->capture < b->capture ? -1 : a->capture > b->capture;
}

// Refuses files of equal names, too long names, and more files than can be open.
static sim_err_t check_files(const world_scenario_t *scenario, named_file_t *files, size_t count,
                             world_error_t *error)
{
    world_shown_t shown;
    if (count > FILES_MAX) {
        return world_fail(error, SIM_ERR_RANGE,
                          &scenario->captures[files[FILES_MAX].capture].file_place,
                          "captures write %zu files, expected at most %u: match fewer ports, or "
                          "leave {port} and {node} out",
                          count, FILES_MAX);
    }
    qsort(files, count, sizeof(*files), by_name);
    for (size_t i = 0; i < count; i++) {
        const world_place_t *const place = &scenario->captures[files[i].capture].file_place;
        if (i > 0 && strcmp(files[i].name, files[i - 1].name) == 0) {
            return world_fail(error, SIM_ERR_EXISTS, place,
                              "captures.file names '%s' twice, expected a name of its own for "
                              "each file",
                              world_show(&shown, files[i].name));
        }
        if (strlen(files[i].name) > WORLD__CAPTURE_NAME_MAX) {
            return world_fail(error, SIM_ERR_RANGE, place,
                              "captures.file names '%s', expected at most %u characters",
                              world_show(&shown, files[i].name), WORLD__CAPTURE_NAME_MAX);
        }
    }
    return SIM_OK;
}

static sim_err_t check_names(const world_t *world, world_error_t *error)
{
    const world_scenario_t *const scenario = world->scenario;
    const size_t captures = scenario->capture_count;
    world_capture_files_t *const files = sim_alloc_array(captures + 1, sizeof(*files));
    sim_err_t result = SIM_OK;
    size_t count = 0;
    for (size_t c = 0; c < captures && result == SIM_OK; c++) {
        result = world_capture_files(world, &scenario->captures[c], &files[c], error);
        count += files[c].count;
    }
    named_file_t *const all = sim_alloc_array(count + 1, sizeof(*all));
    size_t used = 0;
    for (size_t c = 0; c < captures; c++) {
        for (size_t i = 0; i < files[c].count; i++) {
            all[used++] = (named_file_t){files[c].items[i].name, c};
        }
    }
    SIM_CHECK(used == count);
    if (result == SIM_OK) {
        result = check_files(scenario, all, count, error);
    }
    for (size_t c = 0; c < captures; c++) {
        world_capture_files_fini(&files[c]);
    }
    sim_free(all);
    sim_free(files);
    return result;
}

// Refuses captures of NICs whose frames have other sizes than their headers make: the file shows
// the headers.
static sim_err_t check_captured_frames(const world_t *world, const world_capture_t *capture,
                                       world_error_t *error)
{
    for (uint32_t i = 0; i < world->nic_count; i++) {
        const char *const frames = nic_config_of_interface(world->net, (uint32_t)i)->frames;
        if (strcmp(frames, nic_frames_standard.name) != 0) {
            return world_fail(
                error, SIM_ERR_INVALID, &capture->place,
                "captures: frames of %s are %s, whose sizes are not those of headers, "
                "expected nic.frames: standard",
                world->nics[i].name, frames);
        }
    }
    return SIM_OK;
}

static_assert((int)WORLD_DIRECTION_BOTH == PCAP_OUT_BOTH &&
                  (int)WORLD_DIRECTION_TX == PCAP_OUT_TX && (int)WORLD_DIRECTION_RX == PCAP_OUT_RX,
              "check_ring casts");

// Refuses a ring that is smaller than what describes the ports in its file, or than a frame.
static sim_err_t check_ring(const world_t *world, const world_capture_t *capture,
                            world_error_t *error)
{
    if (capture->config.ring_bytes == 0) {
        return SIM_OK;
    }
    world_capture_files_t files;
    sim_err_t result = world_capture_files(world, capture, &files, error);
    uint64_t least_bytes = 2 * NET_FRAME_BYTES_MAX;
    for (size_t i = 0; i < files.count && result == SIM_OK; i++) {
        const uint64_t bytes =
            pcap_out_fabric_ports_bytes(files.items[i].ports, files.items[i].port_count,
                                        (pcap_out_direction_t)capture->config.direction);
        least_bytes = SIM_MAX(bytes, least_bytes);
    }
    world_capture_files_fini(&files);
    if (result == SIM_OK && capture->config.ring_bytes < least_bytes) {
        world_text_t ring;
        result = world_fail(error, SIM_ERR_RANGE, &capture->place,
                            "captures.ring is %s, expected at least %" PRIu64
                            "B: the names of ports and one frame in each direction take as much",
                            world_format_bytes(&ring, capture->config.ring_bytes), least_bytes);
    }
    return result;
}

sim_err_t world__check_captures(const world_t *world, world_error_t *error)
{
    const sim_err_t named = check_names(world, error);
    if (named != SIM_OK) {
        return named;
    }
    for (size_t i = 0; i < world->scenario->capture_count; i++) {
        const world_capture_t *const capture = &world->scenario->captures[i];
        sim_err_t result = check_captured_frames(world, capture, error);
        if (result == SIM_OK) {
            result = check_ring(world, capture, error);
        }
        if (result != SIM_OK) {
            return result;
        }
        sim_message_t message;
        result = pcap_out_filter_check(capture->config.filter, &message);
        if (result != SIM_OK) {
            return world_fail(error, result, &capture->filter_place,
                              "captures.filter: %s, expected a pcap filter such as 'udp port 4791'",
                              message.text);
        }
    }
    return SIM_OK;
}
