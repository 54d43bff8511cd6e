-- What one user is offered, carried out and answered (src/state/redis/packed-answer.ts reads it, from the end).

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
local function apply(user, set, meta, values, fence, out)
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

local function answer(user, set, values, fence, out)
  local meta = unpack_meta(values[1], fence)
  if not meta then out[#out + 1] = MISSING
  elseif meta[KIND] == BUILDING then
    mark_dirty(user, set)
    out[#out + 1] = MARKED_DIRTY
  else apply(user, set, meta, values, fence, out) end
end

local function answer_usual(user, conv, values, part, fence, out)
  local meta, row = values[1], values[2]
  if not meta or not row then return false end
  meta, row = take_usual(meta, row, conv, part, fence)
  if not meta then return false end
  call('HSET', user, '', meta, conv, row)
  local size = #out
  out[size + 1], out[size + 2], out[size + 3], out[size + 4] = conv, row, meta, usual_endings[#meta]
  return true
end
