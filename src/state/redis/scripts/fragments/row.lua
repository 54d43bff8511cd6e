-- A packed row (src/state/redis/packed-row.ts has the same): numbers in as few bytes as usual ones need, the shape and the length of
-- the conversation's name at the end. So the name and row of all fields of a key, one behind the other, can be read from the end
-- without a border between them.

local MEMBER, MUTED, MARKED, HIDDEN, AWAY, LARGE = 1, 2, 4, 8, 16, 32
-- From 64 on the shape: floor and latest are kept only where they differ from read and activity; wide seqs and counts take 7 bytes.
local HAS_FLOOR, HAS_LATEST, WIDE_SEQS, WIDE_COUNTS = 64, 128, 256, 512
local U16, U24 = 65535, 16777215
local formats = {}

local function has(flags, flag)
  return flags % (flag + flag) >= flag
end

local function without(flags, flag)
  return has(flags, flag) and flags - flag or flags
end

local function format_of(flags)
  local shape = flags - flags % HAS_FLOOR
  if not formats[shape] then
    local seq = has(shape, WIDE_SEQS) and 'I7' or 'I3'
    formats[shape] = '<I4' .. (has(shape, WIDE_COUNTS) and 'I7I7I7I7I7I7' or 'I3I3I3I2BI3') .. seq .. seq .. 'I7I6'
      .. (has(shape, HAS_FLOOR) and seq or '') .. (has(shape, HAS_LATEST) and 'I7' or '')
  end
  return formats[shape]
end

local function unpack_row(bytes)
  local length = #bytes
  local low, high = string.byte(bytes, length - 2, length - 1)
  local flags = low + 256 * high
  local version, conv_rev, member_rev, unread, mentions, read_epoch, others, read_seq, head_seq, activity, digest, x, y =
    struct.unpack(format_of(flags), bytes)
  local floor_seq, latest = read_seq, activity
  if has(flags, HAS_FLOOR) then floor_seq, x = x, y end
  if has(flags, HAS_LATEST) then latest = x end
  return {
    version = version, conv_rev = conv_rev, member_rev = member_rev, unread = unread, mentions = mentions,
    read_epoch = read_epoch, others = others, read_seq = read_seq, head_seq = head_seq, floor_seq = floor_seq,
    activity = activity, latest = latest, digest = digest, flags = low % HAS_FLOOR,
  }
end

local function version_of(bytes)
  return (struct.unpack('<I4', bytes))
end

local function pack_row(conv, row)
  local flags, extra = row.flags, {}
  if row.floor_seq ~= row.read_seq then
    flags = flags + HAS_FLOOR
    extra[1] = row.floor_seq
  end
  if row.latest ~= row.activity then
    flags = flags + HAS_LATEST
    extra[#extra + 1] = row.latest
  end
  if row.read_seq > U24 or row.head_seq > U24 or row.floor_seq > U24 then flags = flags + WIDE_SEQS end
  if row.conv_rev > U24 or row.member_rev > U24 or row.unread > U24 or row.others > U24 or row.mentions > U16
    or row.read_epoch > 255 then flags = flags + WIDE_COUNTS end
  return struct.pack(format_of(flags), row.version, row.conv_rev, row.member_rev, row.unread, row.mentions, row.read_epoch,
    row.others, row.read_seq, row.head_seq, row.activity, row.digest, unpack(extra))
    .. struct.pack('<I2B', flags, #conv)
end
