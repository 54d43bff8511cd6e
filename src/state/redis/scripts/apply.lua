--[[
  Purpose:   offers change sets to the rows of many users of one partition, each atomic for its user (flows 2 and 4)
  KEYS:      partition, ...users
  ARGV:      fence, ...calls   pairs of a change set and the number of the next users to whom it is offered
  Returns:   false when fenced; else one answer a user, to be read from the end (src/state/redis/packed-answer.ts)
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
-- How an answer ends: by the length of its meta field, and the numbers of visible rows and of conversations to be derived.
local function ending(meta_bytes, visible, derives)
  return struct.pack('<BI3I3B', meta_bytes, visible, derives, APPLIED)
end
local usual_endings = setmetatable({}, { __index = function(known, meta_bytes)
  known[meta_bytes] = ending(meta_bytes, 1, 0)
  return known[meta_bytes]
end })

local function mark_dirty(user, call)
  local dirty = {}
  for _, item in ipairs(call.items) do dirty[#dirty + 1], dirty[#dirty + 2] = item.conv, '' end
  set_fields(user, dirty, 1, #dirty)
end

-- Name, row, name, row … to be stored; used again for each user.
local stored = {}

-- Puts what became visible at the end of `out`, then the conversations to be derived, the meta field, and the ending.
local function apply(user, call, meta, values, out)
  local version = meta[SYNC_VERSION] + 1
  local repair = call.repair and call.repair[1] == version - 1 and has_epoch(meta, call.repair[2])
  local last, visible, derives, moved = 0, 0, nil, nil
  for i, item in ipairs(call.items) do
    local conv, bytes = item.conv, values[i + 1]
    local held = bytes and unpack_row(bytes)
    local row, must_derive = offer(held, item, repair)
    if must_derive then
      derives = derives or {}
      derives[#derives + 1] = conv
    end
    if row and row ~= held then
      local is_visible = commit_row(meta, version, conv, held, row)
      bytes = pack_row(conv, row)
      stored[last + 1], stored[last + 2] = conv, bytes
      last = last + 2
      if is_visible then
        visible = visible + 1
        out[#out + 1] = conv
        out[#out + 1] = bytes
      end
      if is_large(held) ~= is_large(row) then
        moved = moved or {}
        moved[conv] = is_large(row)
      end
    end
  end
  if moved then store_large(user, moved) end
  if meta[TOMBSTONES] > TOMBSTONES_MAX then
    set_fields(user, stored, 1, last)
    last = 0
    drop_old_tombstones(user, meta)
  end
  local bytes = values[1]
  if visible > 0 then
    bytes = pack_meta(meta, fence)
    stored[last + 1], stored[last + 2] = '', bytes
    last = last + 2
  end
  set_fields(user, stored, 1, last)
  for _, conv in ipairs(derives or {}) do
    out[#out + 1] = conv
    out[#out + 1] = string.char(#conv)
  end
  out[#out + 1] = bytes
  out[#out + 1] = visible == 1 and not derives and usual_endings[#bytes] or ending(#bytes, visible, derives and #derives or 0)
end

local out, number = {}, 1
for i = 2, #ARGV, 2 do
  local call = read_call(ARGV[i])
  for _ = 1, tonumber(ARGV[i + 1]) do
    number = number + 1
    local user = KEYS[number]
    local values = get_fields(user, call.fields)
    local meta = unpack_meta(values[1], fence)
    if not meta then out[#out + 1] = MISSING
    elseif meta[KIND] == BUILDING then
      mark_dirty(user, call)
      out[#out + 1] = MARKED_DIRTY
    else apply(user, call, meta, values, out) end
  end
end
return table.concat(out)
