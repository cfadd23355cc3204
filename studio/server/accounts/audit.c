// SPDX-License-Identifier: Apache-2.0
// studio/server/accounts/audit.c - records who did what, when and from where.
#include "studio/server/accounts/accounts.h"

#include "studio/server/http/target.h"
#include "studio/server/store/database.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void studio_audit(studio_t *studio, const studio_user_t *user, const char *address,
                  const char *action, const char *format, ...)
{
    char object[256];
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is in the line before
    if (vsnprintf(object, sizeof(object), format, arguments) < 0) {
        object[0] = '\0';
    }
    va_end(arguments);
    size_t length = strlen(object);
    while (!studio_text_is_clean(object, length)) {
        object[--length] = '\0'; // the text was cut inside a character
    }
    // If the record cannot be written (full disk), the store has printed the error.
    (void)studio_store_do(studio->store,
                          "INSERT INTO audit(at_ms, user, name, address, action, object)"
                          " VALUES (?, nullif(?, 0), ?, ?, ?, ?)",
                          "iissss", studio_now_ms(), user == NULL ? INT64_C(0) : user->id,
                          user == NULL ? "" : user->name, address, action, object);
}
