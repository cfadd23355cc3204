// SPDX-License-Identifier: Apache-2.0
// results/report/part_print.c - reports as lines for a person.
//
// The rows are gathered as leaves first (path, value), so that parts of many NICs can be added up
// before anything is printed. A leaf is shown if its row is, and each object and list it is in.
#include "results/report/part.h"
#include "world/format.h"

#include <math.h>
#include <string.h>

#define LINE_WIDTH 100u
#define INDENT 12u
#define ITEMS_SHOWN_MAX 8u
#define DEPTH_MAX 16u

typedef struct leaf {
    char *group; // objects and lists it is in: "latency_us", "transport.rounds"
    const sim_report_row_t *row;
    const char *unit;
    sim_report_kind_t kind;
    uint64_t whole;
    double real;
    char *text;
    size_t count; // added up
    bool item;    // of a list
} leaf_t;

typedef struct gatherer {
    leaf_t *leaves;
    size_t count;
    size_t capacity;
    size_t merged; // leaves seen of the part being added, where there are some already
    bool adds;
    struct {
        char *path;
        const char *unit;
        bool shown;
        bool list;
        size_t index;
    } levels[DEPTH_MAX];
    size_t depth;
} gatherer_t;

static bool is_whole(sim_report_kind_t kind)
{
    return kind == SIM_REPORT_U64 || kind == SIM_REPORT_U32;
}

static leaf_t *leaf_like(gatherer_t *gatherer, const sim_report_row_t *row, const char *group)
{
    for (size_t i = 0; gatherer->adds && i < gatherer->count; i++) {
        leaf_t *const leaf = &gatherer->leaves[(gatherer->merged + i) % gatherer->count];
        if (leaf->row == row && strcmp(leaf->group, group) == 0) {
            gatherer->merged = (gatherer->merged + i + 1) % gatherer->count;
            return leaf;
        }
    }
    return NULL;
}

static void add_value(leaf_t *leaf, const sim_report_value_t *value)
{
    const bool largest = sim_ends_with(leaf->row->name, "_max");
    if (leaf->kind == SIM_REPORT_REAL && isfinite(value->real)) {
        const double sum = leaf->real + value->real;
        leaf->real = !largest ? sum : SIM_MAX(value->real, leaf->real);
        leaf->count++;
    } else if (is_whole(leaf->kind)) {
        const uint64_t sum = leaf->whole + value->whole;
        leaf->whole = !largest ? sum : SIM_MAX(value->whole, leaf->whole);
    }
}

static void gather_value(const sim_report_row_t *row, sim_report_kind_t kind,
                         const sim_report_value_t *value, void *ctx)
{
    gatherer_t *const gatherer = ctx;
    const bool list = gatherer->levels[gatherer->depth].list;
    if (!gatherer->levels[gatherer->depth].shown || !row->shown || (gatherer->adds && list)) {
        return;
    }
    const char *const group = gatherer->levels[gatherer->depth].path;
    leaf_t *leaf = leaf_like(gatherer, row, group);
    if (leaf == NULL) {
        SIM_GROW(gatherer->leaves, gatherer->count, &gatherer->capacity);
        leaf = &gatherer->leaves[gatherer->count++];
        const char *const above = gatherer->levels[gatherer->depth].unit;
        *leaf = (leaf_t){.group = sim_strdup(group), .row = row, .kind = kind, .item = list};
        leaf->unit = row->unit[0] != '\0' || is_whole(kind) ? row->unit : above;
        if (kind == SIM_REPORT_BOOL || kind == SIM_REPORT_STRING) {
            const char *const text =
                kind == SIM_REPORT_BOOL ? (value->yes ? "yes" : "no") : value->text;
            leaf->text = sim_strdup(text != NULL ? text : "-");
        }
    }
    add_value(leaf, value);
}

static void push(gatherer_t *gatherer, const sim_report_row_t *row, bool list)
{
    SIM_CHECK(gatherer->depth + 1 < DEPTH_MAX);
    const size_t above = gatherer->depth++;
    const char *const path = gatherer->levels[above].path;
    const bool item = gatherer->levels[above].list;
    gatherer->levels[gatherer->depth].path =
        item ? sim_format("%s[%zu]", path, gatherer->levels[above].index++)
             : sim_format("%s%s%s", path, *path == '\0' ? "" : ".", row->name);
    gatherer->levels[gatherer->depth].unit =
        row->unit[0] != '\0' ? row->unit : gatherer->levels[above].unit;
    gatherer->levels[gatherer->depth].shown =
        gatherer->levels[above].shown && row->shown &&
        (!item || gatherer->levels[above].index <= ITEMS_SHOWN_MAX);
    gatherer->levels[gatherer->depth].list = list;
    gatherer->levels[gatherer->depth].index = 0;
}

static void gather_object(const sim_report_row_t *row, void *ctx)
{
    push(ctx, row, false);
}

static void gather_list(const sim_report_row_t *row, size_t count, void *ctx)
{
    (void)count;
    push(ctx, row, true);
}

static void gather_end(const sim_report_row_t *row, void *ctx)
{
    (void)row;
    gatherer_t *const gatherer = ctx;
    sim_free(gatherer->levels[gatherer->depth--].path);
}

static void gather(gatherer_t *gatherer, const sim_report_part_t *part, char *path)
{
    gatherer->merged = 0;
    gatherer->depth = 0;
    gatherer->levels[0].path = path;
    gatherer->levels[0].unit = "";
    gatherer->levels[0].shown = true;
    gatherer->levels[0].list = false;
    const sim_report_visitor_t visitor = {gather_value, gather_object, gather_end,
                                          gather_list,  gather_end,    gatherer};
    sim_report_visit(part->table, part->object, &visitor);
}

// -- printing

// Returns the unit, unless a name on the path to the value says it: goodput_gbps, fct_us.p50.
static const char *unit_text(const leaf_t *leaf)
{
    char *const ending = sim_format("_%s", leaf->unit);
    for (char *p = ending; *p != '\0'; p++) {
        *p = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
    }
    const bool said = sim_ends_with(leaf->row->name, ending) || sim_ends_with(leaf->group, ending);
    sim_free(ending);
    return said ? "" : leaf->unit;
}

// Returns a number that would need an exponent in another unit, where its unit has larger and
// smaller ones. Free it with sim_free.
static char *extreme_text(double value, const char *unit)
{
    static const struct {
        const char *unit;
        double ps;
    } times[] = {{"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
    world_text_t buffer;
    for (size_t i = 0; i < SIM_COUNT_OF(times); i++) {
        if (strcmp(unit, times[i].unit) == 0 && value * times[i].ps < 1e18) {
            return sim_strdup(world_format_time(&buffer, (sim_time_t)(value * times[i].ps + 0.5)));
        }
    }
    if (strcmp(unit, "MB") == 0) {
        return sim_strdup(world_format_size(&buffer, value * 1e6));
    }
    const char *const space = unit[0] != '\0' ? " " : "";
    return value >= 1e6 && value < 1e15 ? sim_format("%.0f%s%s", value, space, unit)
                                        : sim_format("%.6g%s%s", value, space, unit);
}

static char *text_of(const leaf_t *leaf)
{
    if (leaf->text != NULL) {
        return sim_strdup(leaf->text);
    }
    world_text_t buffer;
    const bool bytes = strcmp(leaf->unit, "bytes") == 0;
    const char *const unit = unit_text(leaf);
    const char *const space = unit[0] != '\0' ? " " : "";
    if (is_whole(leaf->kind)) {
        return bytes ? sim_strdup(world_format_bytes(&buffer, leaf->whole))
                     : sim_format("%" PRIu64 "%s%s", leaf->whole, space, unit);
    }
    if (leaf->count == 0) {
        return sim_strdup("-");
    }
    const bool largest = sim_ends_with(leaf->row->name, "_max");
    const double value = largest ? leaf->real : leaf->real / (double)leaf->count;
    if (bytes && value >= 0 && value < 1e19) {
        return sim_strdup(world_format_bytes(&buffer, (uint64_t)value));
    }
    if (strcmp(unit, "Gbps") == 0 && value > 0 && value < 0.01) {
        return sim_strdup(world_format_rate(&buffer, (uint64_t)(value * 1e9 + 0.5)));
    }
    return value >= 1e6 || (value > 0 && value < 1e-4) ? extreme_text(value, unit)
                                                       : sim_format("%.6g%s%s", value, space, unit);
}

typedef struct printer {
    FILE *out;
    size_t width; // of the line so far
    const char *group;
    size_t items; // of the list so far
} printer_t;

static void print_group(printer_t *printer, const char *group)
{
    if (printer->group != NULL && strcmp(printer->group, group) == 0) {
        return;
    }
    printer->group = group;
    printer->items = 0;
    if (*group == '\0') {
        return;
    }
    const int width = fprintf(printer->out, "%s%*s%s", "\n", (int)INDENT, "", group);
    printer->width = width > 0 ? (size_t)width - 1 : 0;
}

static void print_leaf(printer_t *printer, const leaf_t *leaf)
{
    const bool first = printer->group == NULL || strcmp(printer->group, leaf->group) != 0;
    print_group(printer, leaf->group);
    printer->items++;
    if (leaf->item && printer->items > ITEMS_SHOWN_MAX) {
        if (printer->items == ITEMS_SHOWN_MAX + 1) {
            fputs(", ...", printer->out);
        }
        return;
    }
    char *const value = text_of(leaf);
    char *const text = leaf->item ? sim_strdup(value) : sim_format("%s %s", leaf->row->name, value);
    const char *const separator = first && *leaf->group != '\0' ? ": " : ", ";
    const size_t size = strlen(text) + 2;
    const bool breaks = printer->width + size > LINE_WIDTH;
    if (breaks) {
        fprintf(printer->out, "%.1s\n%*s%s", separator, (int)INDENT, "", text);
    } else {
        fprintf(printer->out, "%s%s", separator, text);
    }
    printer->width = breaks ? INDENT + size : printer->width + size;
    sim_free(value);
    sim_free(text);
}

// Prints the leaves: plain rows in the line that has begun, the others after them.
static void print_leaves(gatherer_t *gatherer, printer_t *printer)
{
    for (int grouped = 0; grouped < 2; grouped++) {
        for (size_t i = 0; i < gatherer->count; i++) {
            if ((*gatherer->leaves[i].group != '\0') == (grouped == 1)) {
                print_leaf(printer, &gatherer->leaves[i]);
            }
        }
    }
    for (size_t i = 0; i < gatherer->count; i++) {
        sim_free(gatherer->leaves[i].group);
        sim_free(gatherer->leaves[i].text);
    }
    sim_free(gatherer->leaves);
}

void results_part_print(const sim_report_table_t *table, const void *object, FILE *out,
                        size_t width)
{
    gatherer_t gatherer = {0};
    char path[] = "";
    gather(&gatherer, &(sim_report_part_t){table, object}, path);
    printer_t printer = {.out = out, .width = width};
    print_leaves(&gatherer, &printer);
}

void results_part_print_sum(const char *name, const sim_report_part_t *parts, size_t count,
                            FILE *out)
{
    gatherer_t gatherer = {.adds = count > 1};
    char *const path = sim_strdup(name);
    for (size_t i = 0; i < count; i++) {
        gather(&gatherer, &parts[i], path);
    }
    printer_t printer = {.out = out};
    print_leaves(&gatherer, &printer);
    sim_free(path);
}
