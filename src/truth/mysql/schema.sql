-- What all migrations together make; written by the test that compares it (vitest -u).

CREATE TABLE adjustments (
  conv VARBINARY(128) NOT NULL,
  seq BIGINT NOT NULL,
  sender VARBINARY(128) NOT NULL,
  delta TINYINT NOT NULL,
  late_no BIGINT NOT NULL,
  PRIMARY KEY (conv, seq),
  KEY adjustments_late (conv, late_no, seq)
) ENGINE = InnoDB COLLATE = binary;

CREATE TABLE built_users (
  user VARBINARY(128) NOT NULL,
  claim VARBINARY(16) NOT NULL,
  PRIMARY KEY (user)
) ENGINE = InnoDB COLLATE = binary;

CREATE TABLE conversations (
  conv VARBINARY(128) NOT NULL,
  head_seq BIGINT NOT NULL,
  head_ord BIGINT NOT NULL,
  member_count BIGINT NOT NULL,
  rev BIGINT NOT NULL,
  members_rev BIGINT NOT NULL,
  purge_seq BIGINT NOT NULL,
  purge_ord BIGINT NOT NULL,
  late_count BIGINT NOT NULL,
  dissolved TINYINT NOT NULL,
  activity BIGINT NOT NULL,
  PRIMARY KEY (conv)
) ENGINE = InnoDB COLLATE = binary;

CREATE TABLE events (
  event_id VARBINARY(128) NOT NULL,
  fingerprint VARBINARY(128) NOT NULL,
  seq BIGINT NOT NULL,
  accepted_at BIGINT NOT NULL,
  PRIMARY KEY (event_id),
  KEY events_by_age (accepted_at)
) ENGINE = InnoDB COLLATE = binary;

CREATE TABLE fences (
  partition_no INT NOT NULL,
  number BIGINT NOT NULL,
  run_id VARBINARY(128) NOT NULL,
  repl_id VARBINARY(128) NOT NULL,
  PRIMARY KEY (partition_no)
) ENGINE = InnoDB COLLATE = binary;

CREATE TABLE installation (
  id TINYINT NOT NULL,
  epoch VARBINARY(16) NOT NULL,
  PRIMARY KEY (id)
) ENGINE = InnoDB COLLATE = binary;

CREATE TABLE leases (
  name VARBINARY(64) NOT NULL,
  holder VARBINARY(64) NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (name)
) ENGINE = InnoDB COLLATE = binary;

CREATE TABLE memberships (
  user VARBINARY(128) NOT NULL,
  conv VARBINARY(128) NOT NULL,
  member TINYINT NOT NULL,
  join_seq BIGINT NOT NULL,
  read_seq BIGINT NOT NULL,
  read_epoch BIGINT NOT NULL,
  clear_seq BIGINT NOT NULL,
  floor_seq BIGINT NOT NULL,
  floor_ord BIGINT NOT NULL,
  floor_own BIGINT NOT NULL,
  own_ord BIGINT NOT NULL,
  hidden_ord BIGINT NOT NULL,
  hidden_late BIGINT NOT NULL,
  away_ord BIGINT NOT NULL,
  away_late BIGINT NOT NULL,
  muted TINYINT NOT NULL,
  marked TINYINT NOT NULL,
  member_version BIGINT NOT NULL,
  rev BIGINT NOT NULL,
  PRIMARY KEY (user, conv),
  KEY memberships_present (conv, member, user)
) ENGINE = InnoDB COLLATE = binary;

CREATE TABLE mentions (
  user VARBINARY(128) NOT NULL,
  conv VARBINARY(128) NOT NULL,
  seq BIGINT NOT NULL,
  counted TINYINT NOT NULL,
  PRIMARY KEY (user, conv, seq),
  KEY mentions_by_message (conv, seq, user)
) ENGINE = InnoDB COLLATE = binary;

CREATE TABLE message_marks (
  conv VARBINARY(128) NOT NULL,
  seq BIGINT NOT NULL,
  sender VARBINARY(128) NOT NULL,
  names_all TINYINT NOT NULL,
  off_ordinal TINYINT NOT NULL,
  PRIMARY KEY (conv, seq),
  KEY marks_naming_all (conv, names_all, seq, sender),
  KEY marks_off_ordinal (conv, off_ordinal)
) ENGINE = InnoDB COLLATE = binary;

CREATE TABLE messages (
  conv VARBINARY(128) NOT NULL,
  seq BIGINT NOT NULL,
  message_id VARBINARY(128) NOT NULL,
  sender VARBINARY(128) NOT NULL,
  ord BIGINT NOT NULL,
  own_ord BIGINT NOT NULL,
  took_ord TINYINT NOT NULL,
  countable TINYINT NOT NULL,
  recalled TINYINT NOT NULL,
  mention_all TINYINT NOT NULL,
  PRIMARY KEY (conv, seq),
  UNIQUE KEY messages_by_id (conv, message_id),
  KEY messages_by_sender (conv, sender, seq)
) ENGINE = InnoDB COLLATE = binary;

CREATE TABLE migrations (
  number INT NOT NULL,
  name VARBINARY(128) NOT NULL,
  PRIMARY KEY (number)
) ENGINE = InnoDB COLLATE = binary;

CREATE TABLE outbox (
  id BIGINT NOT NULL AUTO_INCREMENT,
  conv VARBINARY(128) NOT NULL,
  user VARBINARY(128) NULL,
  created_at BIGINT NOT NULL,
  touched_at BIGINT NOT NULL,
  PRIMARY KEY (id)
) ENGINE = InnoDB COLLATE = binary;

CREATE TABLE parked (
  conv VARBINARY(128) NOT NULL,
  message_id VARBINARY(128) NOT NULL,
  recalled TINYINT NOT NULL,
  mentions LONGBLOB NULL,
  mention_all TINYINT NULL,
  uncountable TINYINT NOT NULL,
  PRIMARY KEY (conv, message_id)
) ENGINE = InnoDB COLLATE = binary;
