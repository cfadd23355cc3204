// SPDX-License-Identifier: Apache-2.0
// pcap-out/read.h - reads capture files, pcap and pcapng, frame by frame.
//
// Both byte orders, all resolutions of times, plain or compressed by gzip. Only Ethernet frames.
// Memory does not grow with the number of frames.
//
// Captures of real networks have dates: seconds since 1970, which picoseconds in 64 bits cannot
// hold. So the times of frames count from the reader's origin, a whole second. The origin is 0 if
// the first frame lies within 100 days after 1970, as in captures of simulations, else one day
// before it.
#ifndef PCAP_OUT_READ_H
#define PCAP_OUT_READ_H

#include "pcap-out/ng_file.h"

SIM_C_BEGIN

typedef struct pcap_out_reader pcap_out_reader_t;

// The interface of a frame. Texts live as long as the reader. In a pcap file there is one, "".
typedef struct pcap_out_read_interface {
    const char *name;
    const char *description; // "" where there is none
    uint64_t rate_bps;       // 0: not said
    uint32_t snaplen_bytes;
    uint8_t resolution; // of times: 10^-resolution s; 9 for units of 2^-n s
} pcap_out_read_interface_t;

// A frame, valid until the next one is read.
typedef struct pcap_out_read_frame {
    uint32_t interface; // number in the file, over all its sections
    sim_time_t time_ps; // since the reader's origin
    const uint8_t *bytes;
    uint64_t offset; // of these bytes in the file, uncompressed
    uint32_t captured_bytes;
    uint32_t original_bytes;
    pcap_out_ng_way_t way;
    uint64_t drop_count;
    const char *comments[PCAP_OUT_NG_COMMENTS_MAX]; // further comments are left out
    uint32_t comment_count;
} pcap_out_read_frame_t;

// Frames may lie this far behind the origin.
#define PCAP_OUT_READ_DAYS_MAX 200u

// Opens a file. Fails with SIM_ERR_IO if it cannot be read, SIM_ERR_INVALID if it is no capture of
// Ethernet frames; messages begin with the path.
SIM_MUST_CHECK sim_err_t pcap_out_reader_open(const char *path, pcap_out_reader_t **reader,
                                              sim_message_t *message);
// Reads the next frame; *end is true where there is none. SIM_ERR_INVALID: the file is cut or
// broken, or the frame lies before the origin or PCAP_OUT_READ_DAYS_MAX behind it.
SIM_MUST_CHECK sim_err_t pcap_out_reader_next(pcap_out_reader_t *reader,
                                              pcap_out_read_frame_t *frame, bool *end,
                                              sim_message_t *message);
const pcap_out_read_interface_t *pcap_out_reader_interface(const pcap_out_reader_t *reader,
                                                           uint32_t index);
uint32_t pcap_out_reader_interface_count(const pcap_out_reader_t *reader);
// Returns the comment of the section read last; "" where there is none.
const char *pcap_out_reader_comment(const pcap_out_reader_t *reader);
// Returns the origin in seconds since 1970; 0 before the first frame was read.
uint64_t pcap_out_reader_origin_s(const pcap_out_reader_t *reader);
// Moves the origin to origin_s, no later than the present one, and the time of `frame` with it,
// which is the frame read last. Fails with SIM_ERR_RANGE, and changes nothing, if the frame would
// be too far from it.
SIM_MUST_CHECK sim_err_t pcap_out_reader_move_origin(pcap_out_reader_t *reader, uint64_t origin_s,
                                                     pcap_out_read_frame_t *frame,
                                                     sim_message_t *message);
void pcap_out_reader_close(pcap_out_reader_t *reader);

SIM_C_END

#endif // PCAP_OUT_READ_H
