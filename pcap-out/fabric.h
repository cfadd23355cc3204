// SPDX-License-Identifier: Apache-2.0
// pcap-out/fabric.h - a capture of many ports in one pcapng file that says what became of packets.
//
// Each port has two interfaces of its name: one for the frames that it sends, one for those that it
// receives. Frames have comments where a packet was dropped, marked, paused for or sent again. A
// packet that is dropped after it has waited has a frame of its own, on an interface "... dropped".
// Like every capture it only listens: no result changes, and ports without it pay nothing.
#ifndef PCAP_OUT_FABRIC_H
#define PCAP_OUT_FABRIC_H

#include "pcap-out/capture.h"

SIM_C_BEGIN

typedef struct pcap_out_fabric pcap_out_fabric_t;

// The subject of a comment, and the trigger of a capture.
typedef enum pcap_out_subject {
    PCAP_OUT_ALWAYS, // no trigger
    PCAP_OUT_DROP,
    PCAP_OUT_MARK,           // a switch marks a packet CE
    PCAP_OUT_PAUSE,          // a node stops its peer
    PCAP_OUT_RETRANSMISSION, // a NIC sends a packet again
    PCAP_OUT_TRIM,           // a switch cuts a packet to its headers
} pcap_out_subject_t;

typedef struct pcap_out_fabric_config {
    pcap_out_config_t capture;  // path, filter, snap length, direction, size, telemetry
    const char *application;    // name and version of the program
    const char *section;        // comment of the section; ", digest ..." follows
    bool nanoseconds;           // times are in ns; false: in ps
    pcap_out_subject_t trigger; // keep only frames near such moments
    sim_time_t before_ps;       // with a trigger: time before each moment
    sim_time_t after_ps;        // with a trigger: time after each moment
    uint64_t triggers_max;      // moments; later ones are ignored
    bool every_port;            // the caller adds all ports of the network
    bool many_ports;            // it adds a quarter of them or more
    uint64_t ring_bytes;        // keep only the last frames of so many bytes; 0: all
} pcap_out_fabric_config_t;

// Opens the file; config is not kept. Fails like pcap_out_capture_open. The caller frees *fabric
// with pcap_out_fabric_close.
SIM_MUST_CHECK sim_err_t pcap_out_fabric_open(const net_t *net,
                                              const pcap_out_fabric_config_t *config,
                                              pcap_out_fabric_t **fabric, sim_message_t *message);

// Returns the bytes that a file of these ports has besides its frames, but for its section: two
// interfaces of each port in the direction "both", and their statistics.
uint64_t pcap_out_fabric_ports_bytes(net_port_t *const *ports, size_t count,
                                     pcap_out_direction_t direction);

// Adds a port, once, after net_build and before sim_run.
void pcap_out_fabric_port(pcap_out_fabric_t *fabric, net_port_t *port);

// Writes what a ring holds. Call it once, after the run; the counts below are final then.
void pcap_out_fabric_end(pcap_out_fabric_t *fabric);
// Return how many frames are in the file, and how many did not fit into bytes_max.
uint64_t pcap_out_fabric_frames(const pcap_out_fabric_t *fabric);
uint64_t pcap_out_fabric_left_out(const pcap_out_fabric_t *fabric);
// Returns how many frames passed the filter and are not in the file, because no trigger was near or
// the ring forgot them.
uint64_t pcap_out_fabric_skipped(const pcap_out_fabric_t *fabric);

// Writes statistics and digest, and frees the capture, also on failure. Fails with SIM_ERR_IO and
// "path: reason" if the file is incomplete.
SIM_MUST_CHECK sim_err_t pcap_out_fabric_close(pcap_out_fabric_t *fabric, sim_time_t end_ps,
                                               uint64_t digest, sim_message_t *message);

SIM_C_END

#endif // PCAP_OUT_FABRIC_H
