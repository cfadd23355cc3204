// SPDX-License-Identifier: Apache-2.0
// pcap-out/pcapng/sink.h - the file behind a capture: plain, or compressed if its path ends in
// ".gz".
//
// Write errors are sticky: the first one is kept, later bytes are left out, and close reports it
// with the name of the file.
#ifndef PCAP_OUT_PCAPNG_SINK_H
#define PCAP_OUT_PCAPNG_SINK_H

#include "kernel/base.h"

SIM_C_BEGIN

typedef struct pcap_out_sink pcap_out_sink_t;

// Creates or truncates the file. The caller closes *sink; on failure it is NULL. Fails with
// SIM_ERR_IO and a message if the file cannot be created.
SIM_MUST_CHECK sim_err_t pcap_out_sink_open(const char *path, pcap_out_sink_t **sink,
                                            sim_message_t *message);

// Writes all bytes and returns true; false after an error of this or an earlier call.
bool pcap_out_sink_write(pcap_out_sink_t *sink, const void *bytes, size_t size_bytes);

#define PCAP_OUT_SINK_HEAD_BYTES_MAX 65535u

// Writes the first bytes of a file so that pcap_out_sink_change_head can replace them: a compressed
// file holds them in a member of their own, uncompressed. At most PCAP_OUT_SINK_HEAD_BYTES_MAX.
void pcap_out_sink_head(pcap_out_sink_t *sink, const void *bytes, size_t size_bytes);
// Replaces the head by bytes of the same size. Pipes and devices keep the first ones.
void pcap_out_sink_change_head(pcap_out_sink_t *sink, const void *bytes, size_t size_bytes);

// Returns whether nothing failed so far.
bool pcap_out_sink_good(const pcap_out_sink_t *sink);

// Closes and frees the sink, also on failure. Fails with SIM_ERR_IO and "path: reason" if anything
// could not be written.
SIM_MUST_CHECK sim_err_t pcap_out_sink_close(pcap_out_sink_t *sink, sim_message_t *message);

SIM_C_END

#endif // PCAP_OUT_PCAPNG_SINK_H
