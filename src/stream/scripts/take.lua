--[[
  Purpose:   Holds a stream for one reader, and hands it the next entries.
  KEYS:      stream, lease
  ARGV:      group, token, leaseMs, cursor, entriesMax, bytesMax, eventBytesMax, ...retried
  Returns:   nil where another reader holds the stream, or this one has lost it. Else: entries in the stream; the next cursor (>: new
             entries, behind the end of what was left); entries, the retried ones first, each one of
               { id, event }          event: the field of that name
               { id, false }          without such a field
               { id, false, bytes }   the event is above eventBytesMax
               { id }                 deleted before it was acknowledged
  Invariant: A hold begins with the cursor 0-0, behind which lies all that was handed out and not settled: no new entry is handed out before.
             All readers are one consumer of the group, so what an abandoned one left needs no claim.
]]
local stream, lease = KEYS[1], KEYS[2]
local group, token, leaseMs = ARGV[1], ARGV[2], ARGV[3]
local cursor, entriesMax, bytesMax, eventBytesMax = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])

local holder = redis.call('GET', lease)
if holder ~= token then
  if holder or cursor ~= '0-0' then return false end
  local made = redis.pcall('XGROUP', 'CREATE', stream, group, '0', 'MKSTREAM')
  if made.err and not string.find(made.err, 'BUSYGROUP', 1, true) then return made end
end
redis.call('SET', lease, token, 'PX', leaseMs)

local entries, bytes = {}, 0

local function add(id, fields)
  if not fields then
    entries[#entries + 1] = { id }
    return
  end
  for i = 1, #fields, 2 do
    if fields[i] == 'event' then
      local event = fields[i + 1]
      if #event > eventBytesMax then
        entries[#entries + 1] = { id, false, #event }
      else
        entries[#entries + 1] = { id, event }
        bytes = bytes + #event
      end
      return
    end
  end
  entries[#entries + 1] = { id, false }
end

for i = 8, #ARGV do
  local found = redis.call('XRANGE', stream, ARGV[i], ARGV[i])[1]
  add(ARGV[i], found and found[2])
end

while #entries < entriesMax and bytes < bytesMax do
  local read = redis.call('XREADGROUP', 'GROUP', group, 'reader', 'COUNT', 1, 'STREAMS', stream, cursor)
  local entry = read and read[1][2][1]
  if not entry then
    cursor = '>'
    break
  end
  add(entry[1], entry[2])
  if cursor ~= '>' then cursor = entry[1] end
end
return { redis.call('XLEN', stream), cursor, entries }
