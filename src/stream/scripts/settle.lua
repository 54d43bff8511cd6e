--[[
  Purpose:   Writes down what became of entries: those that are done leave the stream, refusals are counted.
  KEYS:      stream, lease, refusals
  ARGV:      group, token, doneCount, ...ids  (the first doneCount are done, the others refused)
  Returns:   nil where this reader does not hold the stream any more, else how often each refused one has been refused by now.
  Invariant: Only the holder settles: what a reader had in hand when it lost the stream is judged by the next one.
]]
local stream, lease, refusals = KEYS[1], KEYS[2], KEYS[3]
local group, token, doneCount = ARGV[1], ARGV[2], tonumber(ARGV[3])

if redis.call('GET', lease) ~= token then return false end

if doneCount > 0 then
  local done = { unpack(ARGV, 4, 3 + doneCount) }
  redis.call('XACK', stream, group, unpack(done))
  redis.call('XDEL', stream, unpack(done))
  redis.call('HDEL', refusals, unpack(done))
end
local counts = {}
for i = 4 + doneCount, #ARGV do counts[#counts + 1] = redis.call('HINCRBY', refusals, ARGV[i], 1) end
return counts
