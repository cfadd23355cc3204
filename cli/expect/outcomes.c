// SPDX-License-Identifier: Apache-2.0
// cli/expect/outcomes.c - prints outcomes, and writes them as JUnit XML.
#include "cli/expect/outcomes.h"

#include <errno.h>
#include <string.h>

static const char *word_of(const cli_expectation_t *expectation)
{
    static const char *const words[] = {
        [CLI_EXPECT_OPEN] = "open",
        [CLI_EXPECT_MET] = "ok",
        [CLI_EXPECT_MISSED] = "FAIL",
        [CLI_EXPECT_UNKNOWN] = "UNKNOWN",
    };
    return words[expectation->outcome];
}

void cli_expect_print(const cli_expect_case_t *one, FILE *out)
{
    fprintf(out, "%s (%.1f s)\n", one->name, one->seconds);
    if (one->failure != NULL) {
        fprintf(out, "  FAIL     %s\n", one->failure);
    }
    for (size_t i = 0; i < one->expectation_count; i++) {
        const cli_expectation_t *const expectation = &one->expectations[i];
        fprintf(out, "  %-7s  %s", word_of(expectation), expectation->item->text);
        fprintf(out, expectation->found != NULL ? " (it is %s)\n" : "%s\n",
                expectation->found != NULL ? expectation->found : "");
    }
}

// -- JUnit

static void put_xml(const char *text, FILE *out)
{
    for (const char *p = text; *p != '\0'; p++) {
        const char *const entity = *p == '&'   ? "&amp;"
                                   : *p == '<' ? "&lt;"
                                   : *p == '>' ? "&gt;"
                                   : *p == '"' ? "&quot;"
                                               : NULL;
        if (entity != NULL) {
            fputs(entity, out);
        } else {
            fputc((unsigned char)*p < ' ' ? ' ' : *p, out);
        }
    }
}

static void put_test(const cli_expect_case_t *one, const char *name, double seconds,
                     const char *failure, const char *word, FILE *out)
{
    fputs("    <testcase classname=\"", out);
    put_xml(one->name, out);
    fputs("\" name=\"", out);
    put_xml(name, out);
    fprintf(out, "\" time=\"%.3f\"", seconds);
    if (failure == NULL) {
        fputs("/>\n", out);
        return;
    }
    fprintf(out, "><%s message=\"", word);
    put_xml(failure, out);
    fprintf(out, "\"/></testcase>\n");
}

static void put_case(const cli_expect_case_t *one, FILE *out)
{
    put_test(one, "the run ends as it should", one->seconds, one->failure, "error", out);
    for (size_t i = 0; i < one->expectation_count; i++) {
        const cli_expectation_t *const expectation = &one->expectations[i];
        char *failure = NULL;
        if (expectation->outcome == CLI_EXPECT_OPEN) {
            failure = sim_strdup("the scenario has no results");
        } else if (expectation->outcome != CLI_EXPECT_MET) {
            failure = sim_format("%s is %s", expectation->path, expectation->found);
        }
        put_test(one, expectation->item->text, 0, failure,
                 expectation->outcome == CLI_EXPECT_MISSED ? "failure" : "error", out);
        sim_free(failure);
    }
}

sim_err_t cli_expect_write_junit(const cli_expect_file_t *files, size_t count, const char *path,
                                 world_error_t *error)
{
    FILE *const out = fopen(path, "we");
    if (out == NULL) {
        return world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "cannot be written: %s",
                          strerror(errno));
    }
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"rocesim\">\n", out);
    for (size_t f = 0; f < count; f++) {
        size_t tests = 0;
        size_t missed = 0;
        size_t errors = 0;
        for (size_t c = 0; c < files[f].case_count; c++) {
            const cli_expect_case_t *const one = &files[f].cases[c];
            tests += 1 + one->expectation_count;
            errors += one->failure != NULL;
            for (size_t i = 0; i < one->expectation_count; i++) {
                const cli_expect_outcome_t outcome = one->expectations[i].outcome;
                missed += outcome == CLI_EXPECT_MISSED;
                errors += outcome == CLI_EXPECT_OPEN || outcome == CLI_EXPECT_UNKNOWN;
            }
        }
        fputs("  <testsuite name=\"", out);
        put_xml(files[f].name, out);
        fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n", tests, missed, errors);
        for (size_t c = 0; c < files[f].case_count; c++) {
            put_case(&files[f].cases[c], out);
        }
        fputs("  </testsuite>\n", out);
    }
    fputs("</testsuites>\n", out);
    const bool failed = ferror(out) != 0;
    return fclose(out) == 0 && !failed ? SIM_OK
                                       : world_fail(error, SIM_ERR_IO, WORLD_FILE(path),
                                                    "cannot be written: %s", strerror(errno));
}
