// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/consistency/agreement.h - whether folders and database belong together.
//
// A server that started with a lost, an older or a foreign database would give numbers out again
// and write into folders of other runs. So a start compares both first and refuses what does not
// agree; --adopt takes in what the database lacks. Neither removes anything.
#ifndef STUDIO_SERVER_RUNS_CONSISTENCY_AGREEMENT_H
#define STUDIO_SERVER_RUNS_CONSISTENCY_AGREEMENT_H

#include "studio/server/studio.h"

// Looks at the folder before the database is opened. Refuses a folder whose database is missing or
// empty although it has served a studio, and one that holds other files. With adopt, a journal
// without a database is renamed, because SQLite would remove it.
SIM_MUST_CHECK sim_err_t studio_agreement_before(const char *data, bool adopt,
                                                 sim_message_t *message);

// Differences between the database and the folders.
typedef struct studio_agreement {
    char **findings; // one line each, for people
    size_t finding_count;
    size_t finding_capacity;
    int64_t *folders; // numbers of folders without an entry
    size_t folder_count;
    size_t folder_capacity;
    int64_t *entries; // numbers of entries without a folder
    size_t entry_count;
    size_t entry_capacity;
    int64_t *unfinished; // numbers of folders whose order was interrupted
    size_t unfinished_count;
    size_t unfinished_capacity;
    int64_t highest; // highest number that a folder or DATA/numbers knows
} studio_agreement_t;

// Compares the opened database with the folder, which a server may be using.
void studio_agreement_look(const char *data, struct studio_store *store,
                           studio_agreement_t *agreement);
// Prints what differs on the standard error, and returns an error if anything does.
SIM_MUST_CHECK sim_err_t studio_agreement_judge(const char *data,
                                                const studio_agreement_t *agreement,
                                                sim_message_t *message);
void studio_agreement_fini(studio_agreement_t *agreement);

// Finishes or removes the folders of orders that an earlier server did not complete.
void studio_agreement_settle(const studio_t *studio, const studio_agreement_t *agreement);
// Makes entries for folders without one, marks entries without a folder as failed, prints each on
// the standard output, and gives out no number again.
SIM_MUST_CHECK sim_err_t studio_agreement_adopt(studio_t *studio,
                                                const studio_agreement_t *agreement,
                                                sim_message_t *message);

#endif // STUDIO_SERVER_RUNS_CONSISTENCY_AGREEMENT_H
