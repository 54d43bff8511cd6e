/** Unix ms by the clock of the server, in a session whose time zone is UTC. */
export const NOW_MS = 'CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)';
