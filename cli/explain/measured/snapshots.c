// SPDX-License-Identifier: Apache-2.0
// cli/explain/measured/snapshots.c - reads counters as switches and hosts print them.
//
// A snapshot is a file or a folder of files, each the output of commands at one node, or of many:
// SONiC's `show pfc counters` and `show queue counters`, a dump of COUNTERS_DB (JSON), `ethtool
// -S`, `rdma statistic`, and OpenMetrics text. Forms are recognised line by line. docs/explain.md
#include "cli/explain/measured/counters_internal.h"

#include "world/control_characters.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX ((size_t)256 << 20)
#define NAME_MAX_BYTES 256u
#define TOKENS_MAX 24u

// The columns of a sample.
enum {
    COLUMN_FRAMES = 0,                  // by class
    COLUMN_DURATION = NET_PRIORITIES,   // by class
    COLUMN_SENT = 2 * NET_PRIORITIES,   // pause frames sent, by class
    COLUMN_QUEUES = 3 * NET_PRIORITIES, // bytes of queues 0 to 15
    COLUMN_BYTES = COLUMN_QUEUES + 16,  // bytes sent
    COLUMN_ERRORS,                      // damaged frames received
    COLUMN_DROPS_IN,                    // frames dropped on arrival
    COLUMN_DROPS_OUT,                   // frames dropped instead of being sent
    COLUMN_COUNT,
};

typedef enum form {
    FORM_NONE,
    FORM_PFC_RX,
    FORM_PFC_TX,
    FORM_QUEUES,
    FORM_INTERFACES,
    FORM_ETHTOOL
} form_t;

typedef struct reader {
    meter_t *meter;
    meter_value_t *values; // of this snapshot: by port and column
    bool *seen;            // by port
    form_t form;
    char node[NAME_MAX_BYTES]; // to which the lines belong; "": not known
    bool is_prompted;          // node is that of a prompt in this file
    char port[NAME_MAX_BYTES]; // of ethtool -S; "": not known
    double *cnps;              // by node: of this snapshot
} reader_t;

// -- values

static bool number_of(const char *text, meter_value_t *value)
{
    return cli__meter_parse(text, value) && !value->is_missing;
}

// Keeps a value of a port; the name of the port of a node with one link does not matter. Where the
// node is not known, a name that several nodes have is that of no port.
static void keep(const reader_t *reader, const char *node, const char *name, unsigned column,
                 const meter_value_t *value)
{
    meter_t *const meter = reader->meter;
    uint32_t found = EXPLAIN_NONE;
    uint32_t only = EXPLAIN_NONE;
    uint32_t count = 0;
    uint32_t named = 0;
    for (uint32_t i = 0; i < meter->port_count; i++) {
        const meter_port_t *const port = &meter->ports[i];
        const bool here = node[0] == '\0' || strcasecmp(meter->nodes[port->node].name, node) == 0;
        if (here && (strcmp(port->own, name) == 0 || strcmp(port->name, name) == 0)) {
            found = i;
            named++;
        }
        count += here && node[0] != '\0';
        only = here && node[0] != '\0' ? i : only;
    }
    found = named == 0 && count == 1 ? only : named == 1 ? found : EXPLAIN_NONE;
    if (found == EXPLAIN_NONE) {
        if (meter->unknown_ports++ == 0) {
            meter->unknown_port = sim_format("%s%s%s", node, node[0] != '\0' ? ":" : "", name);
        }
        return;
    }
    reader->values[(size_t)found * COLUMN_COUNT + column] = *value;
    reader->seen[found] = true;
}

// Returns the first place of a word in a name, in any case; NULL: it is not there.
static const char *find(const char *name, const char *word)
{
    const size_t size = strlen(word);
    for (const char *p = name; *p != '\0'; p++) {
        if (strncasecmp(p, word, size) == 0) {
            return p;
        }
    }
    return NULL;
}

// Returns the class in a counter's name: the digit behind prio, pfc, PFC_ or priority; -1: none.
static int class_in(const char *name)
{
    static const char *const words[] = {"priority", "prio", "pfc", "tc", "class"};
    for (size_t w = 0; w < SIM_COUNT_OF(words); w++) {
        for (const char *p = find(name, words[w]); p != NULL; p = find(p + 1, words[w])) {
            const char *digit = p + strlen(words[w]);
            digit += *digit == '_' || *digit == '-';
            if (*digit >= '0' && *digit <= '7' && !isdigit((unsigned char)digit[1])) {
                return *digit - '0';
            }
        }
    }
    return -1;
}

static bool has(const char *name, const char *word)
{
    return find(name, word) != NULL;
}

// Finds the column of damaged and dropped frames by the name of their counter.
static bool losses_of(const char *name, bool received, unsigned *column)
{
    static const char *const errors[] = {"crc_err",      "symbol_err",   "fcs_err",  "IF_IN_ERRORS",
                                         "receive_errs", "rx_error",     "rx_err",   "RX_ERR",
                                         "port_rcv_err", "symbol_error", "crc_error"};
    for (size_t i = 0; i < SIM_COUNT_OF(errors); i++) {
        if (has(name, errors[i])) {
            *column = COLUMN_ERRORS;
            return true;
        }
    }
    if (strcmp(name, "discards") == 0 || has(name, "_discards") || has(name, "receive_drop") ||
        has(name, "transmit_drop") || has(name, "IN_DROPPED_PKTS") ||
        has(name, "OUT_DROPPED_PKTS") || strcmp(name, "rx_dropped") == 0) {
        *column = received ? COLUMN_DROPS_IN : COLUMN_DROPS_OUT;
        return true;
    }
    return false;
}

// Finds the column of a counter by its name, with the class of a label or -1. Returns false if the
// counter says nothing about pauses and bytes.
static bool column_of(const char *name, int class_number, unsigned *column)
{
    const bool received = has(name, "rx") || has(name, "receive") || has(name, "_in_");
    const bool sent = has(name, "tx") || has(name, "transmit") || has(name, "_out_");
    const int class_here = class_in(name);
    const int class_of = class_number >= 0 ? class_number : class_here;
    const bool pause = has(name, "pause") || has(name, "pfc");
    if (pause && class_of >= 0 && class_of < (int)NET_PRIORITIES && received != sent &&
        !has(name, "transition") && !has(name, "resume") && !has(name, "on2off")) {
        const unsigned base = sent                    ? (unsigned)COLUMN_SENT
                              : has(name, "duration") ? (unsigned)COLUMN_DURATION
                                                      : (unsigned)COLUMN_FRAMES;
        *column = base + (unsigned)class_of;
        return !(sent && has(name, "duration"));
    }
    if (!pause && class_of < 0 && losses_of(name, received || has(name, "STAT_IN_"), column)) {
        return true;
    }
    if (!pause && class_of < 0 && sent && !received &&
        (strcmp(name, "tx_bytes") == 0 || has(name, "IF_OUT_OCTETS") ||
         has(name, "transmit_bytes") || has(name, "transmitted_bytes") || has(name, "tx_bytes") ||
         has(name, "transmitted_data"))) {
        *column = COLUMN_BYTES;
        return true;
    }
    return false;
}

// Takes a counter of a port. CNPs that a host sent belong to the host.
static void take(reader_t *reader, const char *node, const char *port, const char *name,
                 int class_number, const char *text)
{
    meter_value_t value;
    unsigned column = 0;
    if (!number_of(text, &value)) {
        return;
    }
    if (has(name, "np_cnp_sent")) {
        for (size_t n = 0; n < reader->meter->node_count; n++) {
            if (strcasecmp(reader->meter->nodes[n].name, node) == 0) {
                reader->cnps[n] += (double)value.whole;
            }
        }
    } else if (column_of(name, class_number, &column)) {
        keep(reader, node, port, column, &value);
    }
}

// -- lines

// Takes a prompt with a command: "admin@leaf1:~$ show pfc counters", "h0# ethtool -S eth0". A node
// that the topology lacks follows a known one: its counters are those of no port. Alone in a file,
// it may be a name that all switches have ("admin@sonic"), and the file's name counts.
static void take_prompt(reader_t *reader, const char *line)
{
    const size_t size = strcspn(line, "$#>");
    const char *const at = memchr(line, '@', size);
    const char *const begin = at != NULL ? at + 1 : line;
    const size_t length = strcspn(begin, ":$#> ~");
    if (line[size] == '\0' || line[0] == '#' || length == 0 || length >= NAME_MAX_BYTES ||
        strchr(line, '{') != NULL) {
        return;
    }
    bool known = false;
    for (size_t n = 0; n < reader->meter->node_count; n++) {
        const char *const name = reader->meter->nodes[n].name;
        if (strlen(name) == length && strncasecmp(name, begin, length) == 0) {
            (void)snprintf(reader->node, sizeof(reader->node), "%s", name);
            known = true;
        }
    }
    if (!known && at != NULL && reader->is_prompted) {
        (void)snprintf(reader->node, sizeof(reader->node), "%.*s", (int)length, begin);
    }
    reader->is_prompted = reader->is_prompted || known;
    const char *const ethtool = strstr(line + size, "ethtool -S ");
    if (ethtool != NULL) {
        (void)sscanf(ethtool, "ethtool -S %255s", reader->port);
    }
    reader->form = FORM_NONE;
}

static size_t split(char *line, char *tokens[TOKENS_MAX])
{
    size_t count = 0;
    char *rest = line;
    for (char *token = strtok_r(line, " \t\r", &rest); token != NULL && count < TOKENS_MAX;
         token = strtok_r(NULL, " \t\r", &rest)) {
        tokens[count++] = token;
    }
    return count;
}

// Takes a row of `show interfaces counters`. Rates have a unit behind them, "1.25 MB/s", or are
// N/A.
static void take_interface(const reader_t *reader, char *tokens[TOKENS_MAX], size_t count)
{
    static const unsigned columns[] = {COLUMN_COUNT,  COLUMN_COUNT,    COLUMN_COUNT,
                                       COLUMN_ERRORS, COLUMN_DROPS_IN, COLUMN_COUNT,
                                       COLUMN_COUNT,  COLUMN_COUNT,    COLUMN_DROPS_OUT};
    size_t place = 0;
    meter_value_t value;
    for (size_t i = 0; i < count && place < SIM_COUNT_OF(columns); i++) {
        const bool rate = i + 1 < count && strstr(tokens[i + 1], "B/s") != NULL;
        if (rate || strpbrk(tokens[i], "/%") != NULL) {
            continue;
        }
        if (columns[place] < COLUMN_COUNT && number_of(tokens[i], &value)) {
            keep(reader, reader->node, tokens[0], columns[place], &value);
        }
        place++;
    }
}

static void take_row(reader_t *reader, char *line)
{
    char *tokens[TOKENS_MAX];
    const size_t count = split(line, tokens);
    meter_value_t value;
    if (reader->form == FORM_INTERFACES) {
        take_interface(reader, tokens, count);
        return;
    }
    if (reader->form == FORM_QUEUES) {
        const unsigned queue = count >= 4 && strncmp(tokens[1], "UC", 2) == 0
                                   ? (unsigned)strtoul(tokens[1] + 2, NULL, 10)
                                   : 16;
        if (queue < 16 && number_of(tokens[3], &value)) {
            keep(reader, reader->node, tokens[0], COLUMN_QUEUES + queue, &value);
        }
        return;
    }
    const unsigned base = reader->form == FORM_PFC_RX ? COLUMN_FRAMES : COLUMN_SENT;
    for (unsigned c = 0; c < NET_PRIORITIES && c + 1 < count; c++) {
        if (number_of(tokens[c + 1], &value)) {
            keep(reader, reader->node, tokens[0], base + c, &value);
        }
    }
}

// Takes "link mlx5_0/1 rx_write_requests 0 np_cnp_sent 12 ...".
static void take_rdma(reader_t *reader, char *line)
{
    char *rest = line;
    const char *const word = strtok_r(line, " \t\r", &rest);
    const char *const device = word != NULL ? strtok_r(NULL, " \t\r", &rest) : NULL;
    const char *name = NULL;
    while (device != NULL && (name = strtok_r(NULL, " \t\r", &rest)) != NULL) {
        const char *const value = strtok_r(NULL, " \t\r", &rest);
        if (value != NULL) {
            take(reader, reader->node, device, name, -1, value);
        }
    }
}

// Copies the value of the first of these labels of an OpenMetrics line; "": there is none.
static void label_of(const char *labels, const char *const *names, char value[NAME_MAX_BYTES])
{
    value[0] = '\0';
    for (size_t n = 0; names[n] != NULL && value[0] == '\0'; n++) {
        char *const key = sim_format("%s=\"", names[n]);
        const char *p = strstr(labels, key);
        while (p != NULL && p > labels && p[-1] != '{' && p[-1] != ',' && p[-1] != ' ') {
            p = strstr(p + 1, key);
        }
        if (p != NULL) {
            p += strlen(key);
            const size_t size = strcspn(p, "\"");
            (void)snprintf(value, NAME_MAX_BYTES, "%.*s", (int)SIM_MIN(size, NAME_MAX_BYTES - 1),
                           p);
        }
        sim_free(key);
    }
}

// Takes `name{label="value",...} 12 1700000000`.
static void take_metric(reader_t *reader, char *line)
{
    static const char *const nodes[] = {"node", "host", "switch", "hostname", "instance", NULL};
    static const char *const devices[] = {"interface", "ifname", "device", "port", NULL};
    static const char *const classes[] = {"priority", "prio", "class", "pg", "tc", NULL};
    char node[NAME_MAX_BYTES];
    char port[NAME_MAX_BYTES];
    char class_text[NAME_MAX_BYTES];
    char *const open = strchr(line, '{');
    char *const close = strrchr(line, '}');
    char *tokens[TOKENS_MAX];
    if (open == NULL || close == NULL || close < open) {
        return;
    }
    *open = '\0';
    *close = '\0';
    label_of(open + 1, nodes, node);
    node[strcspn(node, ":")] = '\0';
    label_of(open + 1, devices, port);
    label_of(open + 1, classes, class_text);
    const bool is_class = class_text[0] >= '0' && class_text[0] <= '7' && class_text[1] == '\0';
    if (split(close + 1, tokens) > 0) {
        char *const whole = sim_format("%.*s", (int)strcspn(tokens[0], "eE"), tokens[0]);
        const double number = strtod(tokens[0], NULL); // 1.2e+06 is a number, too
        char *const plain = whole[0] != '\0' && strlen(whole) == strlen(tokens[0])
                                ? sim_strdup(tokens[0])
                            : number >= 0 && number < 1e19 ? sim_format("%.0f", number)
                                                           : sim_strdup("-");
        take(reader, node[0] != '\0' ? node : reader->node, port, line,
             is_class ? class_text[0] - '0' : -1, plain);
        sim_free(plain);
        sim_free(whole);
    }
}

static void take_line(reader_t *reader, char *line)
{
    const char *const begin = line + strspn(line, " \t\r");
    if (*begin == '\0') {
        reader->form = reader->form == FORM_ETHTOOL ? FORM_ETHTOOL : FORM_NONE;
    } else if (strstr(line, "Port Rx") != NULL || strstr(line, "Port Tx") != NULL) {
        reader->form = strstr(line, "Port Rx") != NULL ? FORM_PFC_RX : FORM_PFC_TX;
    } else if (strstr(line, "TxQ") != NULL && strstr(line, "Port") != NULL) {
        reader->form = FORM_QUEUES;
    } else if (strstr(line, "IFACE") != NULL && strstr(line, "RX_ERR") != NULL) {
        reader->form = FORM_INTERFACES;
    } else if (strncmp(begin, "NIC statistics", 14) == 0) {
        reader->form = FORM_ETHTOOL;
    } else if (strncmp(begin, "link ", 5) == 0 && strchr(begin, '/') != NULL) {
        take_rdma(reader, line);
    } else if (strchr(begin, '{') != NULL && (isalpha((unsigned char)*begin) || *begin == '_')) {
        take_metric(reader, line);
    } else if (strncmp(begin, "---", 3) == 0) {
        return;
    } else if (reader->form == FORM_ETHTOOL && strchr(begin, ':') != NULL &&
               strchr(begin, '@') == NULL) {
        char *const colon = strchr(line, ':');
        *colon = '\0';
        const char *const value = colon + 1 + strspn(colon + 1, " \t");
        char *const end = colon + strlen(colon + 1) + 1;
        *(end > colon + 1 && end[-1] == '\r' ? end - 1 : end) = '\0';
        take(reader, reader->node, reader->port, begin, -1, value);
    } else if (strpbrk(begin, "$#>") != NULL) {
        take_prompt(reader, begin);
    } else if (reader->form == FORM_PFC_RX || reader->form == FORM_PFC_TX ||
               reader->form == FORM_QUEUES || reader->form == FORM_INTERFACES) {
        take_row(reader, line);
    }
}

// -- COUNTERS_DB

// Returns the fields of a key: its value, or "value" of it in a dump with types.
static const json_t *fields_of(const json_t *entry)
{
    const json_t *const value = json_object_get(entry, "value");
    return json_is_object(value) ? value : entry;
}

static void take_database(reader_t *reader, const json_t *json)
{
    const char *name = NULL;
    json_t *oid = NULL;
    const json_t *const ports = fields_of(json_object_get(json, "COUNTERS_PORT_NAME_MAP"));
    json_object_foreach((json_t *)(uintptr_t)ports, name, oid)
    {
        char *const key =
            sim_format("COUNTERS:%s", json_string_value(oid) != NULL ? json_string_value(oid) : "");
        const json_t *const counters = fields_of(json_object_get(json, key));
        const char *counter = NULL;
        json_t *value = NULL;
        json_object_foreach((json_t *)(uintptr_t)counters, counter, value)
        {
            char *const text =
                json_is_integer(value)
                    ? sim_format("%" JSON_INTEGER_FORMAT, json_integer_value(value))
                    : sim_strdup(json_is_string(value) ? json_string_value(value) : "");
            take(reader, reader->node, name, counter, -1, text);
            sim_free(text);
        }
        sim_free(key);
    }
}

// -- files

// Takes from the file's name the node whose name it begins with, and what may be its port.
static void name_node(reader_t *reader, const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const base = slash != NULL ? slash + 1 : path;
    size_t longest = 0;
    reader->node[0] = '\0';
    reader->port[0] = '\0';
    reader->form = FORM_NONE;
    reader->is_prompted = false;
    for (size_t n = 0; n < reader->meter->node_count; n++) {
        const char *const name = reader->meter->nodes[n].name;
        const size_t size = strlen(name);
        if (size > longest && size < NAME_MAX_BYTES && strncasecmp(base, name, size) == 0 &&
            !isalnum((unsigned char)base[size])) {
            longest = size;
            (void)snprintf(reader->node, sizeof(reader->node), "%s", name);
            const char *const rest = base + size + (base[size] != '\0');
            (void)snprintf(reader->port, sizeof(reader->port), "%.*s", (int)strcspn(rest, ".-"),
                           rest);
        }
    }
}

static sim_err_t read_file(reader_t *reader, const char *path, world_error_t *error)
{
    char *text = NULL;
    size_t size = 0;
    const sim_err_t result = world_read_file(path, FILE_BYTES_MAX, &text, &size, error);
    if (result != SIM_OK) {
        return result;
    }
    name_node(reader, path);
    if (text[strspn(text, " \t\r\n")] == '{') {
        json_t *const json = json_loads(text, 0, NULL);
        if (json == NULL) {
            sim_free(text);
            return world_fail(error, SIM_ERR_INVALID, WORLD_FILE(path),
                              "the file is no JSON, expected a dump of COUNTERS_DB");
        }
        take_database(reader, json);
        json_decref(json);
    } else {
        char *rest = text;
        for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
            take_line(reader, line);
        }
    }
    sim_free(text);
    return SIM_OK;
}

static sim_err_t read_path(reader_t *reader, const char *path, world_error_t *error)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
        return read_file(reader, path, error);
    }
    DIR *const folder = opendir(path);
    if (folder == NULL) {
        return world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "%s", strerror(errno));
    }
    sim_err_t result = SIM_OK;
    for (const struct dirent *entry = readdir(folder); entry != NULL && result == SIM_OK;
         entry = readdir(folder)) {
        char *const name = sim_format("%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.' && stat(name, &status) == 0 && S_ISREG(status.st_mode)) {
            result = read_file(reader, name, error);
        }
        sim_free(name);
    }
    (void)closedir(folder);
    return result;
}

// Appends the samples of a snapshot.
static void add_samples(reader_t *reader, size_t snapshot)
{
    meter_t *const meter = reader->meter;
    for (uint32_t p = 0; p < meter->port_count; p++) {
        if (!reader->seen[p]) {
            continue;
        }
        const meter_sample_t sample = {.port = p,
                                       .time_s = (double)snapshot,
                                       .values = meter->value_count};
        for (size_t c = 0; c < COLUMN_COUNT; c++) {
            SIM_APPEND(meter->values, meter->value_count, meter->value_capacity,
                       reader->values[(size_t)p * COLUMN_COUNT + c]);
        }
        SIM_APPEND(meter->samples, meter->sample_count, meter->sample_capacity, sample);
        meter->ports[p].has_samples = true;
    }
}

sim_err_t cli__meter_snapshots(meter_t *meter, const char *const *paths, size_t count,
                               world_error_t *error)
{
    sim_err_t result = SIM_OK;
    meter->snapshots = count;
    meter->kind_count = COLUMN_COUNT;
    meter->kinds = sim_alloc_array(COLUMN_COUNT, sizeof(*meter->kinds));
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        meter->kinds[c] = c < COLUMN_DURATION  ? METER_FRAMES
                          : c < COLUMN_SENT    ? METER_DURATION
                          : c < COLUMN_QUEUES  ? METER_SENT
                          : c < COLUMN_ERRORS  ? METER_BYTES
                          : c == COLUMN_ERRORS ? METER_ERRORS
                                               : METER_DROPS;
    }
    for (size_t s = 0; s < count && result == SIM_OK; s++) {
        const size_t cells = meter->port_count * COLUMN_COUNT;
        reader_t reader = {
            .meter = meter,
            .values = sim_alloc_array(cells + 1, sizeof(*reader.values)),
            .seen = sim_alloc_array(meter->port_count + 1, sizeof(*reader.seen)),
            .cnps = sim_alloc_array(meter->node_count + 1, sizeof(*reader.cnps)),
        };
        for (size_t i = 0; i < cells; i++) {
            reader.values[i].is_missing = true;
        }
        result = read_path(&reader, paths[s], error);
        add_samples(&reader, s);
        for (size_t n = 0; n < meter->node_count; n++) {
            meter->nodes[n].cnps += s == 0 ? -reader.cnps[n] : s + 1 == count ? reader.cnps[n] : 0;
        }
        SIM_FREE_ALL(reader.values, reader.seen, reader.cnps);
    }
    if (result == SIM_OK && meter->sample_count == 0) {
        result = world_fail(error, SIM_ERR_INVALID, WORLD_FILE(paths[0]),
                            "no counters of a port of the topology, expected show pfc counters, "
                            "ethtool -S, a dump of COUNTERS_DB or OpenMetrics text");
    }
    return result == SIM_OK ? cli__meter_intervals(meter, paths[count - 1], error) : result;
}
