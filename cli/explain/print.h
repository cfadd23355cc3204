// SPDX-License-Identifier: Apache-2.0
// cli/explain/print.h - prints findings and the queue pairs behind them.
#ifndef CLI_EXPLAIN_PRINT_H
#define CLI_EXPLAIN_PRINT_H

#include "cli/explain/explain_internal.h"

// queue_pairs.c: the queue pairs behind a finding.
typedef struct explain_pair {
    uint32_t source; // interfaces, in the direction of the data
    uint32_t destination;
    uint32_t source_qp; // numbers; 0: not known
    uint32_t destination_qp;
    uint16_t source_port; // UDP
    uint32_t flows;
    uint64_t bytes;
    uint64_t retransmitted; // packets
} explain_pair_t;

void cli__explain_print_pairs(const explain_t *explain, const explain_finding_t *finding,
                              FILE *out);
json_t *cli__explain_pairs_json(const explain_t *explain, const explain_finding_t *finding);
// print.c
void cli__explain_print(const explain_t *explain, FILE *out);
json_t *cli__explain_json(const explain_t *explain);

#endif // CLI_EXPLAIN_PRINT_H
