// SPDX-License-Identifier: Apache-2.0
// kernel/attribute.h - tables of parameters: each one described once, in the part that has it.
//
// A table describes the fields of a config struct: path, type, range, default, one line of help.
// Scenario files, --set PATH=VALUE, `rocesim params` and the reference page in docs/ all follow
// from these tables. Defaults exist nowhere else: sim_attrs_default fills a struct.
#ifndef KERNEL_ATTRIBUTE_H
#define KERNEL_ATTRIBUTE_H

#include "kernel/base.h"
#include "kernel/random.h"

SIM_C_BEGIN

// clang-format off
typedef enum sim_attr_type {   // field type    written as
    SIM_ATTR_BOOL,             // bool          true, false, on, off
    SIM_ATTR_COUNT,            // uint64_t      12, 4096
    SIM_ATTR_BYTES,            // uint64_t      64KB (1000), 64KiB (1024), 9MB, 100 (bytes)
    SIM_ATTR_TIME,             // sim_time_t    1us, 0.5ns, 20ms, 300ps, 2s; never
    SIM_ATTR_RATE,             // uint64_t      100Gbps, 2.5Gbps, 40Mbps (bit/s)
    SIM_ATTR_RATIO,            // sim_ratio_t   0.2, 1/8, 20%
    SIM_ATTR_ENUM,             // an enum       one of choices, stored as its index (32 bits)
    SIM_ATTR_STRING,           // char *        owned by the struct (sim_free)
    SIM_ATTR_PRIORITIES,       // uint8_t       [3, 4] or 3 or []: a bit per priority 0..7
    SIM_ATTR_WEIGHTS,          // uint32_t[8]   [1, 1, 1, 4, 1, 1, 1, 1] or one for all
    SIM_ATTR_NAME,             // sim_name_t    of a row of a table that programs may add to
    SIM_ATTR_PROFILES,         // sim_profiles_t [25Gbps 100KB 400KB 0.2, ...] or []
} sim_attr_type_t;
// clang-format on

// The value of a COUNT, BYTES, TIME or RATE that is left to the program. Accepted where the table
// says auto_ok. A RATIO that is left to the program has the denominator 0.
#define SIM_AUTO (UINT64_MAX - 1)

// Returns whether a RATIO is left to the program.
static inline bool sim_ratio_is_auto(sim_ratio_t ratio)
{
    return ratio.den == 0;
}

// A name in kebab-case, held by value, so that a config with names can be copied by assignment.
#define SIM_NAME_MAX 31u
typedef struct sim_name {
    char text[SIM_NAME_MAX + 1];
} sim_name_t;

// A setting that depends on the rate of a link, but not in proportion to it: two sizes and a
// probability for each of several rates. Rates differ, low_bytes <= high_bytes, probability <= 1.
#define SIM_PROFILES_MAX 8u
typedef struct sim_profile {
    uint64_t rate_bps;
    uint64_t low_bytes;
    uint64_t high_bytes;
    sim_ratio_t probability;
} sim_profile_t;
typedef struct sim_profiles {
    uint64_t count;
    sim_profile_t rows[SIM_PROFILES_MAX];
} sim_profiles_t;

typedef struct sim_attr {
    const char *path; // dotted, kebab-case: "switch.ecn.kmin"
    sim_attr_type_t type;
    bool auto_ok; // "auto" is accepted and stored as SIM_AUTO, or as a denominator 0
    size_t offset;
    const char *default_text; // in the user's words; parsed like input
    const char *min_text;     // inclusive; NULL: none. Same syntax as values.
    const char *max_text;
    const char *not_above; // path of an attribute of the table that must not be smaller; NULL: none
    const char *choices;   // ENUM: "strict|dwrr", in the order of the C enum
    const char *help;      // one line, ends without a full stop
} sim_attr_t;

// A row of a table of attributes: its path, its type without SIM_ATTR_, the config struct and the
// field there, then the other members by name. .default_text and .help are always given:
//
//     SIM_ATTR("switch.buffer", BYTES, net_switch_config_t, buffer_bytes,
//              .default_text = "32MB", .min_text = "1KB", .max_text = "64GB",
//              .help = "packet memory of the whole switch, shared by its ports"),
//
// A field whose size is not that of the type does not compile.
#define SIM_ATTR(path_, type_, config_, member_, ...)                                            \
    {                                                                                            \
        .path = path_, .type = SIM_ATTR_##type_,                                                 \
        .offset = offsetof(config_, member_) + SIM__ATTR_FITS(sizeof(((config_ *)0)->member_) == \
                                                              sizeof(SIM__ATTR_FIELD_##type_)),  \
        __VA_ARGS__                                                                              \
    }
// The row of a wide table, with one row a line. Values stand in the order of columns, which depend
// on the type:
//
//     #define ATTR(...) SIM_ATTR_ROW(net_switch_config_t, __VA_ARGS__)
//     ATTR(BYTES, "switch.buffer", buffer_bytes, "32MB", "1KB", "64GB", "memory of a switch"),
//
// COUNT, BYTES, TIME, RATE, RATIO: default, smallest, largest (NULL: no limit) and help.
// ENUM: default, choices and help. All others: default and help. Rarer members follow by name.
#define SIM_ATTR_ROW(config_, type_, path_, member_, ...) \
    SIM_ATTR(path_, type_, config_, member_, SIM__ATTR_COLUMNS_##type_(__VA_ARGS__, ))
#define SIM__ATTR_IN_RANGE(default_, min_, max_, help_, ...) \
    .default_text = default_, .min_text = min_, .max_text = max_, .help = help_, __VA_ARGS__
#define SIM__ATTR_PLAIN(default_, help_, ...) .default_text = default_, .help = help_, __VA_ARGS__
#define SIM__ATTR_COLUMNS_COUNT SIM__ATTR_IN_RANGE
#define SIM__ATTR_COLUMNS_BYTES SIM__ATTR_IN_RANGE
#define SIM__ATTR_COLUMNS_TIME SIM__ATTR_IN_RANGE
#define SIM__ATTR_COLUMNS_RATE SIM__ATTR_IN_RANGE
#define SIM__ATTR_COLUMNS_RATIO SIM__ATTR_IN_RANGE
#define SIM__ATTR_COLUMNS_ENUM(default_, choices_, help_, ...) \
    .default_text = default_, .choices = choices_, .help = help_, __VA_ARGS__
#define SIM__ATTR_COLUMNS_BOOL SIM__ATTR_PLAIN
#define SIM__ATTR_COLUMNS_STRING SIM__ATTR_PLAIN
#define SIM__ATTR_COLUMNS_PRIORITIES SIM__ATTR_PLAIN
#define SIM__ATTR_COLUMNS_WEIGHTS SIM__ATTR_PLAIN
#define SIM__ATTR_COLUMNS_NAME SIM__ATTR_PLAIN
#define SIM__ATTR_COLUMNS_PROFILES SIM__ATTR_PLAIN
// 0; does not compile where the condition is false.
#define SIM__ATTR_FITS(condition) (0 * sizeof(char[(condition) ? 1 : -1]))
// The type of the field behind each type of attribute.
#define SIM__ATTR_FIELD_BOOL bool
#define SIM__ATTR_FIELD_COUNT uint64_t
#define SIM__ATTR_FIELD_BYTES uint64_t
#define SIM__ATTR_FIELD_TIME sim_time_t
#define SIM__ATTR_FIELD_RATE uint64_t
#define SIM__ATTR_FIELD_RATIO sim_ratio_t
#define SIM__ATTR_FIELD_ENUM uint32_t
#define SIM__ATTR_FIELD_STRING char *
#define SIM__ATTR_FIELD_PRIORITIES uint8_t
#define SIM__ATTR_FIELD_WEIGHTS uint32_t[8]
#define SIM__ATTR_FIELD_NAME sim_name_t
#define SIM__ATTR_FIELD_PROFILES sim_profiles_t

// The attributes of one config struct.
typedef struct sim_attr_table {
    const char *prefix; // "switch": every path begins with it and a dot
    const char *scope;  // "simulation", "node", "application": who can have a value of its own
    size_t config_bytes;
    const sim_attr_t *attrs;
    size_t count;
} sim_attr_table_t;
#define SIM_ATTR_TABLE(prefix_, scope_, config_, rows_)                                            \
    {                                                                                              \
        .prefix = (prefix_), .scope = (scope_), .config_bytes = sizeof(config_), .attrs = (rows_), \
        .count = SIM_COUNT_OF(rows_)                                                               \
    }

// Fills config with the defaults. Allocates its strings; free them with sim_attrs_fini.
void sim_attrs_default(const sim_attr_table_t *table, void *config);
// Frees the strings of config, not config.
void sim_attrs_fini(const sim_attr_table_t *table, void *config);
// Copies a config struct, strings included, into uninitialised memory; free with sim_attrs_fini.
void sim_attrs_copy(const sim_attr_table_t *table, void *to, const void *from);

// Returns whether two config structs are equal, strings by their text. Bytes that belong to no
// attribute count too, but for `ignored_bytes` at the offset `ignored`: such padding may make equal
// configs differ, never the other way round.
bool sim_attrs_equal(const sim_attr_table_t *table, const void *a, const void *b, size_t ignored,
                     size_t ignored_bytes);

// Returns the attribute with that full path, or NULL.
const sim_attr_t *sim_attr_find(const sim_attr_table_t *table, const char *path);

// Parses text (a scalar, or "[a, b]" for lists) into the field. On error the field is unchanged and
// message says what was expected, with the unit and the range.
SIM_MUST_CHECK sim_err_t sim_attr_set(const sim_attr_t *attr, void *config, const char *text,
                                      sim_message_t *message);
// Checks the rows' not_above. Values that are auto or never, or a limit of 0 where that is the
// default, are no contradiction. SIM_ERR_RANGE: the message begins with the larger one's path.
SIM_MUST_CHECK sim_err_t sim_attrs_check(const sim_attr_table_t *table, const void *config,
                                         sim_message_t *message);
// Returns the value in the syntax of sim_attr_set, which reads it back exactly; free with sim_free.
char *sim_attr_get(const sim_attr_t *attr, const void *config);

// Returns the name nearest to text, for "did you mean": at most a third of its length away by
// Damerau-Levenshtein distance. NULL: none is that near. The first of several equally near.
const char *sim_nearest_name(const char *text, const char *const *names, size_t count);

SIM_C_END

#endif // KERNEL_ATTRIBUTE_H
