--[[
  Purpose:   puts what was built in the place of its marker (flow 5)
  KEYS:      partition, user
  ARGV:      fence, token, ttlSeconds, evenIfDirty, ...fields   '1' or '0'; name, value, name, value …, packed under the same fence
  Returns:   false when fenced; 0: the marker is gone or another's; else {stored (1 or 0), ...names of conversations that changed
             meanwhile}; not stored, they are off the list, and the marker stays
  Invariant: nothing is stored but under one's own marker
]]
--@include names
--@include fence
--@include meta
--@include fields

local partition, user = KEYS[1], KEYS[2]
local fence, token, ttlSeconds, evenIfDirty = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
if is_fenced(partition, fence) then return false end

local meta = unpack_meta(call('HGET', user, ''), fence)
if higher then return refuse(partition) end
if not meta or meta[KIND] ~= BUILDING or meta[TOKEN] ~= token then return 0 end
local answer = { 1 }
for _, name in ipairs(call('HKEYS', user)) do
  if name ~= '' then answer[#answer + 1] = name end
end
if #answer > 1 and evenIfDirty == '0' then
  answer[1] = 0
  for i = 2, #answer do call('HDEL', user, answer[i]) end
  return answer
end
call('DEL', user)
set_fields(user, ARGV, 5, #ARGV)
call('EXPIRE', user, ttlSeconds)
return answer
