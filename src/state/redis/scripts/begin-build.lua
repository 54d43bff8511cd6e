--[[
  Purpose:   writes the marker of a build in place of whatever is there (flow 5)
  KEYS:      partition, user
  ARGV:      fence, token, takeOverAfterMs, ttlSeconds
  Returns:   false when fenced; 1: the build may begin; 0: another one is under way and not yet that old
  Invariant: a key under a marker holds nothing but the names of conversations that changed meanwhile
]]
--@include names
--@include fence
--@include meta

local partition, user = KEYS[1], KEYS[2]
local fence, token, takeOverAfterMs, ttlSeconds = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4]
if is_fenced(partition, fence) then return false end

local time = call('TIME')
local now_ms = time[1] * 1000 + floor(time[2] / 1000)
local meta = unpack_meta(call('HGET', user, ''), fence)
if higher then return refuse(partition) end
if meta and meta[KIND] == BUILDING and meta[TOKEN] ~= token and now_ms - meta[STARTED_MS] < takeOverAfterMs then return 0 end
call('DEL', user)
call('HSET', user, '', pack_bytes(NUMBERS[BUILDING], BUILDING, fence, now_ms) .. token)
call('EXPIRE', user, ttlSeconds)
return 1
