// SPDX-License-Identifier: Apache-2.0
// studio/server/data/packets/packet_file.h - capture files: reading without believing them,
// filtering, decoding.
#ifndef STUDIO_SERVER_DATA_PACKETS_PACKET_FILE_H
#define STUDIO_SERVER_DATA_PACKETS_PACKET_FILE_H

#include "kernel/base.h"

#include <jansson.h>

#define STUDIO_PACKET_BYTES_MAX 65536u // more is no frame of rocesim's, nor of Ethernet
#define STUDIO_CAPTURE_BYTES_MAX (UINT64_C(1) << 30) // of one that is kept uncompressed

// The head of a pcap file.
typedef struct studio_pcap {
    bool swapped;
    bool nanoseconds;
    uint32_t snaplen;
    uint32_t link_type;
} studio_pcap_t;

typedef struct studio_record {
    uint64_t offset; // of the record's head in the file
    int64_t time_ns;
    uint32_t captured;
    uint32_t bytes;
} studio_record_t;

enum { STUDIO_PCAP_HEAD_BYTES = 24, STUDIO_RECORD_HEAD_BYTES = 16 };

// SIM_ERR_INVALID: no pcap file of Ethernet frames.
SIM_MUST_CHECK sim_err_t studio_pcap_head(const uint8_t *bytes,
                                          size_t size,
                                          studio_pcap_t *pcap,
                                          sim_message_t *message);
// The head of a record; SIM_ERR_INVALID: its lengths cannot be.
SIM_MUST_CHECK sim_err_t studio_pcap_record(const studio_pcap_t *pcap,
                                            const uint8_t *bytes,
                                            studio_record_t *record,
                                            sim_message_t *message);

// What of a frame lists and tables show.
typedef struct studio_brief {
    char kind[40]; // "RC WRITE MIDDLE", "PFC", "CNP"; "other"
    bool has_ip;
    bool has_bth;
    uint8_t source_mac[6];
    uint8_t source_ip[16];
    uint8_t destination_ip[16];
    bool ipv6;
    uint16_t source_port;
    uint8_t ecn;
    uint8_t priority; // of the tag, of PFC the first class; 0xff: none
    uint32_t qp;
    uint32_t psn;
    uint8_t opcode;
    uint8_t syndrome;
    bool has_aeth;
} studio_brief_t;

// Looks only at bytes that are there.
void studio_packet_brief(const uint8_t *bytes, size_t size, studio_brief_t *brief);
// "10.0.0.1"; text has 64 bytes.
void studio_packet_address(const uint8_t *address, bool ipv6, char *text);

// Names of addresses in a result folder: hosts and ethers.
typedef struct studio_names studio_names_t;
studio_names_t *studio_names_read(const char *result);
void studio_names_destroy(studio_names_t *names);
// NULL: it has none.
const char *studio_names_of(const studio_names_t *names, const char *address);
// The address of a host by its name; NULL: there is none of it.
const char *studio_names_find(const studio_names_t *names, const char *name);

// The layers of a frame with the bytes of each field, as a JSON array; whether the codec of net/
// takes the frame, and if not why, in message ("" where it does or where the capture cut it).
// transport: nic.transport of the run, or NULL: what selective transports add is known by it.
json_t *studio_packet_layers(const uint8_t *bytes,
                             size_t captured,
                             size_t size,
                             const char *transport,
                             const studio_names_t *names,
                             sim_message_t *message);
// One line about it.
void studio_packet_info(const uint8_t *bytes, size_t size, char *text, size_t text_size);

// A filter of libpcap's, in which names of hosts of the run stand for their addresses and no name
// is looked up anywhere. NULL: the message says why.
typedef struct studio_packet_filter studio_packet_filter_t;
studio_packet_filter_t *studio_packet_filter_compile(const char *text,
                                                     const studio_names_t *names,
                                                     sim_message_t *message);
bool studio_packet_filter_matches(const studio_packet_filter_t *filter,
                                  const uint8_t *bytes,
                                  uint32_t captured,
                                  uint32_t size);
void studio_packet_filter_destroy(studio_packet_filter_t *filter); // NULL is allowed

#endif // STUDIO_SERVER_DATA_PACKETS_PACKET_FILE_H
