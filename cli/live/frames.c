// SPDX-License-Identifier: Apache-2.0
// cli/live/frames.c - captures of all ports, in a folder that the program rocesim-extcap reads.
//
// DIR/ports has a line for each port: its number and its name. DIR/NUMBER.pcap is its capture, and
// DIR/ended exists when the run has ended. "DIR@now" shifts the times of frames so that the run
// begins now.
#include "cli/live/targets.h"

#include "net/nodes.h"
#include "net/ports.h"
#include "pcap-out/capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PORTS_MAX 256u
#define NOW "@now"

typedef struct frames {
    char *folder;
    pcap_out_capture_t *captures[PORTS_MAX];
    size_t count;
    uint64_t origin_s; // 0: frames have simulated times
} frames_t;

static void close_captures(frames_t *frames)
{
    sim_message_t message;
    for (size_t i = 0; i < frames->count; i++) {
        if (pcap_out_capture_close(frames->captures[i], &message) != SIM_OK) {
            fprintf(stderr, "warning: --live extcap: %s\n", message.text);
        }
    }
    sim_free(frames->folder);
    sim_free(frames);
}

static sim_err_t open_capture(frames_t *frames, const world_t *world, net_port_t *port, FILE *list,
                              world_error_t *error)
{
    sim_message_t message;
    char *const path = sim_format("%s/%zu.pcap", frames->folder, frames->count);
    const pcap_out_config_t config = {.path = path, .origin_s = frames->origin_s};
    sim_err_t result =
        pcap_out_capture_open(world->sim, &config, &frames->captures[frames->count], &message);
    if (result == SIM_OK) {
        pcap_out_capture_port(frames->captures[frames->count], port);
        fprintf(list, "%zu\t%s\n", frames->count, net_port_name(port));
        frames->count++;
    } else {
        result = world_fail(error, SIM_ERR_IO, NULL, "%s", message.text);
    }
    sim_free(path);
    return result;
}

static sim_err_t check_frames(const world_t *world, const char *where, world_error_t *error)
{
    size_t count = 0;
    (void)where;
    for (size_t i = 0; i < net_node_count(world->net); i++) {
        count += net_node_at(world->net, i)->port_count;
    }
    return count <= PORTS_MAX
               ? SIM_OK
               : world_fail(error, SIM_ERR_RANGE, NULL,
                            "rocesim run: --live extcap: there are %zu ports, expected at most %u; "
                            "the section captures names single ports",
                            count, PORTS_MAX);
}

static sim_err_t open_frames(const world_t *world, const char *where, void **target,
                             world_error_t *error)
{
    frames_t *const frames = sim_alloc(sizeof(*frames));
    const size_t size = strlen(where);
    const bool shifts = size > strlen(NOW) && strcmp(where + size - strlen(NOW), NOW) == 0;
    *frames = (frames_t){
        .folder = sim_format("%.*s", (int)(size - (shifts ? strlen(NOW) : 0)), where),
        .origin_s = shifts ? (uint64_t)time(NULL) : 0,
    };
    char *const ports = sim_format("%s/ports", frames->folder);
    char *const ended = sim_format("%s/ended", frames->folder);
    (void)mkdir(frames->folder, 0777);
    (void)unlink(ended);
    FILE *const list = fopen(ports, "we");
    sim_err_t result = SIM_OK;
    if (list == NULL) {
        result = world_fail(error, SIM_ERR_IO, WORLD_FILE(ports), "%s", strerror(errno));
    }
    for (size_t i = 0; i < net_node_count(world->net) && result == SIM_OK; i++) {
        const net_node_t *const node = net_node_at(world->net, i);
        for (uint32_t p = 0; p < node->port_count && result == SIM_OK; p++) {
            result = open_capture(frames, world, net_port_at(node, p), list, error);
        }
    }
    if (list != NULL && fclose(list) != 0 && result == SIM_OK) {
        result = world_fail(error, SIM_ERR_IO, WORLD_FILE(ports), "%s", strerror(errno));
    }
    sim_free(ended);
    sim_free(ports);
    *target = frames;
    if (result != SIM_OK) {
        close_captures(frames);
    }
    return result;
}

static void publish_frames(void *target, const world_t *world, sim_time_t now_ps)
{
    (void)target;
    (void)world;
    (void)now_ps;
}

static void close_frames(void *target, const world_t *world, sim_time_t now_ps)
{
    frames_t *const frames = target;
    char *const ended = sim_format("%s/ended", frames->folder);
    (void)world;
    (void)now_ps;
    close_captures(frames);
    FILE *const file = fopen(ended, "we");
    if (file != NULL) {
        (void)fclose(file);
    }
    sim_free(ended);
}

const live_target_ops_t live__extcap = {"extcap", check_frames, open_frames, publish_frames,
                                        close_frames};
