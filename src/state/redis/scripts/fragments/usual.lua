-- The usual case of a fan-out, which is nearly all of them: one part that counts for the user, on a row that is listed before and
-- after, of usual size, in a small conversation. The same as `offer` and `commit_row` do, in local variables: half the time.

local USUAL_FLAGS = { [MEMBER] = true, [MEMBER + MUTED] = true, [MEMBER + MARKED] = true, [MEMBER + MUTED + MARKED] = true }
local USUAL_ROW = make_row_format(0)

-- The part's numbers must stay usual ones with any usual row.
local function is_usual_part(set)
  local item = set.items[1]
  if #set.items ~= 1 or #item.rows > 0 or #item.parts > 1 then return false end
  local _, from_rev, to_rev, head_seq, _, unread = unpack(item.parts[1])
  return unread > 0 and unread < U16 and from_rev < to_rev and to_rev <= U24 and head_seq <= U24
end

-- Answers the new meta field and row, or nil where the case is another one.
local function take_usual(meta_bytes, row_bytes, conv, part, fence)
  if byte(meta_bytes) ~= LIVE then return nil end
  local low, high = byte(row_bytes, -3, -2)
  if high > 0 or not USUAL_FLAGS[low] then return nil end
  local _, row_rev, member_rev, unread, mentions, read_epoch, others, read_seq, _, _, digest = unpack_bytes(USUAL_ROW, row_bytes)
  local _, from_rev, to_rev, head_seq, activity, more_unread, more_mentions = unpack(part)
  if row_rev ~= from_rev then return nil end
  local meta = meta_format(LIVE, #meta_bytes - NUMBERS_BYTES[LIVE])
  local _, key_fence, version, tombstone_floor, tombstones, total, badge, mentions_total, digest_sum, tail =
    unpack_bytes(meta, meta_bytes)
  if key_fence ~= fence or version == U32 or total + badge + mentions_total > U32 - U24 then return nil end
  unread, mentions, others, version = unread + more_unread, mentions + more_mentions, others + more_unread, version + 1
  if unread > U24 or others > U24 or mentions > U16 then return nil end
  local text = format('%d|%d|%d|%d', unread, mentions, read_epoch, read_seq) .. marks[low] .. conv
  local new_digest = tonumber(cut(sha1hex(text), 1, 12), 16)
  badge = badge + (has(low, MUTED) and more_mentions or more_unread)
  return pack_bytes(meta, LIVE, fence, version, tombstone_floor, tombstones, total + more_unread, badge,
      mentions_total + more_mentions, (digest_sum - digest + new_digest) % DIGEST_MODULUS, tail),
    pack_bytes(USUAL_ROW, version, to_rev, member_rev, unread, mentions, read_epoch, others, read_seq, head_seq, activity,
      new_digest, low, #conv)
end
