--[[
  Purpose:   Says that a node reads, and counts those that do.
  KEYS:      nodes
  ARGV:      node, aliveMs  (0: it reads no more)
  Returns:   Nodes that said so within aliveMs.
  Invariant: Times are those of the server; nothing but the spread of streams over nodes depends on them.
]]
local nodes = KEYS[1]
local node, aliveMs = ARGV[1], tonumber(ARGV[2])

if aliveMs == 0 then
  redis.call('ZREM', nodes, node)
  return 0
end
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('ZADD', nodes, nowMs, node)
redis.call('ZREMRANGEBYSCORE', nodes, '-inf', nowMs - aliveMs)
redis.call('PEXPIRE', nodes, aliveMs)
return redis.call('ZCARD', nodes)
