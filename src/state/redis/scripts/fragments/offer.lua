-- What truth offers to one user's rows (src/core/user-state.ts, `offer`): revs decide what is stored, and what they cannot decide is
-- named to be derived anew.

-- A change set as the caller writes it (src/state/redis/call-text.ts): by conversation, since none has an effect on another, with the
-- fields of the user's key that it is about.
local function read_call(text)
  local set = cjson.decode(text)
  local items, fields, known = {}, { '' }, {}
  local function item_of(conv)
    if not known[conv] then
      known[conv] = { conv = conv, rows = {}, parts = {} }
      items[#items + 1], fields[#fields + 1] = known[conv], conv
    end
    return known[conv]
  end
  for _, row in ipairs(set.rows) do insert(item_of(row[1]).rows, row[2]) end
  for _, part in ipairs(set.parts) do insert(item_of(part[1]).parts, part) end
  return { items = items, fields = fields, repair = set.repair }
end

-- The row to be stored, nil for none; true: it must be derived anew.
local function take_row(held, offered, repair)
  local row = { unpack(offered, 1, PLACES) }
  if not held then return row end
  local conv, member = row[CONV_REV] - held[CONV_REV], row[MEMBER_REV] - held[MEMBER_REV]
  if (conv > 0 and member < 0) or (conv < 0 and member > 0) then return nil, true end
  if conv > 0 or member > 0 or (repair and conv == 0 and member == 0) then
    row[VERSION], row[ACTIVITY], row[DIGEST] = held[VERSION], held[ACTIVITY], held[DIGEST]
    return row
  end
end

-- The same for a part, which must follow directly on the held row. CN4, CN5: what its messages count for this user, the caller has
-- found out; DT2: anything that counts brings the row back.
local function take_part(held, part)
  if not held then return nil, true end
  local _, from_rev, to_rev, head_seq, activity, unread, mentions, brings, unless_large = unpack(part)
  local rev, flags = held[CONV_REV], held[FLAGS]
  if rev >= to_rev or (unless_large and has(flags, LARGE)) then return nil end
  if rev ~= from_rev then return nil, true end
  local row = { unpack(held, 1, PLACES) }
  row[CONV_REV], row[HEAD_SEQ], row[LATEST] = to_rev, head_seq, activity
  if has(flags, MEMBER) then
    row[UNREAD], row[OTHERS], row[MENTIONS] = row[UNREAD] + unread, row[OTHERS] + unread, row[MENTIONS] + mentions
    if brings then row[FLAGS] = without(without(flags, HIDDEN), AWAY) end
  end
  return row
end

-- The row that there is after all this, or the held one; and whether it must be derived anew. Rows come before parts.
local function offer(held, item, repair)
  local rows, parts = item.rows, item.parts
  if #rows == 0 and #parts == 1 then
    local row, must_derive = take_part(held, parts[1])
    return row or held, must_derive
  end
  local row, derives = held, false
  for _, offered in ipairs(rows) do
    local taken, must_derive = take_row(row, offered, repair)
    row, derives = taken or row, derives or must_derive
  end
  for _, part in ipairs(parts) do
    local taken, must_derive = take_part(row, part)
    row, derives = taken or row, derives or must_derive
  end
  return row, derives
end
