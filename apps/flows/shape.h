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
    SIM_ATTR_ROW(config, TIME, prefix ".stop", member, "auto", "0s", NULL, "time from which no transfer starts and no message is posted; auto: no limit", .auto_ok = true)

// Attribute `qps` of the kinds that use app__plan_add_split.
#define APP__QPS_ATTR(prefix, config, member)                                                      \
    SIM_ATTR_ROW(config, COUNT, prefix ".qps", member, "auto", "1", "1024", "number of queue pairs over which a message is split in equal parts, each a transfer with a path of its own; auto: one, and the report has no part about rows", .auto_ok = true)

#define APP__SHAPE_ATTRS(prefix, config, member)                                                   \
    SIM_ATTR_ROW(config, COUNT, prefix ".priority", member.priority, "auto", "0", "7", "class of the transfers; auto: nic.priority", .auto_ok = true), \
    SIM_ATTR_ROW(config, COUNT, prefix ".dscp", member.dscp, "auto", "0", "63", "DSCP of the transfers; auto: priority x 8, or nic.dscp where priority is auto", .auto_ok = true), \
    SIM_ATTR_ROW(config, ENUM, prefix ".verb", member.verb, "write", "write|send|read", "verb that moves the data"), \
    SIM_ATTR_ROW(config, ENUM, prefix ".service", member.service, "rc", "rc|uc|ud", "transport of the queue pairs; uc (write, send) and ud (send, a datagram for each MTU of a message) never retransmit, and a transfer ends when all of it has arrived"), \
    SIM_ATTR_ROW(config, BOOL, prefix ".reuse", member.reuse, "false", "true: transfers between the same two interfaces share one queue pair and take turns on it; false: each transfer has its own"), \
    SIM_ATTR_ROW(config, COUNT, prefix ".messages", member.messages, "1", "1", "1000000000", "number of messages of each transfer, one after another on its queue pair"), \
    SIM_ATTR_ROW(config, COUNT, prefix ".depth", member.depth, "16", "1", "65536", "maximum number of messages of a transfer that are posted and not completed")
// clang-format on

#endif // APPS_FLOWS_SHAPE_H
