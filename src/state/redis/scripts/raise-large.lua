--[[
  Purpose:   makes the revs of large conversations known (CN8)
  KEYS:      partition, large
  ARGV:      fence, generation, convsMax, ttlSeconds, ...raises   name, rev, name, rev …
             generation: what a record that begins here is called; one that was lost is never taken for the one before
  Returns:   false when fenced; else 1
  Invariant: a rev is only ever raised; the changes numbered from count - 4095 to count are all in the ring
]]
--@include names
--@include fence

local partition, large = KEYS[1], KEYS[2]
local fence, generation, convsMax, ttlSeconds = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4]
if is_fenced(partition, fence) then return false end

local RING = 4096
local head = call('HGET', large, '')
if not head or unpack_bytes('<I4', head) < fence or call('HLEN', large) > convsMax + RING then
  call('DEL', large)
  head = pack_bytes('<I4I7', fence, 0) .. generation
end
local _, count, at = unpack_bytes('<I4I7', head)
for i = 5, #ARGV, 2 do
  local conv, rev = ARGV[i], tonumber(ARGV[i + 1])
  if rev > tonumber(call('HGET', large, conv) or -1) then
    count = count + 1
    call('HSET', large, conv, ARGV[i + 1], '\255' .. count % RING, conv)
  end
end
call('HSET', large, '', pack_bytes('<I4I7', fence, count) .. cut(head, at))
call('EXPIRE', large, ttlSeconds)
return 1
