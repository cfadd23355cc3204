// SPDX-License-Identifier: Apache-2.0
// studio/server/http/cookie.h - reads and sets the session cookie.
#ifndef STUDIO_SERVER_HTTP_COOKIE_H
#define STUDIO_SERVER_HTTP_COOKIE_H

#include "studio/server/http/route.h"

// Returns the session secret that the client sent; NULL if it sent none.
const char *studio_cookie_of(const studio_request_t *request);
// Sets the cookie: HttpOnly, SameSite=Strict, and Secure with TLS. age_s is in seconds; 0 removes
// the cookie.
void studio_cookie_set(const studio_request_t *request, studio_response_t *response,
                       const char *secret, int64_t age_s);

#endif // STUDIO_SERVER_HTTP_COOKIE_H
