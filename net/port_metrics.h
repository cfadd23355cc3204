// SPDX-License-Identifier: Apache-2.0
// net/port_metrics.h - what a port counts and what it can be asked, a row each.
#ifndef NET_PORT_METRICS_H
#define NET_PORT_METRICS_H

#include "kernel/fields.h"
#include "kernel/report.h"
#include "net/port.h"

SIM_C_BEGIN

// Return the frame bytes that wait in all classes now, and the largest such sum so far.
uint64_t net_port_queue_bytes(const net_port_t *port);
uint64_t net_port_queue_bytes_max(const net_port_t *port);

// Returns how long frames of these classes have occupied the link so far, from preamble to gap.
// Divided by the elapsed time this is the utilisation. If no other class has ever sent, the frame
// on the link counts only as far as it is out; otherwise a frame counts in full from its start.
sim_time_t net_port_busy_ps(const net_port_t *port, uint8_t classes, sim_time_t time_ps);

// Adds the counters of a node's ports to the digest. For implementations of node kinds.
void net_node_digest(const net_node_t *node, sim_digest_t *digest);

// The struct that holds the field of a row: sim_field_t.part.
typedef enum net_port_part {
    NET_PORT_ITSELF,   // net_port_t
    NET_PORT_SENT,     // net_class_t of the class
    NET_PORT_RECEIVED, // net_received_t of the class
    NET_PORT_RARE,     // net_port_rare_t
    NET_PORT_METER,    // net_meter_t
    NET_PORT_PARTS,
} net_port_part_t;

// A number of a port, and a field of a port. Series sample every row that has a name. A counter has
// a group, too: ports.csv, summary.json and all that reads it show the counters by these rows. To
// add one: a field where it counts, the place that counts, and a row in net/link/port_fields.c.
typedef struct net_port_metric {
    sim_field_t field; // count 0: `read` computes the number from other fields
    const char *name;  // "queue_bytes"
    const char *unit;  // "bytes"
    const char *help;  // complete where it stands alone
    bool per_priority; // name[p] reads one class; name alone sums over classes
    // Trace points of the port after which the value may have changed. 0: a series of this metric
    // cannot be recorded on change.
    uint32_t points;
    // true: read returns the busy time so far (net_port_busy_ps), and the metric is its share of
    // the time between two samples, at most 1.
    bool is_load;
    bool digested_with_next; // the digest takes the sum of this field and that of the next row
    uint64_t (*read)(const net_port_t *port, uint8_t classes, sim_time_t time_ps); // or NULL
    const char *column;   // of ports.csv, if not the name; by class: "tx_prio%u_bytes"
    const char *by_class; // its name in `classes` of summary.json; NULL: it is not there
    bool hottest;         // shown of the ports in `hottest_ports` of summary.json
    sim_total_t total;    // over all ports; no group: it is no counter
} net_port_metric_t;
// All fields of ports. Rows with a name come first; those behind them are not shown.
extern const net_port_metric_t net_port_metrics[];
#define NET_PORT_METRICS_MAX 64u // rows with a name
// The tables of the structs of a port, by net_port_part_t.
extern const sim_fields_t net__port_tables[NET_PORT_PARTS];
const net_port_metric_t *net_port_metric_find(const char *name);
// Returns the metric's value at time_ps, summed over the classes of the mask.
uint64_t net_port_metric_read(const net_port_metric_t *metric, const net_port_t *port,
                              uint8_t classes, sim_time_t time_ps);
// Reads a counter that is readable per class, for each class. Returns false and sets nothing where
// all are 0 because the port has counted nothing rare: a place that counts into net_port_rare_t
// also sets port->counted.
bool net_port_metric_read_classes(const net_port_metric_t *metric, const net_port_t *port,
                                  sim_time_t time_ps, uint64_t values[NET_PRIORITIES]);

SIM_C_END

#endif // NET_PORT_METRICS_H
