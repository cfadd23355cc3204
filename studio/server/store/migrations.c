// SPDX-License-Identifier: Apache-2.0
// studio/server/store/migrations.c - the tables of users and saved work.
//
// Times are milliseconds since 1970. Of secrets only the hashes are stored.
#include "studio/server/store/database.h"

// clang-format off
static const char first[] =
    "CREATE TABLE users("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  name TEXT NOT NULL UNIQUE COLLATE NOCASE,"
    "  role INTEGER NOT NULL,"
    "  password TEXT," // from crypto_pwhash_str; null: not set yet
    "  created_ms INTEGER NOT NULL,"
    "  seen_ms INTEGER,"
    "  disabled INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE sessions("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  hash BLOB NOT NULL UNIQUE,"
    "  user INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,"
    "  created_ms INTEGER NOT NULL,"
    "  seen_ms INTEGER NOT NULL,"
    "  expires_ms INTEGER NOT NULL,"
    "  address TEXT NOT NULL,"
    "  agent TEXT NOT NULL);"
    "CREATE INDEX sessions_user ON sessions(user);"
    "CREATE TABLE tokens("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  hash BLOB NOT NULL UNIQUE,"
    "  user INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,"
    "  name TEXT NOT NULL,"
    "  role INTEGER NOT NULL,"
    "  created_ms INTEGER NOT NULL,"
    "  expires_ms INTEGER NOT NULL,"
    "  used_ms INTEGER);"
    "CREATE INDEX tokens_user ON tokens(user);"
    "CREATE TABLE links(" // one-time links that set a password
    "  hash BLOB PRIMARY KEY,"
    "  user INTEGER REFERENCES users(id) ON DELETE CASCADE," // null: makes the first user
    "  expires_ms INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE failures("
    "  name TEXT NOT NULL," // in lower case; '': any name
    "  address TEXT NOT NULL," // '': any address
    "  count INTEGER NOT NULL,"
    "  last_ms INTEGER NOT NULL,"
    "  until_ms INTEGER NOT NULL,"
    "  PRIMARY KEY(name, address)) WITHOUT ROWID;"
    "CREATE TABLE audit("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  at_ms INTEGER NOT NULL,"
    "  user INTEGER,"
    "  name TEXT NOT NULL," // the user's name at that time
    "  address TEXT NOT NULL,"
    "  action TEXT NOT NULL,"
    "  object TEXT NOT NULL);"
    "CREATE INDEX audit_user ON audit(user, id);"
    "CREATE INDEX audit_action ON audit(action, id);"
    "CREATE TABLE documents("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  kind TEXT NOT NULL,"
    "  name TEXT NOT NULL,"
    "  body TEXT NOT NULL,"
    "  owner INTEGER NOT NULL REFERENCES users(id),"
    "  shared INTEGER NOT NULL,"
    "  created_ms INTEGER NOT NULL,"
    "  changed_ms INTEGER NOT NULL,"
    "  version INTEGER NOT NULL,"
    "  trashed_ms INTEGER);"
    "CREATE INDEX documents_owner ON documents(owner, kind, id);"
    "CREATE INDEX documents_shared ON documents(shared, kind, id);"
    "CREATE TABLE settings(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;";
static const char second[] =
    "CREATE TABLE known(" // where users have logged in
    "  name TEXT NOT NULL," // in lower case
    "  address TEXT NOT NULL,"
    "  last_ms INTEGER NOT NULL,"
    "  PRIMARY KEY(name, address)) WITHOUT ROWID;";
// clang-format on

const studio_migration_t studio_store_migrations[] = {{1, first}, {2, second}, {0, NULL}};
