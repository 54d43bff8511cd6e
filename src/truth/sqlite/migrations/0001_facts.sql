-- The facts (src/core/facts.ts says what each column means). Ids are TEXT in the default BINARY collation: compared byte for byte.
-- WITHOUT ROWID clusters each table by the key that its hot reads walk along.

CREATE TABLE conversations (
  conv         TEXT    NOT NULL PRIMARY KEY,
  head_seq     INTEGER NOT NULL,
  head_ord     INTEGER NOT NULL,
  member_count INTEGER NOT NULL,
  rev          INTEGER NOT NULL,
  members_rev  INTEGER NOT NULL,
  purge_seq    INTEGER NOT NULL,
  purge_ord    INTEGER NOT NULL,
  late_count   INTEGER NOT NULL,
  dissolved    INTEGER NOT NULL,
  activity     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
  conv        TEXT    NOT NULL,
  seq         INTEGER NOT NULL,
  message_id  TEXT    NOT NULL,
  sender      TEXT    NOT NULL,
  ord         INTEGER NOT NULL,
  own_ord     INTEGER NOT NULL,
  took_ord    INTEGER NOT NULL,
  countable   INTEGER NOT NULL,
  recalled    INTEGER NOT NULL,
  mention_all INTEGER NOT NULL,
  PRIMARY KEY (conv, seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX messages_by_id ON messages (conv, message_id);
-- The own ordinal at a place.
CREATE INDEX messages_by_sender ON messages (conv, sender, seq);
-- The few that name all, so that counting them touches no other message.
CREATE INDEX messages_naming_all ON messages (conv, seq, sender) WHERE mention_all = 1 AND countable = 1 AND recalled = 0;
-- The few whose flag is not what their ordinal says (late, recalled before they came, turned off by an edit): what head_ord misses.
CREATE INDEX messages_off_ordinal ON messages (conv, countable) WHERE took_ord <> countable;

-- Left memberships stay, so that rev never falls. By user first: a snapshot reads one stretch.
CREATE TABLE memberships (
  user           TEXT    NOT NULL,
  conv           TEXT    NOT NULL,
  member         INTEGER NOT NULL,
  join_seq       INTEGER NOT NULL,
  read_seq       INTEGER NOT NULL,
  read_epoch     INTEGER NOT NULL,
  clear_seq      INTEGER NOT NULL,
  floor_seq      INTEGER NOT NULL,
  floor_ord      INTEGER NOT NULL,
  floor_own      INTEGER NOT NULL,
  own_ord        INTEGER NOT NULL,
  hidden_ord     INTEGER NOT NULL,
  hidden_late    INTEGER NOT NULL,
  away_ord       INTEGER NOT NULL,
  away_late      INTEGER NOT NULL,
  muted          INTEGER NOT NULL,
  marked         INTEGER NOT NULL,
  member_version INTEGER NOT NULL,
  rev            INTEGER NOT NULL,
  PRIMARY KEY (user, conv)
) STRICT, WITHOUT ROWID;

CREATE INDEX memberships_present ON memberships (conv, user) WHERE member = 1;

CREATE TABLE adjustments (
  conv    TEXT    NOT NULL,
  seq     INTEGER NOT NULL,
  sender  TEXT    NOT NULL,
  delta   INTEGER NOT NULL CHECK (delta IN (-1, 0, 1)),
  late_no INTEGER NOT NULL,
  PRIMARY KEY (conv, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX adjustments_late ON adjustments (conv, late_no, seq) WHERE late_no > 0;

-- counted: the message is countable, live, by somebody else and does not name all. Kept beside the name, so that counting looks up no message.
CREATE TABLE mentions (
  user    TEXT    NOT NULL,
  conv    TEXT    NOT NULL,
  seq     INTEGER NOT NULL,
  counted INTEGER NOT NULL,
  PRIMARY KEY (user, conv, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX mentions_by_message ON mentions (conv, seq, user);

CREATE TABLE parked (
  conv        TEXT    NOT NULL,
  message_id  TEXT    NOT NULL,
  recalled    INTEGER NOT NULL,
  mentions    TEXT,             -- a JSON list of users; NULL = the edit left them out
  mention_all INTEGER,
  uncountable INTEGER NOT NULL,
  PRIMARY KEY (conv, message_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  event_id    TEXT    NOT NULL PRIMARY KEY,
  fingerprint TEXT    NOT NULL,
  seq         INTEGER NOT NULL,
  accepted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX events_by_age ON events (accepted_at);

-- AUTOINCREMENT: an id is never given out twice, so that "done" said twice cannot take somebody else's row away.
CREATE TABLE outbox (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  conv       TEXT    NOT NULL,
  user       TEXT,
  created_at INTEGER NOT NULL
) STRICT;
