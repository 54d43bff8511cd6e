-- The field '' of a user's key: where the user stands, or the marker of a build (src/state/redis/packed-meta.ts has the same).
--   1 live, 3 live with large sums: fence, version, tombstone floor, tombstones, total, badge, mentions, digest, tail
--   2 marker: fence, start in ms, token
-- The tail is the epoch, its length before it, and then the nodes that hold sockets of the user: id, minute when last heard of.

local LIVE, BUILDING, LIVE_WIDE = 1, 2, 3
local NUMBERS = { [LIVE] = '<BI4I4I4I2I4I4I4I6', [LIVE_WIDE] = '<BI4I4I4I2I7I7I7I6', [BUILDING] = '<BI4I7' }
local NUMBERS_BYTES = { [LIVE] = 33, [LIVE_WIDE] = 42, [BUILDING] = 12 }
-- Places in an unpacked meta; behind a marker's fence its start and token.
local KIND, FENCE, SYNC_VERSION, TOMBSTONE_FLOOR, TOMBSTONES, TOTAL, BADGE, MENTIONS_TOTAL, DIGEST_SUM, TAIL = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
local STARTED_MS, TOKEN = 3, 4
local U32 = 4294967295

-- By kind and length of the tail.
local meta_formats = { [LIVE] = {}, [BUILDING] = {}, [LIVE_WIDE] = {} }

local function meta_format(kind, tail_bytes)
  local made = meta_formats[kind][tail_bytes]
  if not made then
    made = NUMBERS[kind] .. 'c' .. tail_bytes
    meta_formats[kind][tail_bytes] = made
  end
  return made
end

-- Nil: neither a live state nor a marker. A key under a lower fence is of a copy that is past; one whose versions are used up is
-- built anew under another epoch.
local function unpack_meta(bytes, fence)
  if not bytes then return nil end
  local kind = byte(bytes)
  local meta = { unpack_bytes(meta_format(kind, #bytes - NUMBERS_BYTES[kind]), bytes) }
  if meta[FENCE] > fence then higher = meta[FENCE] end
  if meta[FENCE] ~= fence or (kind ~= BUILDING and meta[SYNC_VERSION] == U32) then return nil end
  return meta
end

local function pack_meta(meta, fence)
  local _, _, version, tombstone_floor, tombstones, total, badge, mentions, digest, tail = unpack(meta, 1, TAIL)
  local kind = (total > U32 or badge > U32 or mentions > U32) and LIVE_WIDE or LIVE
  return pack_bytes(meta_format(kind, #tail), kind, fence, version, tombstone_floor, tombstones, total, badge, mentions, digest, tail)
end

local function has_epoch(meta, epoch)
  return cut(meta[TAIL], 2, 1 + byte(meta[TAIL])) == epoch
end
