-- What a client can see of a row (src/core/row.ts) and what it adds to the sums (protocol/digest.ts, SY8).

local UNREAD_CAP = 999
local DIGEST_MODULUS = 281474976710656
local GONE, HIDDEN_ROW, LISTED = 0, 1, 2

-- By flags. CN3: listed = member, not hidden, not cleared away.
local listings = setmetatable({}, { __index = function(known, flags)
  local listing = has(flags, HIDDEN) and HIDDEN_ROW or LISTED
  if not has(flags, MEMBER) or has(flags, AWAY) then listing = GONE end
  known[flags] = listing
  return listing
end })

-- By flags, and behind them whether the row is capped: as the digest's text has them.
local marks = setmetatable({}, { __index = function(known, flags)
  local text = '|' .. (has(flags, MUTED) and 'm' or '') .. (has(flags, MARKED) and 'k' or '') .. (has(flags, CAPPED) and 'c' or '') .. '|'
  known[flags] = text
  return text
end })

-- CN8: what is reported, and whether it is capped.
local function reported_unread(row)
  local unread = row[UNREAD]
  if unread > UNREAD_CAP and has(row[FLAGS], LARGE) then return UNREAD_CAP, true end
  return unread, false
end

-- SY8, of a listed row
local function digest_of(conv, row, unread, capped)
  local flags = capped and row[FLAGS] + CAPPED or row[FLAGS]
  local text = format('%d|%d|%d|%d', unread, row[MENTIONS], row[READ_EPOCH], row[READ_SEQ]) .. marks[flags] .. conv
  return tonumber(cut(sha1hex(text), 1, 12), 16)
end

-- Adds a listed row to the sums (`sign` 1), or takes it from them (-1).
local function add_to_sums(meta, row, unread, sign)
  local mentions = row[MENTIONS]
  meta[TOTAL] = meta[TOTAL] + sign * unread
  meta[BADGE] = meta[BADGE] + sign * (has(row[FLAGS], MUTED) and mentions or unread)
  meta[MENTIONS_TOTAL] = meta[MENTIONS_TOTAL] + sign * mentions
  meta[DIGEST_SUM] = (meta[DIGEST_SUM] + sign * row[DIGEST]) % DIGEST_MODULUS
end

-- SY9, of two listed rows, with what is reported of them
local function looks_same(held, held_unread, held_capped, row, unread, capped)
  return held_unread == unread and held_capped == capped
    and held[MENTIONS] == row[MENTIONS] and held[READ_SEQ] == row[READ_SEQ] and held[READ_EPOCH] == row[READ_EPOCH]
    and marks[held[FLAGS]] == marks[row[FLAGS]]
    and (row[UNREAD] == 0 or capped or held[OTHERS] == row[OTHERS])
end
