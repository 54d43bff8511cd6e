--[[
  Purpose:   Goes on holding a stream, or gives it back.
  KEYS:      lease
  ARGV:      token, leaseMs  (0: gives it back)
  Returns:   1 where this reader holds it, else 0.
  Invariant: Nobody gives back what another one holds.
]]
local lease = KEYS[1]
local token, leaseMs = ARGV[1], ARGV[2]

if redis.call('GET', lease) ~= token then return 0 end
redis.call('PEXPIRE', lease, leaseMs)
return 1
