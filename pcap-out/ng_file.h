// SPDX-License-Identifier: Apache-2.0
// pcap-out/ng_file.h - writes one capture file in pcapng format: interfaces, comments,
// directions.
//
// Little endian, LINKTYPE_ETHERNET, one section. Frames are written in the order of the calls.
// The bytes depend on the calls alone. Errors are sticky, as in pcap-out/pcap_file.h.
// Source: IETF draft-ietf-opsawg-pcapng (PCAP Now Generic), blocks 4.1 to 4.3, 4.6.
#ifndef PCAP_OUT_NG_FILE_H
#define PCAP_OUT_NG_FILE_H

#include "kernel/base.h"

SIM_C_BEGIN

typedef struct pcap_out_ng pcap_out_ng_t;

typedef enum pcap_out_ng_way { // bits 0 and 1 of epb_flags
    PCAP_OUT_NG_UNKNOWN,
    PCAP_OUT_NG_RECEIVED,
    PCAP_OUT_NG_SENT,
} pcap_out_ng_way_t;

typedef struct pcap_out_ng_interface {
    const char *name;
    const char *description; // NULL: none
    uint64_t rate_bps;       // 0: not said
    uint64_t origin_s;       // times of packets count from so many seconds after 1970
    uint32_t snaplen_bytes;  // 0: whole frames
    uint8_t resolution;      // times are in 10^-resolution s: 6, 9 or 12
} pcap_out_ng_interface_t;

#define PCAP_OUT_NG_COMMENTS_MAX 8u

typedef struct pcap_out_ng_packet {
    uint32_t interface; // as pcap_out_ng_interface returned it
    sim_time_t time_ps; // rounded down to the interface's resolution
    const uint8_t *bytes;
    uint32_t captured_bytes; // at least 1; cut to the interface's snap length
    uint32_t original_bytes;
    pcap_out_ng_way_t way;
    uint64_t drop_count; // 0: not written
    const char *comments[PCAP_OUT_NG_COMMENTS_MAX];
    uint32_t comment_count;
} pcap_out_ng_packet_t;

// Creates or truncates the file, compressed if the path ends in ".gz". comment: of the section,
// NULL: none. Fails with SIM_ERR_IO if the file cannot be created.
SIM_MUST_CHECK sim_err_t pcap_out_ng_open(const char *path, const char *application,
                                          const char *comment, pcap_out_ng_t **ng,
                                          sim_message_t *message);
// Replaces the section's comment by one of equal length, where the file is no pipe or device.
void pcap_out_ng_change_comment(pcap_out_ng_t *ng, const char *comment);

// Adds an interface and returns its number.
uint32_t pcap_out_ng_interface(pcap_out_ng_t *ng, const pcap_out_ng_interface_t *interface);
// Returns the bytes that an interface with a speed takes in the file, with its statistics.
uint64_t pcap_out_ng_interface_bytes(const char *name, const char *description);

// Returns the bytes that the packet takes in the file before compression.
uint64_t pcap_out_ng_packet_bytes(const pcap_out_ng_t *ng, const pcap_out_ng_packet_t *packet);
void pcap_out_ng_packet(pcap_out_ng_t *ng, const pcap_out_ng_packet_t *packet);

// Writes the statistics of an interface up to time_ps: frames received and dropped.
void pcap_out_ng_statistics(pcap_out_ng_t *ng, uint32_t interface, sim_time_t time_ps,
                            uint64_t received, uint64_t dropped);

// Returns the bytes of the file so far, before compression.
uint64_t pcap_out_ng_bytes(const pcap_out_ng_t *ng);

// Writes the rest and frees ng, also on failure. Fails with SIM_ERR_IO and "path: reason".
SIM_MUST_CHECK sim_err_t pcap_out_ng_close(pcap_out_ng_t *ng, sim_message_t *message);

SIM_C_END

#endif // PCAP_OUT_NG_FILE_H
