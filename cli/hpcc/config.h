// SPDX-License-Identifier: Apache-2.0
// cli/hpcc/config.h - config files of the HPCC ns-3 simulator, read as its driver reads them.
//
// A config is a sequence of words: KEY value(s). A word that is no key is skipped. The last value
// of a repeated key counts; repeated tables (KMAX_MAP...) are merged. docs/formats/hpcc.md explains
// each key, also where the simulator's own documentation is wrong.
#ifndef CLI_HPCC_CONFIG_H
#define CLI_HPCC_CONFIG_H

#include "kernel/words.h"
#include "world/error.h"

// The valid values of CC_MODE, for messages.
#define CLI_HPCC_CC_MODES \
    "1 (DCQCN), 3 (HPCC), 7 (TIMELY), 8 (DCTCP), 10 (HPCC-PINT) or 12 (no control)"

typedef enum cli_hpcc_type {
    CLI_HPCC_FLAG,  // 0 is off, other numbers are on
    CLI_HPCC_COUNT, // whole number
    CLI_HPCC_REAL,  // decimal number, not negative
    CLI_HPCC_RATE,  // 50Mb/s, 100Gbps
    CLI_HPCC_NAME,  // file name
    CLI_HPCC_TABLE, // n, then n x (rate of a port, number)
    CLI_HPCC_DOWN,  // LINK_DOWN: time, node, node
    CLI_HPCC_UNUSED // read and ignored, as the driver does
} cli_hpcc_type_t;

// clang-format off
// name, type, value if absent (NULL: none)
#define CLI_HPCC_KEYS(X)                                       \
    X(ENABLE_QCN,                FLAG,   "1")                  \
    X(ENABLE_PFC,                FLAG,   "1")                  \
    X(USE_DYNAMIC_PFC_THRESHOLD, FLAG,   "1")                  \
    X(PAUSE_TIME,                COUNT,  "5")                  \
    X(DATA_RATE,                 UNUSED, NULL)                 \
    X(LINK_DELAY,                UNUSED, NULL)                 \
    X(PACKET_PAYLOAD_SIZE,       COUNT,  "1000")               \
    X(L2_CHUNK_SIZE,             COUNT,  "0")                  \
    X(L2_ACK_INTERVAL,           COUNT,  "0")                  \
    X(L2_BACK_TO_ZERO,           FLAG,   "0")                  \
    X(TOPOLOGY_FILE,             NAME,   NULL)                 \
    X(FLOW_FILE,                 NAME,   NULL)                 \
    X(TRACE_FILE,                NAME,   NULL)                 \
    X(TRACE_OUTPUT_FILE,         NAME,   NULL)                 \
    X(FCT_OUTPUT_FILE,           NAME,   "fct.txt")            \
    X(PFC_OUTPUT_FILE,           NAME,   "pfc.txt")            \
    X(SIMULATOR_STOP_TIME,       REAL,   "3.01")               \
    X(CC_MODE,                   COUNT,  "1")                  \
    X(ALPHA_RESUME_INTERVAL,     REAL,   "55")                 \
    X(RATE_DECREASE_INTERVAL,    REAL,   "4")                  \
    X(CLAMP_TARGET_RATE,         FLAG,   "0")                  \
    X(RP_TIMER,                  REAL,   NULL)                 \
    X(EWMA_GAIN,                 REAL,   NULL)                 \
    X(FAST_RECOVERY_TIMES,       COUNT,  "5")                  \
    X(RATE_AI,                   RATE,   NULL)                 \
    X(RATE_HAI,                  RATE,   NULL)                 \
    X(MIN_RATE,                  RATE,   "100Mb/s")            \
    X(DCTCP_RATE_AI,             RATE,   "1000Mb/s")           \
    X(ERROR_RATE_PER_LINK,       REAL,   "0")                  \
    X(HAS_WIN,                   FLAG,   "1")                  \
    X(GLOBAL_T,                  FLAG,   "1")                  \
    X(VAR_WIN,                   FLAG,   "0")                  \
    X(FAST_REACT,                FLAG,   "1")                  \
    X(U_TARGET,                  REAL,   "0.95")               \
    X(MI_THRESH,                 COUNT,  "5")                  \
    X(INT_MULTI,                 COUNT,  "1")                  \
    X(MULTI_RATE,                FLAG,   "1")                  \
    X(SAMPLE_FEEDBACK,           FLAG,   "0")                  \
    X(PINT_LOG_BASE,             REAL,   "1.05")               \
    X(PINT_PROB,                 REAL,   "1.0")                \
    X(RATE_BOUND,                FLAG,   "1")                  \
    X(ACK_HIGH_PRIO,             FLAG,   "0")                  \
    X(LINK_DOWN,                 DOWN,   NULL)                 \
    X(ENABLE_TRACE,              FLAG,   "1")                  \
    X(KMAX_MAP,                  TABLE,  NULL)                 \
    X(KMIN_MAP,                  TABLE,  NULL)                 \
    X(PMAX_MAP,                  TABLE,  NULL)                 \
    X(BUFFER_SIZE,               COUNT,  "16")                 \
    X(QLEN_MON_FILE,             NAME,   NULL)                 \
    X(QLEN_MON_START,            COUNT,  "2000000000")         \
    X(QLEN_MON_END,              COUNT,  "2100000000")         \
    X(BW_MON_FILE,               NAME,   NULL)                 \
    X(RATE_MON_FILE,             NAME,   NULL)                 \
    X(CNP_MON_FILE,              NAME,   NULL)                 \
    X(MON_START,                 COUNT,  "0")                  \
    X(MON_END,                   COUNT,  "2100000000")         \
    X(QP_MON_INTERVAL,           COUNT,  "100")                \
    X(BW_MON_INTERVAL,           COUNT,  "10000")              \
    X(QLEN_MON_INTERVAL,         COUNT,  "10000")              \
    X(STOP_WHEN_DONE,            FLAG,   "0")                  \
    X(LB_MODE,                   COUNT,  "0")                  \
    X(ENABLE_IRN,                FLAG,   "0")
// clang-format on

typedef enum cli_hpcc_key {
#define CLI_HPCC_ENUM(name, type, absent) CLI_HPCC_##name,
    CLI_HPCC_KEYS(CLI_HPCC_ENUM)
#undef CLI_HPCC_ENUM
        CLI_HPCC_KEY_COUNT
} cli_hpcc_key_t;

typedef struct cli_hpcc_value {
    bool given;          // the file has this key
    bool has;            // there is a value, from the file or the driver's default
    world_place_t place; // place of the value, or of the file if the key is absent
    uint64_t number;     // FLAG, COUNT; RATE in bit/s
    char *text;          // REAL as a plain decimal, NAME; NULL otherwise
    char *wrong;         // why the value is refused, unless --set stands over it; NULL: it is not
    unsigned uses;       // attributes that the key sets
    unsigned replaced;   // how many of these --set sets
} cli_hpcc_value_t;

// One row of a table of values by port rate.
typedef struct cli_hpcc_row {
    uint64_t rate_bps;
    sim_ratio_t number;
    world_place_t place;
} cli_hpcc_row_t;
typedef struct cli_hpcc_table {
    cli_hpcc_row_t *rows;
    size_t count;
    size_t capacity;
} cli_hpcc_table_t;

typedef struct cli_hpcc_config {
    char *file_name;
    cli_hpcc_value_t values[CLI_HPCC_KEY_COUNT];
    cli_hpcc_table_t kmax; // thousands of bytes
    cli_hpcc_table_t kmin;
    cli_hpcc_table_t pmax;
    uint64_t down_us; // 0: no link goes down
    uint64_t down_a;
    uint64_t down_b;
    char **unknown; // words that look like keys and are none, in order, each once
    size_t unknown_count;
    size_t unknown_capacity;
    world_place_t unknown_place; // place of the first unknown key
} cli_hpcc_config_t;

// Reads a config file. Values that are refused are kept with their messages; cli_hpcc_config_check
// returns the first one. Free the config with cli_hpcc_config_destroy.
SIM_MUST_CHECK sim_err_t cli_hpcc_config_load(const char *file_name, cli_hpcc_config_t **config,
                                              world_error_t *error);
// Parses `size` bytes in memory as a config; file_name stands in messages only.
cli_hpcc_config_t *cli_hpcc_config_parse(const char *file_name, const char *bytes, size_t size);
// Fails at the first value that is refused and whose attributes --set does not all replace. A
// message begins with "FILE:LINE:COLUMN: ".
SIM_MUST_CHECK sim_err_t cli_hpcc_config_check(const cli_hpcc_config_t *config,
                                               world_error_t *error);
void cli_hpcc_config_destroy(cli_hpcc_config_t *config);

const char *cli_hpcc_key_name(cli_hpcc_key_t key);

static inline uint64_t cli_hpcc_number(const cli_hpcc_config_t *config, cli_hpcc_key_t key)
{
    SIM_CHECK(config->values[key].has);
    return config->values[key].number;
}

// Returns the text of a key's value, or NULL if there is none.
static inline const char *cli_hpcc_text(const cli_hpcc_config_t *config, cli_hpcc_key_t key)
{
    return config->values[key].text;
}

// Returns the row for a port's rate, or NULL if the table has none.
const cli_hpcc_row_t *cli_hpcc_find(const cli_hpcc_table_t *table, uint64_t rate_bps);

#endif // CLI_HPCC_CONFIG_H
