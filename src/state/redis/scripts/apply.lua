--[[
  Purpose:   offers change sets to the rows of many users of one partition, each atomic for its user (flows 2 and 4)
  KEYS:      partition, ...users
  ARGV:      fence, ...calls   pairs of a change set and the number of the next users to whom it is offered
  Returns:   false when fenced; else one answer a user, one behind the other (src/state/redis/packed-answer.ts)
  Invariant: sums and digest of the meta field are those of the listed rows; sync_version rises by 1 where something visible changed
]]
--@include fence
--@include meta
--@include fields
--@include row
--@include visible
--@include large
--@include offer
--@include commit

local partition = KEYS[1]
local fence = tonumber(ARGV[1])
if is_fenced(partition, fence) then return false end

local MISSING, MARKED_DIRTY, APPLIED = '\0', '\1', 2

local function list(items, names_only)
  local packed = { struct.pack('<I3', names_only and #items or #items / 2) }
  for i, bytes in ipairs(items) do packed[i + 1] = struct.pack('Bc0', #bytes, bytes) end
  return table.concat(packed)
end

local function apply(key, call)
  local values = get_fields(key, call.fields)
  local meta = unpack_meta(values[1], fence)
  if not meta then return MISSING end
  if meta.kind == BUILDING then
    local dirty = {}
    for i = 2, #call.fields do dirty[#dirty + 1], dirty[#dirty + 2] = call.fields[i], '' end
    if #dirty > 0 then set_fields(key, dirty) end
    return MARKED_DIRTY
  end
  meta.bytes = values[1]
  local repair = call.repair_version == meta.version and has_epoch(meta, call.repair_epoch)
  local before, now, put, derive = offer(call, values, repair)
  local visible = commit(key, meta, fence, before, now, put)
  return struct.pack('BBc0', APPLIED, #meta.bytes, meta.bytes) .. list(visible) .. list(derive, true)
end

local answers, user = {}, 1
for i = 2, #ARGV, 2 do
  local call = unpack_call(ARGV[i])
  for _ = 1, tonumber(ARGV[i + 1]) do
    user = user + 1
    answers[#answers + 1] = apply(KEYS[user], call)
  end
end
return table.concat(answers)
