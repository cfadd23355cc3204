// SPDX-License-Identifier: Apache-2.0
// studio/server/http/page.h - the page's files, read once when the server starts.
//
// The folder holds index.html and what it names; FILE.gz beside a file is what is sent to browsers
// that understand it. Files below assets/ have a hash in their name and are kept for ever. Nothing
// is opened at a request, so there is no way out of the folder.
//
// index.html may say {{nonce}} where an inline style's nonce belongs: each answer has another.
#ifndef STUDIO_SERVER_HTTP_PAGE_H
#define STUDIO_SERVER_HTTP_PAGE_H

#include "kernel/base.h"

typedef struct studio_page studio_page_t;

// A folder that is not there is no error: the server then says how the page is built.
studio_page_t *studio_page_load(const char *folder);
void studio_page_destroy(studio_page_t *page);

#endif // STUDIO_SERVER_HTTP_PAGE_H
