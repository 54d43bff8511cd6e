--[[
  Purpose:   puts what was built in the place of its marker (flow 5)
  KEYS:      partition, user
  ARGV:      fence, token, ttlSeconds, ...fields   name, value, name, value …, packed under the same fence
  Returns:   false when fenced; 0: the marker is gone or another's; else the names of conversations that changed meanwhile
  Invariant: nothing is stored but under one's own marker
]]
--@include names
--@include fence
--@include meta
--@include fields

local partition, user = KEYS[1], KEYS[2]
local fence, token, ttlSeconds = tonumber(ARGV[1]), ARGV[2], ARGV[3]
if is_fenced(partition, fence) then return false end

local meta = unpack_meta(call('HGET', user, ''), fence)
if higher then return refuse(partition) end
if not meta or meta[KIND] ~= BUILDING or meta[TOKEN] ~= token then return 0 end
local dirty = {}
for _, name in ipairs(call('HKEYS', user)) do
  if name ~= '' then dirty[#dirty + 1] = name end
end
call('DEL', user)
set_fields(user, ARGV, 4, #ARGV)
call('EXPIRE', user, ttlSeconds)
return dirty
