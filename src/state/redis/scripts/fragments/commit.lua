-- What becomes visible of the rows that were put (src/core/user-state.ts, `commit`): all of it is one version (SY1), or none (SY9).

local TOMBSTONES_MAX = 1000

local function commit_row(meta, conv, old, row)
  row.version, row.activity = meta.version, row.latest
  local listing = old and listing_of(old)
  if listing == 'listed' then add_to_sums(meta, old, -1)
  elseif listing == 'gone' and old.version > 0 then meta.tombstones = meta.tombstones - 1 end
  listing = listing_of(row)
  row.digest = 0
  if listing == 'listed' then
    row.digest = digest_of(conv, row)
    add_to_sums(meta, row, 1)
  elseif listing == 'gone' then meta.tombstones = meta.tombstones + 1 end
end

-- SY2, LC2: cursors below the floor get a snapshot. A dropped tombstone stays as a row that was never visible.
local function drop_old_tombstones(key, meta)
  local flat, gone = redis.call('HGETALL', key), {}
  for i = 1, #flat, 2 do
    local row = flat[i] ~= '' and flat[i] ~= LARGE_FIELD and unpack_row(flat[i + 1])
    if row and row.version > 0 and listing_of(row) == 'gone' then gone[#gone + 1] = { conv = flat[i], row = row } end
  end
  table.sort(gone, function(a, b) return a.row.version < b.row.version end)
  meta.floor = gone[math.ceil(TOMBSTONES_MAX / 4)].row.version
  local stored = {}
  for _, one in ipairs(gone) do
    if one.row.version > meta.floor then break end
    one.row.version, meta.tombstones = 0, meta.tombstones - 1
    stored[#stored + 1] = one.conv
    stored[#stored + 1] = pack_row(one.conv, one.row)
  end
  set_fields(key, stored)
end

local function is_large(row)
  return row and has(row.flags, LARGE) and has(row.flags, MEMBER)
end

-- Answers the fields that became visible: name, row, name, row …
local function commit(key, meta, fence, before, now, put)
  local version, visible, stored, moved = meta.version, {}, {}, nil
  for _, conv in ipairs(put) do
    local old, row = before[conv], now[conv]
    local is_visible
    if old then is_visible = not looks_same(old, row) else is_visible = listing_of(row) ~= 'gone' end
    if is_visible then
      meta.version = version + 1
      commit_row(meta, conv, old, row)
    end
    local bytes = pack_row(conv, row)
    stored[#stored + 1], stored[#stored + 2] = conv, bytes
    if is_visible then visible[#visible + 1], visible[#visible + 2] = conv, bytes end
    if is_large(old) ~= is_large(row) then
      moved = moved or {}
      moved[conv] = is_large(row) or false
    end
  end
  if moved then store_large(key, moved) end
  if meta.tombstones > TOMBSTONES_MAX then
    set_fields(key, stored)
    stored = {}
    drop_old_tombstones(key, meta)
  end
  if meta.version > version then
    meta.bytes = pack_meta(meta, fence)
    stored[#stored + 1], stored[#stored + 2] = '', meta.bytes
  end
  if #stored > 0 then set_fields(key, stored) end
  return visible
end
