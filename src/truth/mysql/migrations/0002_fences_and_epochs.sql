-- ARCHITECTURE, truth and state, fence: which server of the state store a partition is served by (src/ports.ts, Fence).
CREATE TABLE IF NOT EXISTS fences (
  partition_no INT            NOT NULL,
  number       BIGINT         NOT NULL,
  run_id       VARBINARY(128) NOT NULL,
  repl_id      VARBINARY(128) NOT NULL,
  PRIMARY KEY (partition_no)
) ENGINE = InnoDB DEFAULT CHARSET = binary;

-- SY1: the epoch that all users share at their first build; one row.
CREATE TABLE IF NOT EXISTS installation (
  id    TINYINT       NOT NULL,
  epoch VARBINARY(16) NOT NULL,
  PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = binary;

-- Users whose first build has been: the shared epoch is theirs no more. claim: who was first, drawn for each attempt.
CREATE TABLE IF NOT EXISTS built_users (
  user  VARBINARY(128) NOT NULL,
  claim VARBINARY(16)  NOT NULL,
  PRIMARY KEY (user)
) ENGINE = InnoDB DEFAULT CHARSET = binary;
