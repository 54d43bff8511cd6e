--[[
  Purpose:   takes a marker away again, so that the next build may begin at once (flow 5)
  KEYS:      partition, user
  ARGV:      fence, token
  Returns:   false when fenced; 1: the marker was this token's and is gone; 0: it was not
  Invariant: another's marker and a live state are left alone
]]
--@include names
--@include fence
--@include meta

local partition, user = KEYS[1], KEYS[2]
local fence, token = tonumber(ARGV[1]), ARGV[2]
if is_fenced(partition, fence) then return false end

local meta = unpack_meta(call('HGET', user, ''), fence)
if higher then return refuse(partition) end
if not meta or meta[KIND] ~= BUILDING or meta[TOKEN] ~= token then return 0 end
return call('DEL', user)
