// SPDX-License-Identifier: Apache-2.0
// pcap-out/pcap_file.h - one capture file in pcap format with nanosecond stamps, via libpcap.
//
// LINKTYPE_ETHERNET, magic 0xa1b23c4d, little endian; zlib compresses a file whose path ends in
// ".gz". The bytes depend on the calls alone: there is no time of day and no file name in them.
// Frames are written in the order of the calls, which should be the order of time.
//
// Write errors are sticky: the first error is kept, later frames are left out, and close reports it
// with the name of the file. A file that was closed without an error is complete.
#ifndef PCAP_OUT_PCAP_FILE_H
#define PCAP_OUT_PCAP_FILE_H

#include "kernel/base.h"

SIM_C_BEGIN

typedef struct pcap_out_file pcap_out_file_t;

// The snap length of files in which frames are not cut; no frame of rocesim is longer.
#define PCAP_OUT_SNAPLEN_BYTES 65535u      // of files that are to have whole frames
#define PCAP_OUT_SNAPLEN_BYTES_MAX 262144u // of frames of other tools

// Fails with SIM_ERR_INVALID and libpcap's message if the text is no filter of Ethernet frames.
// NULL and "" accept every frame. libpcap looks up host names in the system's tables and name
// servers, so only filters made of addresses mean the same everywhere.
SIM_MUST_CHECK sim_err_t pcap_out_filter_check(const char *filter_text, sim_message_t *message);

// A compiled filter. *filter is NULL for NULL and "", which accept every frame. Fails like
// pcap_out_filter_check. The caller frees it with pcap_out_filter_close, which accepts NULL.
typedef struct pcap_out_filter pcap_out_filter_t;
SIM_MUST_CHECK sim_err_t pcap_out_filter_open(const char *filter_text, pcap_out_filter_t **filter,
                                              sim_message_t *message);
// Returns whether the filter accepts a whole frame. Several threads may call it at once.
bool pcap_out_filter_matches(const pcap_out_filter_t *filter, const uint8_t *bytes,
                             uint32_t size_bytes);
// Returns how many bytes from its begin the filter looks at, at most, of a frame without IP
// options; UINT32_MAX: that is not known.
uint32_t pcap_out_filter_reach_bytes(const pcap_out_filter_t *filter);
void pcap_out_filter_close(pcap_out_filter_t *filter);

// Creates or truncates the file. snaplen_bytes: bytes kept of each frame, 0 for all. filter_text:
// as above. The caller closes *file with pcap_out_file_close; on failure it is NULL. Errors:
// SIM_ERR_INVALID: the filter, before the file is touched; SIM_ERR_RANGE: snaplen_bytes above
// PCAP_OUT_SNAPLEN_BYTES_MAX; SIM_ERR_IO: the file cannot be created.
SIM_MUST_CHECK sim_err_t pcap_out_file_open(const char *path, uint32_t snaplen_bytes,
                                            const char *filter_text, pcap_out_file_t **file,
                                            sim_message_t *message);

// Returns whether the filter accepts a frame of original_bytes; the first captured_bytes of it (at
// least 1, at most all) are given. Several threads may call it at once.
bool pcap_out_file_matches(const pcap_out_file_t *file, const uint8_t *bytes,
                           uint32_t captured_bytes, uint32_t original_bytes);

// Makes the times of frames that are appended from now on count from origin_s seconds after 1970,
// below 2^32 - 2^25 (0 at first).
void pcap_out_file_set_origin(pcap_out_file_t *file, uint64_t origin_s);

// Writes a frame without asking the filter, cut to the snap length. The stamp is time_ps after the
// origin, rounded down to nanoseconds.
void pcap_out_file_append(pcap_out_file_t *file, sim_time_t time_ps, const uint8_t *bytes,
                          uint32_t captured_bytes, uint32_t original_bytes);

// Returns how many frames were appended, including those that an error kept out of the file.
uint64_t pcap_out_file_frames(const pcap_out_file_t *file);

// Writes the remaining bytes and frees file, also on failure. Fails with SIM_ERR_IO and
// "path: reason" if anything could not be written since the file was opened.
SIM_MUST_CHECK sim_err_t pcap_out_file_close(pcap_out_file_t *file, sim_message_t *message);

SIM_C_END

#endif // PCAP_OUT_PCAP_FILE_H
