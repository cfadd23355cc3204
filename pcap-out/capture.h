// SPDX-License-Identifier: Apache-2.0
// pcap-out/capture.h - a capture: frames of any number of ports, in one file, in order of time.
//
// A capture listens at its ports and is otherwise no part of the simulation: it changes no event,
// no result and no digest. Ports without one pay nothing. The file is the same on any number of
// threads: frames of one time are ordered by node, then as the node handled them.
//
// A frame is taken as it is on the wire at that port: sent with the stamp of its first bit,
// received with the stamp of its last. Payload is zeros. A frame the link lost is seen by the
// sender only; a frame dropped in a switch was received, and is not sent.
#ifndef PCAP_OUT_CAPTURE_H
#define PCAP_OUT_CAPTURE_H

#include "net/port.h"

SIM_C_BEGIN

typedef struct pcap_out_capture pcap_out_capture_t;

typedef enum pcap_out_direction {
    PCAP_OUT_BOTH,
    PCAP_OUT_TX, // what the port sends
    PCAP_OUT_RX, // what it receives
} pcap_out_direction_t;

typedef struct pcap_out_config {
    const char *path;       // compressed if it ends in ".gz"
    const char *filter;     // of libpcap; NULL or "": every frame
    uint32_t snaplen_bytes; // 0: whole frames
    pcap_out_direction_t direction;
    uint64_t bytes_max;     // of the file before compression, 0: no limit
    bool without_telemetry; // frames end with the packet: net/wire/trailer.h
} pcap_out_config_t;

// Opens the file. config is not kept. Errors as pcap_out_file_open, and then *capture is NULL. Give
// back by pcap_out_capture_close.
SIM_MUST_CHECK sim_err_t pcap_out_capture_open(sim_t *sim,
                                               const pcap_out_config_t *config,
                                               pcap_out_capture_t **capture,
                                               sim_message_t *message);

// Adds a port, after net_build and before sim_run. Once for a port; both ends of a link may be in
// one capture, which then has each frame twice unless the direction is TX or RX.
void pcap_out_capture_port(pcap_out_capture_t *capture, net_port_t *port);

// Frames the filter took so far that are in the file, and those that are not because the file
// would have been longer than it may be: all from the first such frame on. Valid between windows
// and after the run.
uint64_t pcap_out_capture_frames(const pcap_out_capture_t *capture);
uint64_t pcap_out_capture_left_out(const pcap_out_capture_t *capture);
const char *pcap_out_capture_path(const pcap_out_capture_t *capture);

// After the run. Writes what is left and frees; SIM_ERR_IO with "path: reason" if the file is not
// whole. The simulation may not run any further.
SIM_MUST_CHECK sim_err_t pcap_out_capture_close(pcap_out_capture_t *capture,
                                                sim_message_t *message);

SIM_C_END

#endif // PCAP_OUT_CAPTURE_H
