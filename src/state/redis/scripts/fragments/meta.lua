-- The field '' of a user's key: where the user stands, or the marker of a build (src/state/redis/packed-meta.ts has the same).
--   1 live, 3 live with large sums: fence, syncVersion, tombstoneFloor, tombstones, total, badge, mentions, digest, tail
--   2 marker: fence, start in ms, token
-- The tail is the epoch, its length before it, and then the nodes that hold sockets of the user: id, minute when last heard of.

local LIVE, BUILDING, LIVE_WIDE = 1, 2, 3
local META = { [LIVE] = '<BI4I4I4I2I4I4I4I6', [LIVE_WIDE] = '<BI4I4I4I2I7I7I7I6' }
local VERSION_MAX = 4294967295

-- Nil: no live state here, nor a marker. A key under a lower fence is of a copy that is past; one whose versions are used up is
-- built anew under another epoch.
local function unpack_meta(bytes, fence)
  if not bytes then return nil end
  local kind, key_fence = struct.unpack('<BI4', bytes)
  if key_fence < fence then return nil end
  if kind == BUILDING then
    local started_ms, at = struct.unpack('<I7', bytes, 6)
    return { kind = BUILDING, started_ms = started_ms, token = string.sub(bytes, at) }
  end
  local _, _, version, floor, tombstones, total, badge, mentions, digest, at = struct.unpack(META[kind], bytes)
  if version == VERSION_MAX then return nil end
  return {
    kind = LIVE, version = version, floor = floor, tombstones = tombstones,
    total = total, badge = badge, mentions = mentions, digest = digest, tail = string.sub(bytes, at),
  }
end

local function pack_meta(meta, fence)
  local kind = math.max(meta.total, meta.badge, meta.mentions) > 4294967295 and LIVE_WIDE or LIVE
  return struct.pack(META[kind], kind, fence, meta.version, meta.floor, meta.tombstones,
    meta.total, meta.badge, meta.mentions, meta.digest) .. meta.tail
end

local function has_epoch(meta, epoch)
  return string.sub(meta.tail, 2, 1 + string.byte(meta.tail)) == epoch
end

local MINUTES = 65536

-- Notes that `node` holds sockets of the user, and forgets nodes that have not said so for `node_minutes`. False: it is known and
-- fresh enough.
local function register_node(meta, node, minute, node_minutes)
  local at = 2 + string.byte(meta.tail)
  local kept = { string.sub(meta.tail, 1, at - 1), struct.pack('<c4I2', node, minute) }
  while at <= #meta.tail do
    local id, seen
    id, seen, at = struct.unpack('<c4I2', meta.tail, at)
    local age = (minute - seen) % MINUTES
    if id == node then
      if age < node_minutes / 2 then return false end
    elseif age < node_minutes then kept[#kept + 1] = struct.pack('<c4I2', id, seen) end
  end
  meta.tail = table.concat(kept)
  return true
end
