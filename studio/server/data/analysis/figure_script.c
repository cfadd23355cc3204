// SPDX-License-Identifier: Apache-2.0
// studio/server/data/analysis/figure_script.c - reads the gnuplot scripts of cli/plot: data blocks,
// settings, plots.
//
// It understands only what those scripts contain. A setting holds until it is set again; each
// `plot` becomes a panel with the settings at that point.
#include "studio/server/data/analysis/figure_script.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 12u
#define WORD_BYTES 512u

typedef struct reading {
    json_t *blocks; // block name -> list of columns
    json_t *panel;  // settings of the next panel
    json_t *panels;
} reading_t;

// Reads a quoted text ('it''s' is it's); returns the text behind it, or NULL if there is no quote.
static const char *take_quoted(const char *at, char *text)
{
    size_t size = 0;
    if (*at != '\'') {
        return NULL;
    }
    for (at++; *at != '\0' && *at != '\n'; at++) {
        if (*at == '\'' && *++at != '\'') {
            text[size] = '\0';
            return at;
        }
        if (size + 1 < WORD_BYTES) {
            text[size++] = *at;
        }
    }
    return NULL;
}

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

static void set_text(json_t *panel, const char *key, const char *line)
{
    char text[WORD_BYTES];
    const char *const quote = strchr(line, '\'');
    if (quote != NULL && take_quoted(quote, text) != NULL) {
        json_object_set_new(panel, key, json_string(text));
    }
}

static json_t *limit(const char *text)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    return end == text ? json_null() : json_real(value);
}

// Reads a range [a:b], where * leaves an end open.
static void set_range(json_t *panel, const char *key, const char *line)
{
    const char *const open = strchr(line, '[');
    const char *const colon = open != NULL ? strchr(open, ':') : NULL;
    if (colon != NULL) {
        json_object_set_new(panel, key, json_pack("[o,o]", limit(open + 1), limit(colon + 1)));
    }
}

// Reads pairs: ('a' 1, 'b' 2), or (0 '#fff', 1 '#000').
static void set_pairs(json_t *panel, const char *key, const char *line, bool text_first)
{
    const char *at = strchr(line, '(');
    json_t *const pairs = json_array();
    while (at != NULL && (*at == '(' || *at == ',')) {
        char text[WORD_BYTES] = "";
        char *end = NULL;
        at += 1 + strspn(at + 1, " ");
        double number = 0;
        if (!text_first) {
            number = strtod(at, &end);
            at = end + strspn(end, " ");
        }
        at = take_quoted(at, text);
        if (at == NULL) {
            break;
        }
        if (text_first) {
            number = strtod(at, &end);
            at = end + strspn(end, " ");
        }
        json_array_append_new(pairs,
                              text_first ? json_pack("[s,f]", text, number)
                                         : json_pack("[f,s]", number, text));
    }
    json_object_set_new(panel, key, pairs);
}

static void take_setting(json_t *panel, const char *line)
{
    if (begins(line, "set title ")) {
        set_text(panel, "title", line);
    } else if (begins(line, "set xlabel '")) {
        set_text(panel, "x_label", line);
    } else if (begins(line, "set ylabel '")) {
        set_text(panel, "y_label", line);
    } else if (begins(line, "set cblabel ")) {
        set_text(panel, "color_label", line);
    } else if (begins(line, "set xrange ")) {
        set_range(panel, "x_range", line);
    } else if (begins(line, "set yrange ")) {
        set_range(panel, "y_range", line);
    } else if (begins(line, "set cbrange ")) {
        set_range(panel, "color_range", line);
    } else if (begins(line, "set palette defined ")) {
        set_pairs(panel, "palette", line, false);
    } else if (begins(line, "set xtics ") && strchr(line, '(') != NULL) {
        set_pairs(panel, "x_tics", line, true);
    } else if (begins(line, "set ytics ") && strchr(line, '(') != NULL) {
        set_pairs(panel, "y_tics", line, true);
    } else if (begins(line, "set logscale ")) {
        const char *const axes = line + strlen("set logscale ");
        const size_t size = strcspn(axes, " \n");
        for (size_t i = 0; i < size; i++) {
            json_object_set_new(panel, axes[i] == 'x' ? "x_log" : "y_log", json_true());
        }
    } else if (begins(line, "unset logscale")) {
        json_object_del(panel, "x_log");
        json_object_del(panel, "y_log");
    } else if (begins(line, "unset ylabel")) {
        json_object_del(panel, "y_label");
    } else if (begins(line, "unset xlabel")) {
        json_object_del(panel, "x_label");
    } else if (begins(line, "unset title")) {
        json_object_del(panel, "title");
    }
}

// -- blocks of data: a list of columns; what is no number is null

static const char *take_block(reading_t *reading, const char *line)
{
    char name[64];
    const size_t size = strcspn(line, " ");
    (void)snprintf(name, sizeof(name), "%.*s", (int)(size < 60 ? size : 60), line);
    json_t *const columns = json_array();
    const char *at = strchr(line, '\n');
    while (at != NULL && !begins(at + 1, "EOD")) {
        at++;
        const char *const next = strchr(at, '\n');
        size_t column = 0;
        while (at < next && column < COLUMNS_MAX) {
            at += strspn(at, " \t");
            const size_t word = strcspn(at, " \t\n");
            if (word == 0) {
                break;
            }
            if (json_array_size(columns) == column) {
                json_array_append_new(columns, json_array());
            }
            char *end = NULL;
            const double value = strtod(at, &end);
            const bool whole = end == at + word && isfinite(value);
            json_array_append_new(json_array_get(columns, column++),
                                  whole ? json_real(value) : json_null());
            at += word;
        }
        at = next;
    }
    json_object_set_new(reading->blocks, name, columns);
    return at != NULL ? strchr(at + 1, '\n') : NULL;
}

// -- plots

// Reads one entry of `using`: "1", or "($3-0.38)", a column and a number added to it.
static bool take_using(const char *text, size_t size, size_t *column, double *plus)
{
    char word[64];
    char *end = NULL;
    if (size >= sizeof(word)) {
        return false;
    }
    memcpy(word, text, size);
    word[size] = '\0';
    *plus = 0;
    const char *at = word;
    const bool formula = begins(word, "($");
    at += formula ? 2 : 0;
    *column = strtoul(at, &end, 10);
    if (end == at || *column == 0 || *column > COLUMNS_MAX) {
        return false;
    }
    if (formula) {
        *plus = *end == '+' || *end == '-' ? strtod(end, &end) : 0;
        return *end == ')';
    }
    return *end == '\0';
}

static json_t *shifted(const json_t *column, double plus)
{
    json_t *const out = json_array();
    for (size_t i = 0; i < json_array_size(column); i++) {
        const json_t *const value = json_array_get(column, i);
        json_array_append_new(out,
                              json_is_number(value) ? json_real(json_number_value(value) + plus)
                                                    : json_null());
    }
    return out;
}

static json_t *take_columns(const json_t *block, const char *using)
{
    json_t *const columns = json_array();
    const size_t all = strcspn(using, " ");
    for (size_t at = 0; at < all;) {
        const size_t size = strcspn(using + at, ": ");
        size_t column = 0;
        double plus = 0;
        if (!take_using(using + at, size, &column, &plus)) {
            break;
        }
        json_array_append_new(columns, shifted(json_array_get(block, column - 1), plus));
        at += size + 1;
    }
    return columns;
}

static const char *word_after(const char *text, const char *word)
{
    const char *const at = strstr(text, word);
    return at != NULL ? at + strlen(word) : NULL;
}

// Reads one curve of a plot, "$block using ... with ... title '...'".
static json_t *take_curve(const reading_t *reading, const char *text)
{
    char name[64];
    char style[32] = "lines";
    char words[WORD_BYTES] = "";
    char color[WORD_BYTES] = "";
    const size_t size = strcspn(text, " ");
    (void)snprintf(name, sizeof(name), "%.*s", (int)(size < 60 ? size : 60), text);
    const char *const using = word_after(text, " using ");
    const json_t *const block = json_object_get(reading->blocks, name);
    if (using == NULL || block == NULL) {
        return NULL;
    }
    const char *const with = word_after(text, " with ");
    if (with != NULL) {
        (void)snprintf(style, sizeof(style), "%.*s", (int)(strcspn(with, " ") & 31), with);
    }
    const char *const title = word_after(text, " title ");
    const char *const line = word_after(text, " linecolor ");
    if (title != NULL) {
        (void)take_quoted(title, words);
    }
    if (line != NULL) {
        (void)take_quoted(line, color);
    }
    json_t *columns = take_columns(block, using);
    if (strcmp(style, "boxxyerror") == 0) {
        // Seven columns: x, y, x from, x to, y from, y to, colour. The page needs no y.
        (void)snprintf(style, sizeof(style), "boxes");
        if (json_array_size(columns) == 7) {
            json_array_remove(columns, 1);
        }
    }
    return json_pack("{s:s,s:s,s:s,s:o}",
                     "name",
                     words,
                     "style",
                     style,
                     "color",
                     color,
                     "columns",
                     columns);
}

// Splits a plot into curves at commas outside quotes and parentheses.
static void take_plot(reading_t *reading, const char *line)
{
    json_t *const curves = json_array();
    const char *from = line + strlen("plot ");
    bool quoted = false;
    unsigned depth = 0;
    for (const char *at = from;; at++) {
        quoted = quoted != (*at == '\'');
        depth += !quoted && *at == '(';
        depth -= !quoted && *at == ')' && depth > 0;
        const bool end = *at == '\0' || *at == '\n';
        if (end || (*at == ',' && !quoted && depth == 0)) {
            char *const text = sim_format("%.*s", (int)(at - from), from);
            json_t *const curve = take_curve(reading, text);
            sim_free(text);
            if (curve != NULL) {
                json_array_append_new(curves, curve);
            }
            from = at + 1 + (*at != '\0' && at[1] == ' ');
        }
        if (end) {
            break;
        }
    }
    json_t *const panel = json_deep_copy(reading->panel);
    json_object_set_new(panel, "curves", curves);
    json_array_append_new(reading->panels, panel);
}

json_t *studio_figure_read(const char *script, const char *kind)
{
    reading_t reading = {json_object(), json_object(), json_array()};
    for (const char *line = script; line != NULL && *line != '\0';) {
        const char *end = strchr(line, '\n');
        if (line[0] == '$' && strstr(line, "<< EOD") != NULL) {
            end = take_block(&reading, line);
        } else if (begins(line, "plot ")) {
            take_plot(&reading, line);
        } else {
            char *const copy =
                sim_format("%.*s", (int)(end != NULL ? end - line : (long)strlen(line)), line);
            take_setting(reading.panel, copy);
            sim_free(copy);
        }
        line = end != NULL ? end + 1 : NULL;
    }
    json_decref(reading.blocks);
    json_decref(reading.panel);
    if (json_array_size(reading.panels) == 0) {
        json_decref(reading.panels);
        return NULL;
    }
    return json_pack("{s:s,s:s,s:o}", "kind", kind, "words", kind, "panels", reading.panels);
}
