-- The facts (src/core/facts.ts says what each column means). Everything is bytes: ids are VARBINARY, so that case, trailing spaces
-- and Unicode forms count, under every server's collations alike. Numbers are signed: a difference may be negative on its way.
-- DDL commits by itself, so each statement can be run again after a crash in the middle of a migration.

CREATE TABLE IF NOT EXISTS conversations (
  conv         VARBINARY(128) NOT NULL,
  head_seq     BIGINT         NOT NULL,
  head_ord     BIGINT         NOT NULL,
  member_count BIGINT         NOT NULL,
  rev          BIGINT         NOT NULL,
  members_rev  BIGINT         NOT NULL,
  purge_seq    BIGINT         NOT NULL,
  purge_ord    BIGINT         NOT NULL,
  late_count   BIGINT         NOT NULL,
  dissolved    TINYINT        NOT NULL,
  activity     BIGINT         NOT NULL,
  PRIMARY KEY (conv)
) ENGINE = InnoDB DEFAULT CHARSET = binary;

-- messages_by_sender: the own ordinal at a place.
CREATE TABLE IF NOT EXISTS messages (
  conv        VARBINARY(128) NOT NULL,
  seq         BIGINT         NOT NULL,
  message_id  VARBINARY(128) NOT NULL,
  sender      VARBINARY(128) NOT NULL,
  ord         BIGINT         NOT NULL,
  own_ord     BIGINT         NOT NULL,
  took_ord    TINYINT        NOT NULL,
  countable   TINYINT        NOT NULL,
  recalled    TINYINT        NOT NULL,
  mention_all TINYINT        NOT NULL,
  PRIMARY KEY (conv, seq),
  UNIQUE KEY messages_by_id (conv, message_id),
  KEY messages_by_sender (conv, sender, seq)
) ENGINE = InnoDB DEFAULT CHARSET = binary;

-- The few messages that a count has to look at, kept beside their messages so that it touches no other: those that are countable, live
-- and name all (names_all), and those whose flag is not what their ordinal says (off_ordinal = countable - took_ord): late, recalled
-- before they came, turned off by an edit.
CREATE TABLE IF NOT EXISTS message_marks (
  conv        VARBINARY(128) NOT NULL,
  seq         BIGINT         NOT NULL,
  sender      VARBINARY(128) NOT NULL,
  names_all   TINYINT        NOT NULL,
  off_ordinal TINYINT        NOT NULL,
  PRIMARY KEY (conv, seq),
  KEY marks_naming_all (conv, names_all, seq, sender),
  KEY marks_off_ordinal (conv, off_ordinal)
) ENGINE = InnoDB DEFAULT CHARSET = binary;

-- Left memberships stay, so that rev never falls. By user first: a snapshot reads one stretch.
CREATE TABLE IF NOT EXISTS memberships (
  user           VARBINARY(128) NOT NULL,
  conv           VARBINARY(128) NOT NULL,
  member         TINYINT        NOT NULL,
  join_seq       BIGINT         NOT NULL,
  read_seq       BIGINT         NOT NULL,
  read_epoch     BIGINT         NOT NULL,
  clear_seq      BIGINT         NOT NULL,
  floor_seq      BIGINT         NOT NULL,
  floor_ord      BIGINT         NOT NULL,
  floor_own      BIGINT         NOT NULL,
  own_ord        BIGINT         NOT NULL,
  hidden_ord     BIGINT         NOT NULL,
  hidden_late    BIGINT         NOT NULL,
  away_ord       BIGINT         NOT NULL,
  away_late      BIGINT         NOT NULL,
  muted          TINYINT        NOT NULL,
  marked         TINYINT        NOT NULL,
  member_version BIGINT         NOT NULL,
  rev            BIGINT         NOT NULL,
  PRIMARY KEY (user, conv),
  KEY memberships_present (conv, member, user)
) ENGINE = InnoDB DEFAULT CHARSET = binary;

CREATE TABLE IF NOT EXISTS adjustments (
  conv    VARBINARY(128) NOT NULL,
  seq     BIGINT         NOT NULL,
  sender  VARBINARY(128) NOT NULL,
  delta   TINYINT        NOT NULL,
  late_no BIGINT         NOT NULL,
  PRIMARY KEY (conv, seq),
  KEY adjustments_late (conv, late_no, seq)
) ENGINE = InnoDB DEFAULT CHARSET = binary;

-- counted: the message is countable, live, by somebody else and does not name all. Kept beside the name, so that counting looks up no message.
CREATE TABLE IF NOT EXISTS mentions (
  user    VARBINARY(128) NOT NULL,
  conv    VARBINARY(128) NOT NULL,
  seq     BIGINT         NOT NULL,
  counted TINYINT        NOT NULL,
  PRIMARY KEY (user, conv, seq),
  KEY mentions_by_message (conv, seq, user)
) ENGINE = InnoDB DEFAULT CHARSET = binary;

-- mentions: a JSON list of users; NULL = the edit left them out.
CREATE TABLE IF NOT EXISTS parked (
  conv        VARBINARY(128) NOT NULL,
  message_id  VARBINARY(128) NOT NULL,
  recalled    TINYINT        NOT NULL,
  mentions    LONGBLOB       NULL,
  mention_all TINYINT        NULL,
  uncountable TINYINT        NOT NULL,
  PRIMARY KEY (conv, message_id)
) ENGINE = InnoDB DEFAULT CHARSET = binary;

CREATE TABLE IF NOT EXISTS events (
  event_id    VARBINARY(128) NOT NULL,
  fingerprint VARBINARY(128) NOT NULL,
  seq         BIGINT         NOT NULL,
  accepted_at BIGINT         NOT NULL,
  PRIMARY KEY (event_id),
  KEY events_by_age (accepted_at)
) ENGINE = InnoDB DEFAULT CHARSET = binary;

-- What the fan-out owes. touched_at: when the row was written or last handed out; who asks for older ones leaves those of others alone.
CREATE TABLE IF NOT EXISTS outbox (
  id         BIGINT         NOT NULL AUTO_INCREMENT,
  conv       VARBINARY(128) NOT NULL,
  user       VARBINARY(128) NULL,
  created_at BIGINT         NOT NULL,
  touched_at BIGINT         NOT NULL,
  PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = binary;
