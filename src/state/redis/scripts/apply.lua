--[[
  Purpose:   offers change sets to the rows of many users of one partition, each atomic for its user (flows 2 and 4)
  KEYS:      partition, ...users
  ARGV:      fence, ...calls   pairs of a change set and the number of the next users to whom it is offered
  Returns:   false when fenced; else one answer a user, to be read from the end (src/state/redis/packed-answer.ts)
  Invariant: sums and digest of the meta field are those of the listed rows; sync_version rises by 1 where something visible changed
]]
--@include names
--@include fence
--@include meta
--@include fields
--@include row
--@include visible
--@include large
--@include offer
--@include commit
--@include usual

local partition = KEYS[1]
local fence = tonumber(ARGV[1])
if is_fenced(partition, fence) then return false end

local MISSING, MARKED_DIRTY, APPLIED = '\0', '\1', 2
-- How an answer ends: by the length of its meta field, and the numbers of visible rows and of conversations to be derived.
local function ending(meta_bytes, visible, derives)
  return pack_bytes('<BI3I3B', meta_bytes, visible, derives, APPLIED)
end
local usual_endings = setmetatable({}, { __index = function(known, meta_bytes)
  known[meta_bytes] = ending(meta_bytes, 1, 0)
  return known[meta_bytes]
end })

local function mark_dirty(user, set)
  local dirty = {}
  for _, item in ipairs(set.items) do dirty[#dirty + 1], dirty[#dirty + 2] = item.conv, '' end
  set_fields(user, dirty, 1, #dirty)
end

-- Name, row, name, row … to be stored; used again for each user.
local stored = {}

-- Puts what became visible at the end of `out`, then the conversations to be derived, the meta field, and the ending.
local function apply(user, set, meta, values, out)
  local version = meta[SYNC_VERSION] + 1
  local repair = set.repair and set.repair[1] == version - 1 and has_epoch(meta, set.repair[2])
  local last, visible, derives, moved = 0, 0, nil, nil
  local items = set.items
  for i = 1, #items do
    local item = items[i]
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
        local size = #out
        out[size + 1], out[size + 2] = conv, bytes
      end
      local is_large = larges[row[FLAGS]]
      if is_large ~= (held and larges[held[FLAGS]] or false) then
        moved = moved or {}
        moved[conv] = is_large
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
  if derives then
    for _, conv in ipairs(derives) do
      out[#out + 1] = conv
      out[#out + 1] = char(#conv)
    end
  end
  local size = #out
  out[size + 1] = bytes
  out[size + 2] = visible == 1 and not derives and usual_endings[#bytes] or ending(#bytes, visible, derives and #derives or 0)
end

local function answer(user, set, values, out)
  local meta = unpack_meta(values[1], fence)
  if not meta then out[#out + 1] = MISSING
  elseif meta[KIND] == BUILDING then
    mark_dirty(user, set)
    out[#out + 1] = MARKED_DIRTY
  else apply(user, set, meta, values, out) end
end

local function answer_usual(user, conv, values, part, out)
  local meta, row = values[1], values[2]
  if not meta or not row then return false end
  meta, row = take_usual(meta, row, conv, part, fence)
  if not meta then return false end
  call('HSET', user, '', meta, conv, row)
  local size = #out
  out[size + 1], out[size + 2], out[size + 3], out[size + 4] = conv, row, meta, usual_endings[#meta]
  return true
end

local out, number = {}, 1
for i = 2, #ARGV, 2 do
  local set = read_call(ARGV[i])
  local conv = is_usual_part(set) and set.items[1].conv
  local part = conv and set.items[1].parts[1]
  for _ = 1, tonumber(ARGV[i + 1]) do
    number = number + 1
    local user = KEYS[number]
    local values = get_fields(user, set.fields)
    if not conv or not answer_usual(user, conv, values, part, out) then answer(user, set, values, out) end
    if higher then return refuse(partition) end
  end
end
return concat(out)
