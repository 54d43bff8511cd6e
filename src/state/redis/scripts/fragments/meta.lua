-- The field '' of a user's key: where the user stands, or the marker of a build (src/state/redis/packed-meta.ts has the same).
--   1 live, 3 live with large sums: fence, version, tombstone floor, tombstones, total, badge, mentions, digest, tail
--   2 marker: fence, start in ms, token
-- The tail is the epoch, its length before it, and then the nodes that hold sockets of the user: id, minute when last heard of.

local LIVE, BUILDING, LIVE_WIDE = 1, 2, 3
local META = { [LIVE] = '<BI4I4I4I2I4I4I4I6', [LIVE_WIDE] = '<BI4I4I4I2I7I7I7I6' }
-- Places in an unpacked meta; behind a marker's fence its start and token.
local KIND, FENCE, SYNC_VERSION, TOMBSTONE_FLOOR, TOMBSTONES, TOTAL, BADGE, MENTIONS_TOTAL, DIGEST_SUM, TAIL = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
local STARTED_MS, TOKEN = 3, 4
local U32 = 4294967295

-- Nil: neither a live state nor a marker. A key under a lower fence is of a copy that is past; one whose versions are used up is
-- built anew under another epoch.
local function unpack_meta(bytes, fence)
  if not bytes then return nil end
  local kind = string.byte(bytes)
  local meta = { struct.unpack(META[kind] or '<BI4I7', bytes) }
  local tail = kind == BUILDING and TOKEN or TAIL
  meta[tail] = string.sub(bytes, meta[tail])
  if meta[FENCE] < fence or (kind ~= BUILDING and meta[SYNC_VERSION] == U32) then return nil end
  return meta
end

local function pack_meta(meta, fence)
  local total, badge, mentions = meta[TOTAL], meta[BADGE], meta[MENTIONS_TOTAL]
  local kind = (total > U32 or badge > U32 or mentions > U32) and LIVE_WIDE or LIVE
  return struct.pack(META[kind], kind, fence, meta[SYNC_VERSION], meta[TOMBSTONE_FLOOR], meta[TOMBSTONES], total, badge, mentions,
    meta[DIGEST_SUM]) .. meta[TAIL]
end

local function has_epoch(meta, epoch)
  return string.sub(meta[TAIL], 2, 1 + string.byte(meta[TAIL])) == epoch
end
