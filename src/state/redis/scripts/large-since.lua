--[[
  Purpose:   the revs of large conversations that were raised since the caller last looked
  KEYS:      partition, large
  ARGV:      fence, generation, count   both as answered the last time; '' and 0 the first time
  Returns:   false when fenced; else {generation, count, isWhole, name, rev, name, rev …}; isWhole 1: forget what was known before
  Invariant: changes nothing
]]
--@include names
--@include fence

local partition, large = KEYS[1], KEYS[2]
local fence, generation, count = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
if is_fenced(partition, fence) then return false end

local RING = 4096
local head = call('HGET', large, '')
if not head or unpack_bytes('<I4', head) < fence then return { '', 0, 1 } end
local _, newest, at = unpack_bytes('<I4I7', head)
local present = cut(head, at)
local answer = { present, newest, 0 }
if present ~= generation or newest - count > RING then
  answer[3] = 1
  local flat = call('HGETALL', large)
  for i = 1, #flat, 2 do
    if flat[i] ~= '' and byte(flat[i]) ~= 255 then answer[#answer + 1], answer[#answer + 2] = flat[i], flat[i + 1] end
  end
  return answer
end
for number = count + 1, newest do
  local conv = call('HGET', large, '\255' .. number % RING)
  answer[#answer + 1], answer[#answer + 2] = conv, call('HGET', large, conv)
end
return answer
