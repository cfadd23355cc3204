// SPDX-License-Identifier: Apache-2.0
// pcap-out/read.h - reads capture files, pcap and pcapng, frame by frame.
//
// Both byte orders, all resolutions of times, plain or compressed by gzip. Only Ethernet frames.
// Memory does not grow with the number of frames.
#ifndef PCAP_OUT_READ_H
#define PCAP_OUT_READ_H

#include "pcap-out/pcapng/ng_file.h"

SIM_C_BEGIN

typedef struct pcap_out_reader pcap_out_reader_t;

// The interface of a frame. Texts live as long as the reader. In a pcap file there is one, "".
typedef struct pcap_out_read_interface {
    const char *name;
    const char *description; // "" where there is none
    uint64_t rate_bps;       // 0: not said
    uint32_t snaplen_bytes;
    uint8_t resolution; // of times: 10^-resolution s
} pcap_out_read_interface_t;

// A frame, valid until the next one is read.
typedef struct pcap_out_read_frame {
    uint32_t interface; // number in the file, over all its sections
    sim_time_t time_ps;
    const uint8_t *bytes;
    uint32_t captured_bytes;
    uint32_t original_bytes;
    pcap_out_ng_way_t way;
    uint64_t drop_count;
    const char *comments[PCAP_OUT_NG_COMMENTS_MAX]; // further comments are left out
    uint32_t comment_count;
} pcap_out_read_frame_t;

// Opens a file. Fails with SIM_ERR_IO if it cannot be read, SIM_ERR_INVALID if it is no capture of
// Ethernet frames; messages begin with the path.
SIM_MUST_CHECK sim_err_t pcap_out_reader_open(const char *path, pcap_out_reader_t **reader,
                                              sim_message_t *message);
// Reads the next frame; *end is true where there is none. SIM_ERR_INVALID: the file is cut or
// broken.
SIM_MUST_CHECK sim_err_t pcap_out_reader_next(pcap_out_reader_t *reader,
                                              pcap_out_read_frame_t *frame, bool *end,
                                              sim_message_t *message);
const pcap_out_read_interface_t *pcap_out_reader_interface(const pcap_out_reader_t *reader,
                                                           uint32_t index);
uint32_t pcap_out_reader_interface_count(const pcap_out_reader_t *reader);
// Returns the comment of the section read last; "" where there is none.
const char *pcap_out_reader_comment(const pcap_out_reader_t *reader);
void pcap_out_reader_close(pcap_out_reader_t *reader);

SIM_C_END

#endif // PCAP_OUT_READ_H
