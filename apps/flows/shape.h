// SPDX-License-Identifier: Apache-2.0
// apps/flows/shape.h - attributes of transfers that all kinds of flows share.
#ifndef APPS_FLOWS_SHAPE_H
#define APPS_FLOWS_SHAPE_H

#include "kernel/attribute.h"

typedef enum app__verb { APP__VERB_WRITE, APP__VERB_SEND, APP__VERB_READ } app__verb_t;
typedef enum app__service { APP__RC, APP__UC, APP__UD } app__service_t;

// Attributes that all kinds of flows share: how their transfers are made.
typedef struct app__shape {
    uint64_t priority; // SIM_AUTO: the NIC's
    uint64_t dscp;     // SIM_AUTO: priority x 8, or the NIC's
    app__verb_t verb;
    app__service_t service;
    bool reuse;        // transfers between the same two interfaces share one QP
    uint64_t messages; // number of messages of a transfer
    uint64_t depth;    // maximum number of messages that are posted and not completed
} app__shape_t;

// clang-format off
// Attribute `stop` of the kinds that use app__plan_stop_at.
#define APP__STOP_ATTR(prefix, config, member)                                                     \
    SIM_ATTR(prefix ".stop", TIME, config, member,                                                 \
             .default_text = "auto", .min_text = "0s", .auto_ok = true,                            \
             .help = "time from which no transfer starts and no message is posted; auto: no "      \
                     "limit")

// Attribute `qps` of the kinds that use app__plan_add_split.
#define APP__QPS_ATTR(prefix, config, member)                                                      \
    SIM_ATTR(prefix ".qps", COUNT, config, member,                                                 \
             .default_text = "auto", .min_text = "1", .max_text = "1024", .auto_ok = true,         \
             .help = "number of queue pairs over which a message is split in equal parts, each a " \
                     "transfer with a path of its own; auto: one, and the report has no part "     \
                     "about rows")

#define APP__SHAPE_ATTRS(prefix, config, member)                                                   \
    SIM_ATTR(prefix ".priority", COUNT, config, member.priority,                                   \
             .default_text = "auto", .min_text = "0", .max_text = "7", .auto_ok = true,            \
             .help = "class of the transfers; auto: nic.priority"),                                \
    SIM_ATTR(prefix ".dscp", COUNT, config, member.dscp,                                           \
             .default_text = "auto", .min_text = "0", .max_text = "63", .auto_ok = true,           \
             .help = "DSCP of the transfers; auto: priority x 8, or nic.dscp where priority "      \
                     "is auto"),                                                                   \
    SIM_ATTR(prefix ".verb", ENUM, config, member.verb,                                            \
             .default_text = "write", .choices = "write|send|read",                                \
             .help = "verb that moves the data"),                                                  \
    SIM_ATTR(prefix ".service", ENUM, config, member.service,                                      \
             .default_text = "rc", .choices = "rc|uc|ud",                                          \
             .help = "transport of the queue pairs; uc (write, send) and ud (send, a datagram "    \
                     "for each MTU of a message) never retransmit, and a transfer ends when "      \
                     "all of it has arrived"),                                                     \
    SIM_ATTR(prefix ".reuse", BOOL, config, member.reuse,                                          \
             .default_text = "false",                                                              \
             .help = "true: transfers between the same two interfaces share one queue pair and "   \
                     "take turns on it; false: each transfer has its own"),                        \
    SIM_ATTR(prefix ".messages", COUNT, config, member.messages,                                   \
             .default_text = "1", .min_text = "1", .max_text = "1000000000",                       \
             .help = "number of messages of each transfer, one after another on its queue pair"),  \
    SIM_ATTR(prefix ".depth", COUNT, config, member.depth,                                         \
             .default_text = "16", .min_text = "1", .max_text = "65536",                           \
             .help = "maximum number of messages of a transfer that are posted and not completed")
// clang-format on

#endif // APPS_FLOWS_SHAPE_H
