-- What a client can see of a row (src/core/row.ts) and what it adds to the sums (protocol/digest.ts, SY8).

local UNREAD_CAP = 999
local DIGEST_MODULUS = 281474976710656

-- CN3: listed = member, not hidden, not cleared away.
local function listing_of(row)
  local flags = row.flags
  if not has(flags, MEMBER) or has(flags, AWAY) then return 'gone' end
  return has(flags, HIDDEN) and 'hidden' or 'listed'
end

local function is_capped(row)
  return row.unread > UNREAD_CAP and has(row.flags, LARGE)
end

-- CN8
local function reported_unread(row)
  return is_capped(row) and UNREAD_CAP or row.unread
end

-- SY9
local function looks_same(held, now)
  local listing = listing_of(held)
  if listing ~= listing_of(now) then return false end
  if listing ~= 'listed' then return true end
  return reported_unread(held) == reported_unread(now) and is_capped(held) == is_capped(now)
    and held.mentions == now.mentions and held.read_seq == now.read_seq and held.read_epoch == now.read_epoch
    and has(held.flags, MUTED) == has(now.flags, MUTED) and has(held.flags, MARKED) == has(now.flags, MARKED)
    and (now.unread == 0 or is_capped(now) or held.others == now.others)
end

-- SY8, of a listed row
local function digest_of(conv, row)
  local marks = (has(row.flags, MUTED) and 'm' or '') .. (has(row.flags, MARKED) and 'k' or '') .. (is_capped(row) and 'c' or '')
  local text = string.format('%d|%d|%d|%d|', reported_unread(row), row.mentions, row.read_epoch, row.read_seq) .. marks .. '|' .. conv
  return tonumber(string.sub(redis.sha1hex(text), 1, 12), 16)
end

-- Adds a listed row to the sums (`sign` 1), or takes it from them (-1).
local function add_to_sums(meta, row, sign)
  local unread = reported_unread(row)
  meta.total = meta.total + sign * unread
  meta.badge = meta.badge + sign * (has(row.flags, MUTED) and row.mentions or unread)
  meta.mentions = meta.mentions + sign * row.mentions
  meta.digest = (meta.digest + sign * row.digest) % DIGEST_MODULUS
end
