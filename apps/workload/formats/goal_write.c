// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/goal_write.c - writes GOAL schedules as text.
//
// The orders of a rank stand behind its operations, in the order in which the binary lists them:
// the text then has the same binary.
#include "apps/workload/formats/goal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_number(FILE *out, const char *word, uint32_t number)
{
    if (number == APP__ANY) {
        (void)fprintf(out, " %s -1", word);
    } else if (number != 0) {
        (void)fprintf(out, " %s %" PRIu32, word, number);
    }
}

static void write_op(FILE *out, uint32_t number, const app__rank_ops_t *ops)
{
    const app__op_t *const op = &ops->ops[number];
    const uint32_t peer = app__peer_of(ops, op);
    (void)fprintf(out, "l%" PRIu32 ": ", number + 1);
    if (op->type == APP__OP_CALC) {
        (void)fprintf(out, "calc %" PRIu64, op->size);
        write_number(out, "cpu", op->cpu);
    } else {
        const bool sends = op->type == APP__OP_SEND;
        (void)fprintf(out, "%s %" PRIu64 "b %s ", sends ? "send" : "recv", op->size,
                      sends ? "to" : "from");
        (void)(peer == APP__ANY ? fputs("-1", out) : fprintf(out, "%" PRIu32, peer));
        write_number(out, "tag", op->tag);
        write_number(out, "cpu", op->cpu);
        write_number(out, "nic", op->nic);
    }
    (void)fputc('\n', out);
}

static void write_orders(FILE *out, const app__rank_ops_t *ops)
{
    for (uint32_t i = 0; i < ops->count; i++) {
        const app__op_t *const op = &ops->ops[i];
        for (uint32_t k = 0; k < op->required_count; k++) {
            const uint32_t after = ops->next[op->required_first + k];
            (void)fprintf(out, "l%" PRIu32 " requires l%" PRIu32 "\n", after + 1, i + 1);
        }
        for (uint32_t k = 0; k < op->irequired_count; k++) {
            const uint32_t after = ops->next[op->irequired_first + k];
            (void)fprintf(out, "l%" PRIu32 " irequires l%" PRIu32 "\n", after + 1, i + 1);
        }
    }
}

void app__goal_write_text(const app__schedule_t *schedule, char **text, size_t *size_bytes)
{
    char *made = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&made, &size);
    SIM_CHECK(out != NULL && schedule->counts.colls == 0);
    (void)fprintf(out, "num_ranks %" PRIu32 "\n", schedule->rank_count);
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        (void)fprintf(out, "\nrank %" PRIu32 " {\n", r);
        for (uint32_t i = 0; i < schedule->ranks[r].count; i++) {
            write_op(out, i, &schedule->ranks[r]);
        }
        write_orders(out, &schedule->ranks[r]);
        (void)fputs("}\n", out);
    }
    if (fclose(out) != 0) {
        sim_out_of_memory(size, 1);
    }
    *text = sim_alloc(size + 1);
    memcpy(*text, made, size + 1);
    *size_bytes = size;
    free(made);
}
