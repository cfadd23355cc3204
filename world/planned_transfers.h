// SPDX-License-Identifier: Apache-2.0
// world/planned_transfers.h - an estimate of the planned transfers of a world: packets, time,
// classes by hop.
//
// It is made once, before the run, in one pass over the plans. It covers the transfers that
// applications plan, not programs that decide as they go (perftest, HERD, Mooncake...).
#ifndef WORLD_PLANNED_TRANSFERS_H
#define WORLD_PLANNED_TRANSFERS_H

#include <stdio.h>

#include "world/warnings.h"
#include "world/world.h"

SIM_C_BEGIN

#define WORLD_SURVEY_KINDS 8u

// Packets of one priority and DSCP, on all paths that transfers take.
typedef struct world_survey_kind {
    uint8_t priority;
    uint8_t dscp;
    bool cnp;           // CNPs, on the way back; else data, and the answers to it
    uint64_t transfers; // that send them
    uint8_t *classes;   // by uid of the port that transmits: a bit per class they are in there
    uint8_t *hops;      // by uid: which link of a path it is at least, from 1; 0: of none
} world_survey_kind_t;

// Estimated sizes of series and captures.
typedef struct world_observed {
    double metrics;       // paths of all series
    double rows;          // of series.csv at least, if it had no limit
    double rows_written;  // at most outputs.series-max
    double capture_bytes; // of files of captures, without filters
    double hop_rows;      // of hops.csv
    double memory_bytes;
    double wall_s; // to write the rows
} world_observed_t;

struct world_survey {
    world_observed_t observed;
    sim_time_t last_ps; // when the last transfer starts whose start is planned
    uint64_t transfers;
    uint64_t late; // start at or after the end of the run
    sim_time_t late_first_ps;
    uint64_t endless;   // take longer than a run can
    uint64_t untold;    // entries of traffic that plan no transfers
    double bytes;       // payload of those that start in time
    double packets;     // full of it
    double local;       // messages within hosts, besides
    double packet_hops; // of packets and their ACKs, as far as the links can carry them in the run
    double wall_s;      // on one thread
    double losses;      // of packets that links lose, to be expected
    bool lossy;         // some transfer's path has a link that loses packets
    double attempts;    // of a message with go-back-0 on a lossy path, on average: the most of all
    world_survey_kind_t kinds[WORLD_SURVEY_KINDS];
    size_t kind_count;
    uint64_t kinds_missed; // transfers of further kinds
};

// Surveys a world with applications, which keeps the result as world->survey. Free it with
// world_survey_destroy.
world_survey_t *world_survey_create(const world_t *world);
void world_survey_destroy(world_survey_t *survey);

// Prints the estimate as one line; nothing where no transfer is planned.
void world_survey_print(const world_t *world, FILE *out);
// Prints the estimate of series and captures as one line.
void world_observed_print(const world_t *world, FILE *out);

// Adds a warning for planned transfers that will not begin, and for those that cannot end.
void world_survey_warn(const world_t *world, world_warnings_t *warnings);

// Checks that the run will probably not take longer than time-max, and that its series and captures
// need no more memory than memory-max. SIM_ERR_RANGE: the error points at the traffic, or at what
// is observed, and prints the estimate.
SIM_MUST_CHECK sim_err_t world_survey_check(const world_t *world, world_error_t *error);

SIM_C_END

#endif // WORLD_PLANNED_TRANSFERS_H
