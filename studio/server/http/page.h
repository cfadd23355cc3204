// SPDX-License-Identifier: Apache-2.0
// studio/server/http/page.h - the page's files, read once when the server starts.
//
// The folder holds index.html and the files it names; a browser that accepts gzip gets FILE.gz
// instead of FILE. Names below assets/ contain a hash, so browsers may cache them for ever. No
// request opens a file, so none can leave the folder. {{nonce}} in index.html becomes a new nonce
// in each answer.
#ifndef STUDIO_SERVER_HTTP_PAGE_H
#define STUDIO_SERVER_HTTP_PAGE_H

#include "kernel/base.h"

typedef struct studio_page studio_page_t;

// Reads the folder. If it is missing, the server answers with a page that says how to build it.
studio_page_t *studio_page_load(const char *folder);
void studio_page_destroy(studio_page_t *page);

#endif // STUDIO_SERVER_HTTP_PAGE_H
