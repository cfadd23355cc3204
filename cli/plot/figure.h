// SPDX-License-Identifier: Apache-2.0
// cli/plot/figure.h - the parts of a figure. Each function writes gnuplot's script, and records the
// part for --json (docs/formats/plots.md). Settings hold until they are set again.
#ifndef CLI_PLOT_FIGURE_H
#define CLI_PLOT_FIGURE_H

#include "cli/plot/plot.h"

// A block of data: $c3, or with a part, $run0_2.
typedef struct cli_block {
    const char *kind; // "c" or "run"
    size_t number;
    size_t part; // 0: none
} cli_block_t;

// A column of a block, counted from 1, and a number that is added to its values.
typedef struct cli_using {
    size_t column;
    double plus;
} cli_using_t;

typedef struct cli_color_stop {
    double at;
    const char *color; // "#rrggbb"
} cli_color_stop_t;

cli_record_t *cli_record_create(void);
void cli_record_destroy(cli_record_t *record);
// Returns the panels so far, owned by the record: [{title, x_label, ..., curves}].
json_t *cli_record_panels(const cli_record_t *record);

// Writes `set WHAT 'text'BEHIND`: what is title, xlabel, ylabel or cblabel.
void cli_figure_label(const cli_figure_t *figure, const char *what, const char *text,
                      const char *behind);
void cli_figure_no_label(const cli_figure_t *figure, const char *what);
// Sets xrange, yrange or cbrange; NAN leaves an end open.
void cli_figure_range(const cli_figure_t *figure, const char *what, double low, double high);
void cli_figure_log(const cli_figure_t *figure, char axis);
void cli_figure_palette(const cli_figure_t *figure, const cli_color_stop_t *stops, size_t count);
// Begins a list of tics, "xtics" or "ytics", with gnuplot's style: " rotate by -45".
void cli_figure_tics_begin(const cli_figure_t *figure, const char *what, const char *style);
void cli_figure_tic(const cli_figure_t *figure, bool first, const char *text, double at);
void cli_figure_tics_end(const cli_figure_t *figure);

void cli_figure_block_name(FILE *script, cli_block_t block);
void cli_figure_block_begin(const cli_figure_t *figure, cli_block_t block);
// Writes a row; every conversion of the format is one of a double.
void cli_figure_row(const cli_figure_t *figure, const char *format, ...) SIM_PRINTF(2, 3);
void cli_figure_block_end(const cli_figure_t *figure);

// Records a curve of the next panel, whose part of `plot` the caller writes. Styles: lines, steps,
// linespoints, points, boxes. Columns of boxes: x, x from, x to, y from, y to, colour.
void cli_figure_curve(const cli_figure_t *figure, cli_block_t block, const char *style,
                      const char *color, const char *title, const cli_using_t *use, size_t count);
// Writes and records a curve of the first two columns; with: gnuplot's style, "steps linewidth 2".
void cli_figure_line(const cli_figure_t *figure, bool first, cli_block_t block, const char *with,
                     const char *color, const char *title);
// Ends the line of `plot`, and the panel.
void cli_figure_panel_end(const cli_figure_t *figure);

#endif // CLI_PLOT_FIGURE_H
