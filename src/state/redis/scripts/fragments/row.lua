-- A packed row (src/state/redis/packed-row.ts has the same): numbers in as few bytes as usual ones need, then the shape and the
-- length of the conversation's name. So names and rows of a whole key, one behind the other, can be read from the end.

-- Places in an unpacked row.
local VERSION, CONV_REV, MEMBER_REV, UNREAD, MENTIONS, READ_EPOCH, OTHERS, READ_SEQ, HEAD_SEQ, ACTIVITY, DIGEST = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
local FLOOR_SEQ, LATEST, FLAGS, PLACES = 12, 13, 14, 14
local MEMBER, MUTED, MARKED, HIDDEN, AWAY, LARGE, CAPPED = 1, 2, 4, 8, 16, 32, 64
-- From 64 on the shape: floor and latest are kept only where they differ from read and activity; wide seqs and counts take 7 bytes.
local HAS_FLOOR, HAS_LATEST, WIDE_SEQS, WIDE_COUNTS = 64, 128, 256, 512
local U8, U16, U24 = 255, 65535, 16777215

local function has(flags, flag)
  return flags % (flag + flag) >= flag
end

local function without(flags, flag)
  return has(flags, flag) and flags - flag or flags
end

local function make_row_format(shape)
  local seq = has(shape, WIDE_SEQS) and 'I7' or 'I3'
  return '<I4' .. (has(shape, WIDE_COUNTS) and 'I7I7I7I7I7I7' or 'I3I3I3I2BI3') .. seq .. seq .. 'I7I6'
    .. (has(shape, HAS_FLOOR) and seq or '') .. (has(shape, HAS_LATEST) and 'I7' or '') .. 'I2B'
end

-- By shape, made when first needed.
local row_formats = setmetatable({}, { __index = function(made, shape)
  made[shape] = make_row_format(shape)
  return made[shape]
end })

local function unpack_row(bytes)
  local low, high = byte(bytes, -3, -2)
  local flags = low % HAS_FLOOR
  local shape = low - flags + 256 * high
  local row = { unpack_bytes(row_formats[shape], bytes) }
  local floor_seq, latest = row[READ_SEQ], row[ACTIVITY]
  if shape > 0 then
    local place = FLOOR_SEQ
    if has(shape, HAS_FLOOR) then floor_seq, place = row[place], place + 1 end
    if has(shape, HAS_LATEST) then latest = row[place] end
  end
  row[FLOOR_SEQ], row[LATEST], row[FLAGS] = floor_seq, latest, flags
  return row
end

local function version_of(bytes)
  return (unpack_bytes('<I4', bytes))
end

local function pack_row(conv, row)
  local version, conv_rev, member_rev, unread, mentions, read_epoch, others, read_seq, head_seq, activity, digest, floor_seq, latest, flags =
    unpack(row, 1, PLACES)
  local shape = 0
  if floor_seq ~= read_seq then shape = HAS_FLOOR end
  if latest ~= activity then shape = shape + HAS_LATEST end
  if read_seq > U24 or head_seq > U24 or floor_seq > U24 then shape = shape + WIDE_SEQS end
  if conv_rev > U24 or member_rev > U24 or unread > U24 or others > U24 or mentions > U16 or read_epoch > U8 then
    shape = shape + WIDE_COUNTS
  end
  -- What stands behind the digest; what is left over, struct.pack does not look at.
  local a, b, c, d = shape + flags, #conv, nil, nil
  if shape > 0 then
    if has(shape, HAS_LATEST) then a, b, c = latest, a, b end
    if has(shape, HAS_FLOOR) then a, b, c, d = floor_seq, a, b, c end
  end
  return pack_bytes(row_formats[shape], version, conv_rev, member_rev, unread, mentions, read_epoch, others, read_seq, head_seq,
    activity, digest, a, b, c, d)
end
