-- Ids of our own making are TEXT; what a provider made (ids, option kinds) is BLOB, so that no tool
-- takes a NUL for an end. Times are UTC in microseconds since 1970. Ids are ordered by time, which
-- keeps the hot pages of every index few.

CREATE TABLE users (
    user_id TEXT NOT NULL PRIMARY KEY,
    kind    TEXT NOT NULL CHECK (kind IN ('person', 'synthetic')),
    name    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE workspaces (
    workspace_id TEXT NOT NULL PRIMARY KEY,
    owner_id     TEXT NOT NULL REFERENCES users (user_id),
    name         TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
    task_id      TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
    title        TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    session_id TEXT NOT NULL PRIMARY KEY,
    task_id    TEXT NOT NULL REFERENCES tasks (task_id),
    label      TEXT NOT NULL,
    UNIQUE (task_id, session_id)
) STRICT, WITHOUT ROWID;

-- Credentials: the secret is shown once; its SHA-256 is all that is kept.

CREATE TABLE access_tokens (
    credential_id TEXT NOT NULL PRIMARY KEY,
    hash          BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    user_id       TEXT NOT NULL REFERENCES users (user_id),
    scopes        TEXT NOT NULL,
    label         TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER,
    revoked_at    INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE execution_credentials (
    credential_id TEXT NOT NULL PRIMARY KEY,
    hash          BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    session_id    TEXT NOT NULL REFERENCES sessions (session_id),
    label         TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER,
    revoked_at    INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE executions (
    seq           INTEGER PRIMARY KEY,
    execution_id  TEXT NOT NULL UNIQUE,
    session_id    TEXT NOT NULL REFERENCES sessions (session_id),
    credential_id TEXT NOT NULL REFERENCES execution_credentials (credential_id),
    secret_hash   BLOB NOT NULL CHECK (length(secret_hash) = 32),
    epoch         INTEGER NOT NULL CHECK (epoch > 0),
    started_at    INTEGER NOT NULL,
    ended_at      INTEGER,
    end_reason    TEXT,
    CHECK ((ended_at IS NULL) = (end_reason IS NULL))
) STRICT;

-- Ends in the row's seq, so that it finds the newest execution of a session.
CREATE INDEX executions_of_session ON executions (session_id);
CREATE UNIQUE INDEX executions_open ON executions (session_id) WHERE ended_at IS NULL;

-- The transcript. A message remembers a prompt; it never makes one answerable.

CREATE TABLE messages (
    seq           INTEGER PRIMARY KEY,
    task_id       TEXT NOT NULL,
    session_id    TEXT NOT NULL,
    request_id    TEXT NOT NULL,
    pending_id    BLOB NOT NULL,
    tool_call_id  BLOB,
    title         TEXT NOT NULL,
    action        TEXT,
    options       TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    status        TEXT NOT NULL,
    expiry_reason TEXT,
    UNIQUE (session_id, request_id),
    FOREIGN KEY (task_id, session_id) REFERENCES sessions (task_id, session_id)
) STRICT;

-- Small however long the transcript grows.
CREATE INDEX messages_pending ON messages (session_id) WHERE status = 'pending';

-- The claims. The primary key is the compare-and-set: one claim per request, for ever.

CREATE TABLE claims (
    session_id    TEXT NOT NULL,
    request_id    TEXT NOT NULL,
    claim_id      TEXT NOT NULL UNIQUE,
    task_id       TEXT NOT NULL,
    pending_id    BLOB NOT NULL,
    option_id     BLOB NOT NULL,
    option_kind   BLOB NOT NULL,
    actor_user_id TEXT NOT NULL,
    actor_kind    TEXT NOT NULL,
    source        TEXT NOT NULL,
    selected_at   INTEGER NOT NULL,
    finalized_at  INTEGER,
    result        TEXT NOT NULL,
    PRIMARY KEY (session_id, request_id),
    FOREIGN KEY (task_id, session_id) REFERENCES sessions (task_id, session_id),
    CHECK ((result = 'dispatching') = (finalized_at IS NULL))
) STRICT, WITHOUT ROWID;

-- Small however many claims ended.
CREATE INDEX claims_open ON claims (session_id) WHERE result = 'dispatching';

CREATE TRIGGER claims_are_kept BEFORE DELETE ON claims
BEGIN
    SELECT raise(ABORT, 'a claim is never deleted');
END;

CREATE TRIGGER claims_never_reopen BEFORE UPDATE ON claims
WHEN new.result = 'dispatching'
    OR old.result NOT IN ('dispatching', 'indeterminate')
    OR (old.result = 'indeterminate' AND new.result = 'indeterminate')
BEGIN
    SELECT raise(ABORT, 'a claim ends once and never reopens');
END;

CREATE TRIGGER claims_keep_their_choice
BEFORE UPDATE OF session_id, request_id, claim_id, task_id, pending_id, option_id, option_kind,
    actor_user_id, actor_kind, source, selected_at ON claims
BEGIN
    SELECT raise(ABORT, 'the choice of a claim never changes');
END;

-- The append-only record of attempts, in the order in which they were recorded.

CREATE TABLE attempts (
    seq           INTEGER PRIMARY KEY,
    attempt_id    TEXT NOT NULL UNIQUE,
    task_id       TEXT NOT NULL,
    session_id    TEXT NOT NULL,
    request_id    TEXT NOT NULL,
    pending_id    BLOB NOT NULL,
    claim_id      TEXT,
    option_id     BLOB,
    option_kind   BLOB,
    actor_user_id TEXT,
    actor_kind    TEXT,
    source        TEXT,
    result        TEXT NOT NULL,
    code          TEXT,
    selected_at   INTEGER,
    recorded_at   INTEGER NOT NULL,
    FOREIGN KEY (task_id, session_id) REFERENCES sessions (task_id, session_id)
) STRICT;

-- Ends in the row's seq, so that it has a session's rows in their order.
CREATE INDEX attempts_of_session ON attempts (session_id);

CREATE TRIGGER attempts_are_never_changed BEFORE UPDATE ON attempts
BEGIN
    SELECT raise(ABORT, 'attempts are append-only');
END;

CREATE TRIGGER attempts_are_never_deleted BEFORE DELETE ON attempts
BEGIN
    SELECT raise(ABORT, 'attempts are append-only');
END;

-- The number of the last group of commands that each writer committed: how a writer whose COMMIT
-- failed finds out whether it took effect.

CREATE TABLE writers (
    seq    INTEGER PRIMARY KEY,
    writer BLOB NOT NULL UNIQUE,
    batch  INTEGER NOT NULL
) STRICT;
