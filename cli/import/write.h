// SPDX-License-Identifier: Apache-2.0
// cli/import/write.h - writes an imported network as a scenario, as a person would write it.
#ifndef CLI_IMPORT_WRITE_H
#define CLI_IMPORT_WRITE_H

#include "cli/import/fabric.h"

// Returns the scenario as YAML with comments. `sources` names the files that it was made of. Free
// the text with sim_free.
char *import_scenario_text(import_fabric_t *fabric, const char *sources);

#endif // CLI_IMPORT_WRITE_H
