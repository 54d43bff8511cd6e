-- What one node at a time does: who may do it, and until when by the clock of this server.
CREATE TABLE IF NOT EXISTS leases (
  name       VARBINARY(64) NOT NULL,
  holder     VARBINARY(64) NOT NULL,
  expires_at BIGINT        NOT NULL,
  PRIMARY KEY (name)
) ENGINE = InnoDB DEFAULT CHARSET = binary;
