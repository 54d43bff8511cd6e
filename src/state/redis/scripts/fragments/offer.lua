-- What truth offers to one user's rows (src/core/user-state.ts, `offer`): revs decide what is stored, and what they cannot decide is
-- named to be derived anew.

-- A change set as the caller packs it (src/state/redis/packed-call.ts).
local function unpack_call(bytes)
  local call = { rows = {}, parts = {}, fields = { '' } }
  local known, at = { [''] = true }, nil
  local repairs, rows, parts
  repairs, rows, parts, at = struct.unpack('<BI3I3', bytes)
  if repairs == 1 then call.repair_version, call.repair_epoch, at = struct.unpack('<I4Bc0', bytes, at) end
  for i = 1, rows + parts do
    local item = {}
    item.conv, at = struct.unpack('Bc0', bytes, at)
    if i <= rows then
      item.bytes, at = struct.unpack('Bc0', bytes, at)
      call.rows[i] = item
    else
      -- from_rev is sent one higher: a part that follows on no rev has -1
      item.from_rev, item.to_rev, item.head_seq, item.activity, item.unread, item.mentions, item.brings, item.unless_large, at =
        struct.unpack('<I7I7I7I7I4I4BB', bytes, at)
      item.from_rev = item.from_rev - 1
      call.parts[i - rows] = item
    end
    if not known[item.conv] then
      known[item.conv] = true
      call.fields[#call.fields + 1] = item.conv
    end
  end
  return call
end

-- The row to be stored, nil for none; true: it must be derived anew.
local function take_row(held, bytes, repair)
  local row = unpack_row(bytes)
  if not held then return row end
  local conv, member = row.conv_rev - held.conv_rev, row.member_rev - held.member_rev
  if (conv > 0 and member < 0) or (conv < 0 and member > 0) then return nil, true end
  if conv > 0 or member > 0 or (repair and conv == 0 and member == 0) then
    row.version, row.activity, row.digest = held.version, held.activity, held.digest
    return row
  end
end

-- The same for a part, which must follow directly on the held row. CN4, CN5: what its messages count for this user, the caller has
-- found out; DT2: anything that counts brings the row back.
local function take_part(held, part)
  if not held then return nil, true end
  if held.conv_rev >= part.to_rev then return nil end
  if part.unless_large == 1 and has(held.flags, LARGE) then return nil end
  if held.conv_rev ~= part.from_rev then return nil, true end
  local row = {}
  for name, value in pairs(held) do row[name] = value end
  row.conv_rev, row.head_seq, row.latest = part.to_rev, part.head_seq, part.activity
  if has(row.flags, MEMBER) then
    row.unread, row.others, row.mentions = row.unread + part.unread, row.others + part.unread, row.mentions + part.mentions
    if part.brings == 1 then row.flags = without(without(row.flags, HIDDEN), AWAY) end
  end
  return row
end

-- Rows before and after, by conversation, the conversations in the order in which they were put, and those to be derived.
local function offer(call, values, repair)
  local before, now, put, derive = {}, {}, {}, {}
  for i = 2, #call.fields do
    local bytes = values[i]
    before[call.fields[i]] = bytes and unpack_row(bytes) or false
  end
  local function take(conv, row, must_derive)
    if row then
      if not now[conv] then put[#put + 1] = conv end
      now[conv] = row
    elseif must_derive and not derive[conv] then
      derive[conv] = true
      derive[#derive + 1] = conv
    end
  end
  for _, row in ipairs(call.rows) do take(row.conv, take_row(now[row.conv] or before[row.conv], row.bytes, repair)) end
  for _, part in ipairs(call.parts) do take(part.conv, take_part(now[part.conv] or before[part.conv], part)) end
  return before, now, put, derive
end
