// SPDX-License-Identifier: Apache-2.0
// pcap-out/capture.h - a capture: the frames of any number of ports in one file, ordered by time.
//
// A capture only listens at its ports: it changes no event, no result and no digest, and ports
// without a capture pay nothing. The file is equal on any number of threads: frames of one time are
// ordered by node, then in the order in which the node handled them.
//
// Frames have the bytes that they have on the wire at that port. A sent frame has the time of its
// first bit, a received one that of its last. A payload without contents is zeros. A frame that the
// link lost is captured only at its sender; a frame that a switch drops is captured as received.
#ifndef PCAP_OUT_CAPTURE_H
#define PCAP_OUT_CAPTURE_H

#include "net/node.h"

SIM_C_BEGIN

typedef struct pcap_out_capture pcap_out_capture_t;

typedef enum pcap_out_direction {
    PCAP_OUT_BOTH,
    PCAP_OUT_TX, // frames that the port sends
    PCAP_OUT_RX, // frames that it receives
} pcap_out_direction_t;

typedef struct pcap_out_config {
    const char *path;       // ".gz" at the end: compressed
    const char *filter;     // libpcap's syntax; NULL or "": every frame
    uint32_t snaplen_bytes; // 0: whole frames
    pcap_out_direction_t direction;
    uint64_t bytes_max;     // size of the file before compression; 0: no limit
    bool without_telemetry; // leave out the trailer of net/wire/trailer.h
    uint64_t origin_s;      // time stamp of the run's beginning, in seconds since 1970
} pcap_out_config_t;

// Opens the file; config is not kept. Fails like pcap_out_file_open, and then *capture is NULL. The
// caller frees it with pcap_out_capture_close.
SIM_MUST_CHECK sim_err_t pcap_out_capture_open(sim_t *sim, const pcap_out_config_t *config,
                                               pcap_out_capture_t **capture,
                                               sim_message_t *message);

// Adds a port, once, after net_build and before sim_run. If both ends of a link are in one capture,
// it has each frame twice, unless the direction is TX or RX.
void pcap_out_capture_port(pcap_out_capture_t *capture, net_port_t *port);

// Return how many frames passed the filter and are in the file, and how many passed but did not fit
// into bytes_max: the first such frame and all later ones. Valid between windows and after the run.
uint64_t pcap_out_capture_frames(const pcap_out_capture_t *capture);
uint64_t pcap_out_capture_left_out(const pcap_out_capture_t *capture);

// Writes the remaining frames and frees the capture, also on failure. After the run; the simulation
// may not run any further. Fails with SIM_ERR_IO and "path: reason" if the file is incomplete.
SIM_MUST_CHECK sim_err_t pcap_out_capture_close(pcap_out_capture_t *capture,
                                                sim_message_t *message);

SIM_C_END

#endif // PCAP_OUT_CAPTURE_H
