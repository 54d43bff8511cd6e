-- What becomes visible of a row that was put (src/core/user-state.ts, `commit`).

local TOMBSTONES_MAX = 1000

-- Moves the sums by the difference of the two rows where it can be seen, and gives the new one that version. Answers whether it can.
local function commit_row(meta, version, conv, held, row)
  local listing = listings[row[FLAGS]]
  local held_listing = held and listings[held[FLAGS]] or GONE
  local unread, capped = reported_unread(row)
  local held_unread, held_capped
  if held then held_unread, held_capped = reported_unread(held) end
  if listing == held_listing
    and (listing ~= LISTED or looks_same(held, held_unread, held_capped, row, unread, capped)) then return false end
  if held_listing == LISTED then add_to_sums(meta, held, held_unread, -1)
  elseif held and held_listing == GONE and held[VERSION] > 0 then meta[TOMBSTONES] = meta[TOMBSTONES] - 1 end
  row[VERSION], row[ACTIVITY], row[DIGEST] = version, row[LATEST], 0
  if listing == LISTED then
    row[DIGEST] = digest_of(conv, row, unread, capped)
    add_to_sums(meta, row, unread, 1)
  elseif listing == GONE then meta[TOMBSTONES] = meta[TOMBSTONES] + 1 end
  meta[SYNC_VERSION] = version
  return true
end

-- SY2, LC2: cursors below the floor get a snapshot. A dropped tombstone stays as a row that was never visible.
local function drop_old_tombstones(key, meta)
  local flat, gone = call('HGETALL', key), {}
  for i = 1, #flat, 2 do
    local row = flat[i] ~= '' and flat[i] ~= LARGE_FIELD and unpack_row(flat[i + 1])
    if row and row[VERSION] > 0 and listings[row[FLAGS]] == GONE then gone[#gone + 1] = { flat[i], row } end
  end
  sort(gone, function(a, b) return a[2][VERSION] < b[2][VERSION] end)
  meta[TOMBSTONE_FLOOR] = gone[ceil(TOMBSTONES_MAX / 4)][2][VERSION]
  local stored = {}
  for _, one in ipairs(gone) do
    local conv, row = one[1], one[2]
    if row[VERSION] > meta[TOMBSTONE_FLOOR] then break end
    row[VERSION], meta[TOMBSTONES] = 0, meta[TOMBSTONES] - 1
    stored[#stored + 1] = conv
    stored[#stored + 1] = pack_row(conv, row)
  end
  set_fields(key, stored, 1, #stored)
end
