// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/study.h - studies in the queue: scripts of the library that make runs of
// their own.
//
// A study is a run whose process is `scenarios/GROUP/run NAME` instead of rocesim, with the same
// limits and in the same confinement; each simulation that it starts has them too. What it
// simulated becomes runs of its group when it has ended: their files are links to those of the
// study, which stay where the script put them.
#ifndef STUDIO_SERVER_RUNS_STUDY_H
#define STUDIO_SERVER_RUNS_STUDY_H

#include "studio/server/studio.h"

#include <jansson.h>

// The setting of a study that makes it short.
#define STUDIO_STUDY_QUICK "quick=true"

// The line of its process, each freed with sim_free, and the list. Of a study that the library
// does not have any more: one that says so, and fails.
char **studio_study_line(const studio_t *studio, const char *study, const json_t *set);
// Makes runs of the results below a study's folder: rows and folders, in a transaction of the
// caller's. False: they could not be written.
SIM_MUST_CHECK bool studio_study_adopt(studio_t *studio, int64_t run, const char *study);

#endif // STUDIO_SERVER_RUNS_STUDY_H
