// SPDX-License-Identifier: Apache-2.0
// cli/plot/figure.c - what a figure consists of: labels, ranges, tics, data and curves.
//
// Each function writes its part of the gnuplot script. With --json it also records the part, so
// that other programs get the numbers without reading scripts.
#include "cli/plot/figure.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define NAME_BYTES 32u

struct cli_record {
    json_t *blocks;   // name -> list of columns
    json_t *columns;  // of the block that is being written; borrowed
    json_t *settings; // of the next panel
    json_t *tics;     // that are being written; borrowed
    json_t *curves;   // of the next panel
    json_t *panels;
};

cli_record_t *cli_record_create(void)
{
    cli_record_t *const record = sim_alloc(sizeof(*record));
    *record = (cli_record_t){.blocks = json_object(),
                             .settings = json_object(),
                             .curves = json_array(),
                             .panels = json_array()};
    return record;
}

void cli_record_destroy(cli_record_t *record)
{
    if (record != NULL) {
        json_decref(record->blocks);
        json_decref(record->settings);
        json_decref(record->curves);
        json_decref(record->panels);
        sim_free(record);
    }
}

json_t *cli_record_panels(const cli_record_t *record)
{
    return record->panels;
}

// Returns the name of a setting of gnuplot in the JSON document.
static const char *member_of(const char *what)
{
    static const char *const names[][2] = {
        {"title", "title"},         {"xlabel", "x_label"}, {"ylabel", "y_label"},
        {"cblabel", "color_label"}, {"xrange", "x_range"}, {"yrange", "y_range"},
        {"cbrange", "color_range"}, {"xtics", "x_tics"},   {"ytics", "y_tics"}};
    for (size_t i = 0; i < SIM_COUNT_OF(names); i++) {
        if (strcmp(names[i][0], what) == 0) {
            return names[i][1];
        }
    }
    SIM_CHECKF(false, "%s is no setting of figures", what);
    return "";
}

static void record(const cli_figure_t *figure, const char *what, json_t *value)
{
    if (figure->record != NULL) {
        (void)json_object_set_new(figure->record->settings, member_of(what), value);
    } else {
        json_decref(value);
    }
}

// -- settings

void cli_figure_label(const cli_figure_t *figure, const char *what, const char *text,
                      const char *behind)
{
    fprintf(figure->script, "set %s ", what);
    cli_figure_quote(figure->script, text);
    fprintf(figure->script, "%s\n", behind);
    record(figure, what, json_string(text));
}

void cli_figure_no_label(const cli_figure_t *figure, const char *what)
{
    fprintf(figure->script, "unset %s\n", what);
    if (figure->record != NULL) {
        (void)json_object_del(figure->record->settings, member_of(what));
    }
}

static void print_limit(FILE *script, double limit)
{
    if (isnan(limit)) {
        fputc('*', script);
    } else {
        fprintf(script, "%.9g", limit);
    }
}

static json_t *limit_json(double limit)
{
    return isnan(limit) ? json_null() : json_real(limit);
}

void cli_figure_range(const cli_figure_t *figure, const char *what, double low, double high)
{
    fprintf(figure->script, "set %s [", what);
    print_limit(figure->script, low);
    fputc(':', figure->script);
    print_limit(figure->script, high);
    fputs("]\n", figure->script);
    record(figure, what, json_pack("[o, o]", limit_json(low), limit_json(high)));
}

void cli_figure_log(const cli_figure_t *figure, char axis)
{
    fprintf(figure->script, "set logscale %c\n", axis);
    if (figure->record != NULL) {
        (void)json_object_set_new(figure->record->settings, axis == 'x' ? "x_log" : "y_log",
                                  json_true());
    }
}

void cli_figure_palette(const cli_figure_t *figure, const cli_color_stop_t *stops, size_t count)
{
    json_t *const list = json_array();
    fputs("set palette defined (", figure->script);
    for (size_t i = 0; i < count; i++) {
        fprintf(figure->script, "%s%g '%s'", i > 0 ? ", " : "", stops[i].at, stops[i].color);
        (void)json_array_append_new(list, json_pack("[f, s]", stops[i].at, stops[i].color));
    }
    fputs(")\n", figure->script);
    if (figure->record != NULL) {
        (void)json_object_set(figure->record->settings, "palette", list);
    }
    json_decref(list);
}

void cli_figure_tics_begin(const cli_figure_t *figure, const char *what, const char *style)
{
    fprintf(figure->script, "set %s%s (", what, style);
    if (figure->record != NULL) {
        figure->record->tics = json_array();
        record(figure, what, figure->record->tics);
    }
}

void cli_figure_tic(const cli_figure_t *figure, bool first, const char *text, double at)
{
    fputs(first ? "" : ", ", figure->script);
    cli_figure_quote_tic(figure->script, text);
    fprintf(figure->script, " %.9g", at);
    if (figure->record != NULL) {
        (void)json_array_append_new(figure->record->tics, json_pack("[s, f]", text, at));
    }
}

void cli_figure_tics_end(const cli_figure_t *figure)
{
    fputs(")\n", figure->script);
}

// -- data

static const char *block_name(cli_block_t block, char name[NAME_BYTES])
{
    if (block.part == 0) {
        (void)snprintf(name, NAME_BYTES, "$%s%zu", block.kind, block.number);
    } else {
        (void)snprintf(name, NAME_BYTES, "$%s%zu_%zu", block.kind, block.number, block.part);
    }
    return name;
}

void cli_figure_block_name(FILE *script, cli_block_t block)
{
    char name[NAME_BYTES];
    fputs(block_name(block, name), script);
}

void cli_figure_block_begin(const cli_figure_t *figure, cli_block_t block)
{
    char name[NAME_BYTES];
    fprintf(figure->script, "%s << EOD\n", block_name(block, name));
    if (figure->record != NULL) {
        figure->record->columns = json_array();
        (void)json_object_set_new(figure->record->blocks, name, figure->record->columns);
    }
}

void cli_figure_row(const cli_figure_t *figure, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)vfprintf(figure->script, format, values);
    va_end(values);
    fputc('\n', figure->script);
    if (figure->record == NULL) {
        return;
    }
    json_t *const columns = figure->record->columns;
    size_t column = 0;
    va_start(values, format);
    for (const char *at = strchr(format, '%'); at != NULL; at = strchr(at + 1, '%')) {
        if (column == json_array_size(columns)) {
            (void)json_array_append_new(columns, json_array());
        }
        const double value = va_arg(values, double);
        (void)json_array_append_new(json_array_get(columns, column++),
                                    isfinite(value) ? json_real(value) : json_null());
    }
    va_end(values);
}

void cli_figure_block_end(const cli_figure_t *figure)
{
    fputs("EOD\n", figure->script);
}

// -- curves

static json_t *column_of(const json_t *block, cli_using_t use)
{
    const json_t *const column = json_array_get(block, use.column - 1);
    json_t *const list = json_array();
    for (size_t i = 0; i < json_array_size(column); i++) {
        const json_t *const value = json_array_get(column, i);
        (void)json_array_append_new(list, json_is_number(value)
                                              ? json_real(json_number_value(value) + use.plus)
                                              : json_null());
    }
    return list;
}

void cli_figure_curve(const cli_figure_t *figure, cli_block_t block, const char *style,
                      const char *color, const char *title, const cli_using_t *use, size_t count)
{
    char name[NAME_BYTES];
    if (figure->record == NULL) {
        return;
    }
    const json_t *const columns = json_object_get(figure->record->blocks, block_name(block, name));
    json_t *const list = json_array();
    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(list, column_of(columns, use[i]));
    }
    (void)json_array_append_new(figure->record->curves,
                                json_pack("{s:s, s:s, s:s, s:o}", "name", title, "style", style,
                                          "color", color, "columns", list));
}

void cli_figure_line(const cli_figure_t *figure, bool first, cli_block_t block, const char *with,
                     const char *color, const char *title)
{
    static const cli_using_t use[] = {{.column = 1}, {.column = 2}};
    fputs(first ? "plot " : ", ", figure->script);
    cli_figure_block_name(figure->script, block);
    fprintf(figure->script, " using 1:2 with %s linecolor '%s' title ", with, color);
    cli_figure_quote(figure->script, title);
    const char *const style = strstr(with, "steps") != NULL ? "steps" : "lines";
    cli_figure_curve(figure, block, style, color, title, use, SIM_COUNT_OF(use));
}

void cli_figure_panel_end(const cli_figure_t *figure)
{
    fputc('\n', figure->script);
    if (figure->record != NULL) {
        json_t *const panel = json_deep_copy(figure->record->settings);
        (void)json_object_set_new(panel, "curves", figure->record->curves);
        (void)json_array_append_new(figure->record->panels, panel);
        figure->record->curves = json_array();
    }
}
