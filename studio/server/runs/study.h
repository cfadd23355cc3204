// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/study.h - studies: scripts of the library that make runs of their own.
//
// The process of a study is `scenarios/GROUP/run NAME` instead of rocesim, under the limits and
// confinement of a run, as is every simulation it starts. When the study ends, its simulations
// become runs of its group; their files are hard links to the study's files.
#ifndef STUDIO_SERVER_RUNS_STUDY_H
#define STUDIO_SERVER_RUNS_STUDY_H

#include "studio/server/studio.h"

#include <jansson.h>

// The setting that selects the short form of a study. Others go to the script as --set NAME=VALUE.
#define STUDIO_STUDY_QUICK "quick=true"

// Returns the command of a study's process; the caller frees each text and the list. For a study
// that the library lost it is a command that reports this and fails.
char **studio_study_line(const studio_t *studio, const char *study, const json_t *set);
// The runs that a study made.
typedef struct studio_made {
    char **paths; // of their results, below the study's result/
    char **names; // of the runs
    size_t count;
    int64_t first; // number of the first run
    size_t linked; // number of folders that were made
} studio_made_t;

// Turns the results below a study's folder into folders of runs, which are uncommitted. Returns
// false if something could not be written.
SIM_MUST_CHECK bool studio_study_link(studio_t *studio, int64_t run, const char *study,
                                      studio_made_t *made);
// Inserts the rows of these runs; needs an open transaction. Returns false if that failed.
SIM_MUST_CHECK bool studio_study_insert(studio_t *studio, int64_t run, const studio_made_t *made);
// Commits the folders, or removes them if the transaction failed, and frees what made holds.
void studio_study_settle(studio_t *studio, studio_made_t *made, bool kept);

#endif // STUDIO_SERVER_RUNS_STUDY_H
