// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/chain.h - a list in order of insertion, with removal from anywhere.
//
// Members contain a link and are found from it (SIM_CONTAINER_OF). A chain owns no members.
#ifndef APPS_MOONCAKE_ENGINE_CHAIN_H
#define APPS_MOONCAKE_ENGINE_CHAIN_H

#include <stddef.h>

typedef struct app__mc_link app__mc_link_t;
struct app__mc_link {
    app__mc_link_t *older;
    app__mc_link_t *newer;
};

typedef struct app__mc_chain {
    app__mc_link_t *oldest; // both NULL: empty
    app__mc_link_t *newest;
} app__mc_chain_t;

// Appends a link that is in no chain.
static inline void app__mc_chain_add(app__mc_chain_t *chain, app__mc_link_t *link)
{
    *link = (app__mc_link_t){.older = chain->newest};
    if (chain->newest != NULL) {
        chain->newest->newer = link;
    } else {
        chain->oldest = link;
    }
    chain->newest = link;
}

// Removes a link that is in this chain.
static inline void app__mc_chain_remove(app__mc_chain_t *chain, app__mc_link_t *link)
{
    if (link->older != NULL) {
        link->older->newer = link->newer;
    } else {
        chain->oldest = link->newer;
    }
    if (link->newer != NULL) {
        link->newer->older = link->older;
    } else {
        chain->newest = link->older;
    }
}

#endif // APPS_MOONCAKE_ENGINE_CHAIN_H
