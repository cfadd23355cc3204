// SPDX-License-Identifier: Apache-2.0
// net/wire/frame_reader.h - the state of a parse.
#ifndef NET_WIRE_FRAME_READER_H
#define NET_WIRE_FRAME_READER_H

#include "net/frame.h"

// State of a parse. Each parse_ function reads one header at offset and moves offset past it.
typedef struct net__frame_reader {
    const uint8_t *bytes;
    size_t offset;
    size_t end;     // end of headers and payload, at most the end of the bytes
    size_t trailer; // begin of the trailer, behind the packet and its padding
    net_frame_t *frame;
    sim_message_t *message;
} net__frame_reader_t;

// Fails with a message unless `needed` more bytes are left; `what` names the header.
SIM_MUST_CHECK sim_err_t net__frame_require(const net__frame_reader_t *reader, const char *what,
                                            size_t needed);
// Returns the index of the first byte that is not zero, or size_bytes.
size_t net__frame_first_nonzero(const uint8_t *bytes, size_t size_bytes);
// Fails with a message unless all bytes up to `to` are zero.
SIM_MUST_CHECK sim_err_t net__frame_require_zeros(const net__frame_reader_t *reader,
                                                  const char *what, size_t to);
// Parses BTH, extension headers, payload and pad. Stores the ICRC without checking it.
SIM_MUST_CHECK sim_err_t net__frame_parse_roce(net__frame_reader_t *reader);

#endif // NET_WIRE_FRAME_READER_H
