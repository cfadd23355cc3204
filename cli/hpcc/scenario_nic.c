// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/scenario_nic.c - makes the scenario's hosts of a config of the HPCC ns-3 simulator:
// packets, windows, congestion control.
#include "cli/hpcc/hpcc.h"
#include "cli/hpcc/scenario_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_time(const cli__maker_t *maker, const char *path, cli_hpcc_key_t key)
{
    cli__maker_key(maker, path, key, "%sus", cli_hpcc_text(maker->config, key));
}

// A row: the attribute that takes the value of a key.
typedef struct row {
    const char *path;
    void (*put)(const cli__maker_t *maker, const char *path, cli_hpcc_key_t key);
    cli_hpcc_key_t key;
} row_t;

// Puts the values of keys. A key without a value is left out where --set gives one, or another
// algorithm, and where nothing marks and `marks` says that only marks make use of it.
static sim_err_t put_rows(const cli__maker_t *maker, const row_t *rows, size_t count, bool marks,
                          world_error_t *error)
{
    const bool unused = (marks && !cli__maker_on(maker, CLI_HPCC_ENABLE_QCN)) ||
                        cli__maker_replaced(maker, "nic.congestion-control");
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < count && result == SIM_OK; i++) {
        const cli_hpcc_value_t *const value = &maker->config->values[rows[i].key];
        const bool replaced = cli__maker_replaced(maker, rows[i].path);
        if (!value->has && value->wrong == NULL && (unused || replaced)) {
            continue;
        }
        result = replaced ? SIM_OK : cli__maker_need(maker, rows[i].key, error);
        if (result == SIM_OK) {
            rows[i].put(maker, rows[i].path, rows[i].key);
        }
    }
    return result;
}

// The rows for DCQCN in the simulator's own form.
static const row_t dcqcn_compat_rows[] = {
    {"nic.dcqcn-hpcc.alpha-period", put_time, CLI_HPCC_ALPHA_RESUME_INTERVAL},
    {"nic.dcqcn-hpcc.cut-period", put_time, CLI_HPCC_RATE_DECREASE_INTERVAL},
    {"nic.dcqcn-hpcc.increase-period", put_time, CLI_HPCC_RP_TIMER},
    {"nic.dcqcn-hpcc.gain", cli__maker_text, CLI_HPCC_EWMA_GAIN},
    {"nic.dcqcn-hpcc.fast-recovery", cli__maker_count, CLI_HPCC_FAST_RECOVERY_TIMES},
    {"nic.dcqcn-hpcc.additive-rate", cli__maker_rate, CLI_HPCC_RATE_AI},
    {"nic.dcqcn-hpcc.hyper-rate", cli__maker_rate, CLI_HPCC_RATE_HAI},
    {"nic.dcqcn-hpcc.min-rate", cli__maker_rate, CLI_HPCC_MIN_RATE},
    {"nic.dcqcn-hpcc.clamp-target", cli__maker_flag, CLI_HPCC_CLAMP_TARGET_RATE},
};

static sim_err_t put_dcqcn_compat(const cli__maker_t *maker, world_error_t *error)
{
    cli__maker_key(maker, "nic.congestion-control", CLI_HPCC_CC_MODE, "dcqcn-hpcc");
    const sim_err_t result =
        put_rows(maker, dcqcn_compat_rows, SIM_COUNT_OF(dcqcn_compat_rows), true, error);
    cli__maker_key(maker, "nic.dcqcn-hpcc.scaled-window", CLI_HPCC_VAR_WIN, "%s",
                   cli__maker_bool(cli__maker_on(maker, CLI_HPCC_HAS_WIN) &&
                                   cli__maker_on(maker, CLI_HPCC_VAR_WIN)));
    return result;
}

// Sets the window of algorithms without a window of their own: one BDP, constant or in proportion
// to the sending rate.
static void put_bdp_window(const cli__maker_t *maker)
{
    cli__maker_key(maker, "nic.bdp-window", CLI_HPCC_HAS_WIN,
                   !cli__maker_on(maker, CLI_HPCC_HAS_WIN)  ? "none"
                   : cli__maker_on(maker, CLI_HPCC_VAR_WIN) ? "scaled"
                                                            : "fixed");
}

// The gain of DCQCN's specification: 1024 x (1 - g).
static void put_gain(const cli__maker_t *maker, const char *path, cli_hpcc_key_t key)
{
    const double gain = strtod(cli_hpcc_text(maker->config, key), NULL);
    cli__maker_key(maker, path, key, "%d", gain < 1.0 ? (int)(1024.0 * (1.0 - gain) + 0.5) : 0);
}

static const row_t dcqcn_rows[] = {
    {"nic.dcqcn.dce-tcp-rtt", put_time, CLI_HPCC_ALPHA_RESUME_INTERVAL},
    {"nic.dcqcn.rate-reduce-monitor-period", put_time, CLI_HPCC_RATE_DECREASE_INTERVAL},
    {"nic.dcqcn.rpg-time-reset", put_time, CLI_HPCC_RP_TIMER},
    {"nic.dcqcn.rpg-ai-rate", cli__maker_rate, CLI_HPCC_RATE_AI},
    {"nic.dcqcn.rpg-hai-rate", cli__maker_rate, CLI_HPCC_RATE_HAI},
    {"nic.dcqcn.rpg-min-rate", cli__maker_rate, CLI_HPCC_MIN_RATE},
    {"nic.dcqcn.rpg-threshold", cli__maker_count, CLI_HPCC_FAST_RECOVERY_TIMES},
    {"nic.dcqcn.clamp-tgt-rate", cli__maker_flag, CLI_HPCC_CLAMP_TARGET_RATE},
    {"nic.dcqcn.dce-tcp-g", put_gain, CLI_HPCC_EWMA_GAIN},
};

static sim_err_t put_dcqcn(const cli__maker_t *maker, world_error_t *error)
{
    if (maker->hpcc->compat) {
        const sim_err_t result = put_dcqcn_compat(maker, error);
        if (!cli__maker_on(maker, CLI_HPCC_GLOBAL_T)) {
            put_bdp_window(maker); // each pair of hosts has its own BDP
        }
        return result;
    }
    cli__maker_key(maker, "nic.congestion-control", CLI_HPCC_CC_MODE, "dcqcn");
    cli__maker_fixed(maker, "nic.dcqcn.feedback", "ack"); // CC_MODE 1 reacts to marked ACKs
    const sim_err_t result = put_rows(maker, dcqcn_rows, SIM_COUNT_OF(dcqcn_rows), true, error);
    cli__maker_fixed(maker, "nic.dcqcn.rpg-byte-reset", "0");
    cli__maker_fixed(maker, "nic.dcqcn.initial-alpha-value", "1024");
    put_bdp_window(maker);
    return result;
}

// Sets the parameters of HPCC's law, which CC_MODE 3 and 10 share; prefix is "nic.hpcc" or
// "nic.hpcc-pint".
static sim_err_t put_hpcc_law(const cli__maker_t *maker, const char *prefix, world_error_t *error)
{
    const char *const limit = !cli__maker_on(maker, CLI_HPCC_HAS_WIN)  ? "none"
                              : cli__maker_on(maker, CLI_HPCC_VAR_WIN) ? "scaled"
                                                                       : "fixed";
    // The simulator's PINT reacts to each ACK, whatever FAST_REACT says.
    const bool pint = maker->hpcc->compat && strcmp(prefix, "nic.hpcc-pint") == 0;
    const char *const reaction =
        pint || cli__maker_on(maker, CLI_HPCC_FAST_REACT) ? "reference" : "per-rtt-only";
    char path[64];
#define PATH(name) (snprintf(path, sizeof(path), "%s." name, prefix), path)
    cli__maker_fixed(maker, PATH("law"), "rate");
    cli__maker_key(maker, PATH("reaction"), CLI_HPCC_FAST_REACT, "%s", reaction);
    cli__maker_key(maker, PATH("limit"), CLI_HPCC_HAS_WIN, "%s", limit);
    cli__maker_text(maker, PATH("eta"), CLI_HPCC_U_TARGET);
    cli__maker_count(maker, PATH("max-stage"), CLI_HPCC_MI_THRESH);
    const row_t increase = {PATH("rate-ai"), cli__maker_rate, CLI_HPCC_RATE_AI};
    const sim_err_t result = put_rows(maker, &increase, 1, false, error);
    cli__maker_rate(maker, PATH("min-rate"), CLI_HPCC_MIN_RATE);
#undef PATH
    return result;
}

static sim_err_t put_hpcc(const cli__maker_t *maker, world_error_t *error)
{
    cli__maker_key(maker, "nic.congestion-control", CLI_HPCC_CC_MODE, "hpcc");
    cli__maker_flag(maker, "nic.hpcc.multi-rate", CLI_HPCC_MULTI_RATE);
    if (maker->hpcc->compat) {
        cli__maker_fixed(maker, "nic.hpcc.check-path", "false");
    }
    cli__maker_flag(maker, "nic.hpcc.sample-feedback", CLI_HPCC_SAMPLE_FEEDBACK);
    cli__maker_count(maker, "network.int-multiplier", CLI_HPCC_INT_MULTI);
    return put_hpcc_law(maker, "nic.hpcc", error);
}

static sim_err_t put_hpcc_pint(const cli__maker_t *maker, world_error_t *error)
{
    cli__maker_key(maker, "nic.congestion-control", CLI_HPCC_CC_MODE, "hpcc-pint");
    cli__maker_text(maker, "nic.hpcc-pint.probability", CLI_HPCC_PINT_PROB);
    cli__maker_text(maker, "network.pint-base", CLI_HPCC_PINT_LOG_BASE);
    cli__maker_key(maker, "network.pint-rtt", CLI_HPCC_TOPOLOGY_FILE, "%" PRIu64 "ns",
                   maker->hpcc->rtt_ns_max);
    return put_hpcc_law(maker, "nic.hpcc-pint", error);
}

// The rows for TIMELY in the simulator's form (compat) and in ours.
static const row_t timely_compat_rows[] = {
    {"nic.timely-hpcc.additive-rate", cli__maker_rate, CLI_HPCC_RATE_AI},
    {"nic.timely-hpcc.hyper-rate", cli__maker_rate, CLI_HPCC_RATE_HAI},
    {"nic.timely-hpcc.min-rate", cli__maker_rate, CLI_HPCC_MIN_RATE},
};
static const row_t timely_rows[] = {
    {"nic.timely.ai-rate", cli__maker_rate, CLI_HPCC_RATE_AI},
    {"nic.timely.hai-rate", cli__maker_rate, CLI_HPCC_RATE_HAI},
    {"nic.timely.min-rate", cli__maker_rate, CLI_HPCC_MIN_RATE},
};

static sim_err_t put_timely(const cli__maker_t *maker, world_error_t *error)
{
    put_bdp_window(maker);
    if (maker->hpcc->compat) {
        cli__maker_key(maker, "nic.congestion-control", CLI_HPCC_CC_MODE, "timely-hpcc");
        return put_rows(maker, timely_compat_rows, SIM_COUNT_OF(timely_compat_rows), false, error);
    }
    cli__maker_key(maker, "nic.congestion-control", CLI_HPCC_CC_MODE, "timely");
    cli__maker_key(maker, "nic.timely.update", CLI_HPCC_CC_MODE, "rtt");
    cli__maker_key(maker, "nic.timely.burst", CLI_HPCC_CC_MODE, "false");
    cli__maker_key(maker, "nic.timely.start", CLI_HPCC_CC_MODE, "line");
    cli__maker_key(maker, "nic.timely.exclude-serialisation", CLI_HPCC_CC_MODE, "false");
    return put_rows(maker, timely_rows, SIM_COUNT_OF(timely_rows), false, error);
}

static const row_t dctcp_compat_rows[] = {
    {"nic.dctcp-hpcc.gain", cli__maker_text, CLI_HPCC_EWMA_GAIN},
    {"nic.dctcp-hpcc.additive-rate", cli__maker_rate, CLI_HPCC_DCTCP_RATE_AI},
    {"nic.dctcp-hpcc.min-rate", cli__maker_rate, CLI_HPCC_MIN_RATE},
};
static const row_t dctcp_rows[] = {
    {"nic.dctcp.g", cli__maker_text, CLI_HPCC_EWMA_GAIN},
    {"nic.dctcp.ai-rate", cli__maker_rate, CLI_HPCC_DCTCP_RATE_AI},
    {"nic.dctcp.min-rate", cli__maker_rate, CLI_HPCC_MIN_RATE},
};

static sim_err_t put_dctcp(const cli__maker_t *maker, world_error_t *error)
{
    put_bdp_window(maker);
    if (maker->hpcc->compat) {
        cli__maker_key(maker, "nic.congestion-control", CLI_HPCC_CC_MODE, "dctcp-hpcc");
        return put_rows(maker, dctcp_compat_rows, SIM_COUNT_OF(dctcp_compat_rows), true, error);
    }
    cli__maker_key(maker, "nic.congestion-control", CLI_HPCC_CC_MODE, "dctcp");
    return put_rows(maker, dctcp_rows, SIM_COUNT_OF(dctcp_rows), true, error);
}

// The simulator has no rule for this mode, so its senders keep the rate of their link, as ASTRA-sim
// uses it.
static sim_err_t put_none(const cli__maker_t *maker, world_error_t *error)
{
    (void)error;
    cli__maker_key(maker, "nic.congestion-control", CLI_HPCC_CC_MODE, "none");
    if (!cli__maker_on(maker, CLI_HPCC_GLOBAL_T)) {
        put_bdp_window(maker);
    }
    return SIM_OK;
}

static sim_err_t put_algorithm(const cli__maker_t *maker, world_error_t *error)
{
    static const struct {
        uint64_t mode;
        sim_err_t (*put)(const cli__maker_t *maker, world_error_t *error);
    } modes[] = {
        {1, put_dcqcn}, {3, put_hpcc},       {7, put_timely},
        {8, put_dctcp}, {10, put_hpcc_pint}, {12, put_none},
    };
    const uint64_t mode = cli_hpcc_number(maker->config, CLI_HPCC_CC_MODE);
    for (size_t i = 0; i < SIM_COUNT_OF(modes); i++) {
        if (modes[i].mode == mode) {
            return modes[i].put(maker, error);
        }
    }
    if (cli__maker_replaced(maker, "nic.congestion-control")) {
        return SIM_OK;
    }
    return world_fail(error, SIM_ERR_UNKNOWN, &maker->config->values[CLI_HPCC_CC_MODE].place,
                      "CC_MODE %" PRIu64 ", expected " CLI_HPCC_CC_MODES, mode);
}

sim_err_t cli__maker_nic(const cli__maker_t *maker, world_error_t *error)
{
    const cli_hpcc_config_t *const config = maker->config;
    const uint64_t payload = cli_hpcc_number(config, CLI_HPCC_PACKET_PAYLOAD_SIZE);
    uint64_t mtu = 256;
    while (mtu < payload && mtu < 4096) {
        mtu *= 2;
    }
    cli__maker_key(maker, "nic.mtu", CLI_HPCC_PACKET_PAYLOAD_SIZE, "%" PRIu64,
                   maker->hpcc->compat ? payload : mtu);
    if (payload > ROCE_MTU_STANDARD_MAX) {
        cli_hpcc_note(maker->hpcc, &config->values[CLI_HPCC_PACKET_PAYLOAD_SIZE].place,
                      "a payload of %" PRIu64 " bytes is in jumbo frames: the standard of RoCE has "
                      "path MTUs up to 4096%s",
                      payload, maker->hpcc->compat ? "" : ", which compat=off uses");
    }
    cli__maker_flag(maker, "nic.scan.rate-bound", CLI_HPCC_RATE_BOUND);
    if (maker->hpcc->compat && cli_hpcc_number(config, CLI_HPCC_L2_ACK_INTERVAL) > 1) {
        cli__maker_count(maker, "nic.ack-from", CLI_HPCC_L2_ACK_INTERVAL);
        cli__maker_count(maker, "nic.ack-chunk", CLI_HPCC_L2_CHUNK_SIZE);
    }
    if (cli__maker_on(maker, CLI_HPCC_ENABLE_IRN)) {
        cli__maker_key(maker, "nic.transport", CLI_HPCC_ENABLE_IRN, "irn");
    }
    if (cli__maker_on(maker, CLI_HPCC_L2_BACK_TO_ZERO)) {
        cli__maker_key(maker, "nic.retransmission", CLI_HPCC_L2_BACK_TO_ZERO, "go-back-0");
        cli__maker_count(maker, "nic.retransmission-chunk", CLI_HPCC_L2_CHUNK_SIZE);
    }
    const uint64_t mode = cli_hpcc_number(config, CLI_HPCC_CC_MODE);
    const bool own = mode == 7 || mode == 8 || (mode == 1 && !maker->hpcc->compat); // bdp-window
    if (cli__maker_on(maker, CLI_HPCC_HAS_WIN) && cli__maker_on(maker, CLI_HPCC_GLOBAL_T) && !own) {
        cli__maker_key(maker, "nic.window", CLI_HPCC_HAS_WIN, "%" PRIu64,
                       maker->hpcc->bdp_bytes_max);
    }
    if (mode == 3 && maker->hpcc->compat && !cli__maker_on(maker, CLI_HPCC_HAS_WIN)) {
        cli__maker_key(maker, "nic.bdp", CLI_HPCC_HAS_WIN, "0"); // HPCC divides by the window
    } else if (cli__maker_on(maker, CLI_HPCC_GLOBAL_T)) {
        cli__maker_key(maker, "nic.bdp", CLI_HPCC_GLOBAL_T, "%" PRIu64, maker->hpcc->bdp_bytes_max);
    }
    if (cli__maker_on(maker, CLI_HPCC_GLOBAL_T)) {
        cli__maker_key(maker, "nic.base-rtt", CLI_HPCC_GLOBAL_T, "%" PRIu64 "ns",
                       maker->hpcc->rtt_ns_max);
    }
    return put_algorithm(maker, error);
}
