// SPDX-License-Identifier: Apache-2.0
// pcap-out/pcap_file.h - one capture file, written by libpcap: pcap with nanosecond stamps.
//
// LINKTYPE_ETHERNET, magic 0xa1b23c4d, little endian; a path that ends in ".gz" is compressed by
// zlib. The bytes of a file are a function of the calls alone: no time of day, no file name inside.
// Frames are written in the order of the calls, which should be that of time.
//
// Trouble with writing is sticky: the first error is kept, later frames are left out, and close
// reports it with the name of the file. A file that closed without an error is whole.
#ifndef PCAP_OUT_PCAP_FILE_H
#define PCAP_OUT_PCAP_FILE_H

#include "kernel/base.h"

SIM_C_BEGIN

typedef struct pcap_out_file pcap_out_file_t;

// Stands in the file where frames are not cut; no frame of rocesim is longer.
#define PCAP_OUT_SNAPLEN_BYTES_MAX 65535u

// Whether libpcap takes the text as a filter of Ethernet frames. SIM_ERR_INVALID with its message.
// NULL and "" take every frame. libpcap looks host names up in the system's tables and name
// servers: only filters made of addresses mean the same everywhere.
SIM_MUST_CHECK sim_err_t pcap_out_filter_check(const char *filter_text, sim_message_t *message);

// Creates (or truncates) the file. snaplen_bytes: the most bytes of a frame that are kept, 0 for
// all. Filter: as above. On success *file is the caller's until pcap_out_file_close; otherwise it
// is NULL. SIM_ERR_INVALID: the filter, before the file is touched. SIM_ERR_RANGE: snaplen_bytes
// above PCAP_OUT_SNAPLEN_BYTES_MAX. SIM_ERR_IO: the file cannot be created.
SIM_MUST_CHECK sim_err_t pcap_out_file_open(const char *path,
                                            uint32_t snaplen_bytes,
                                            const char *filter_text,
                                            pcap_out_file_t **file,
                                            sim_message_t *message);

// Whether the filter takes a frame: of its original_bytes, the captured_bytes at bytes are given
// (at least 1, at most all). May be called by several threads at once.
bool pcap_out_file_matches(const pcap_out_file_t *file,
                           const uint8_t *bytes,
                           uint32_t captured_bytes,
                           uint32_t original_bytes);

// Writes a frame, whatever the filter: of what is given, the snap length decides what is kept. The
// stamp is time_ps rounded down to nanoseconds.
void pcap_out_file_append(pcap_out_file_t *file,
                          sim_time_t time_ps,
                          const uint8_t *bytes,
                          uint32_t captured_bytes,
                          uint32_t original_bytes);

// Writes a frame if the filter takes it; returns whether it did.
bool pcap_out_file_write(pcap_out_file_t *file,
                         sim_time_t time_ps,
                         const uint8_t *bytes,
                         uint32_t captured_bytes,
                         uint32_t original_bytes);

// Frames that were appended, those that an error kept out of the file too.
uint64_t pcap_out_file_frames(const pcap_out_file_t *file);
const char *pcap_out_file_path(const pcap_out_file_t *file);

// Writes what is left and frees file, also on error. SIM_ERR_IO with "path: reason" if anything
// could not be written since the file was opened.
SIM_MUST_CHECK sim_err_t pcap_out_file_close(pcap_out_file_t *file, sim_message_t *message);

SIM_C_END

#endif // PCAP_OUT_PCAP_FILE_H
