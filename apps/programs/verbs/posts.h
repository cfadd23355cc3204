// SPDX-License-Identifier: Apache-2.0
// apps/programs/verbs/posts.h - work requests that a process has posted.
#ifndef APPS_PROGRAMS_VERBS_POSTS_H
#define APPS_PROGRAMS_VERBS_POSTS_H

#include "apps/programs/guest.h"

// Works on all posts that lie in shared memory, each at the time at which it was made.
void app__program_post_all(app__program_t *program);
// Makes the room that it needs for posts; the caller frees it.
struct checked *app__program_chain(void);

#endif // APPS_PROGRAMS_VERBS_POSTS_H
