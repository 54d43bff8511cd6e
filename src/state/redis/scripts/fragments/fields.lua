-- Many fields of one hash at once: what a call of Lua can take on its stack is limited.

local FIELDS_MAX = 2000

local function get_fields(key, fields)
  if #fields <= FIELDS_MAX then return call('HMGET', key, unpack(fields)) end
  local values = {}
  for first = 1, #fields, FIELDS_MAX do
    local last = min(first + FIELDS_MAX - 1, #fields)
    for i, value in ipairs(call('HMGET', key, unpack(fields, first, last))) do values[first + i - 1] = value end
  end
  return values
end

-- `stored`, places `first` to `last`: name, value, name, value …
local function set_fields(key, stored, first, last)
  if last < FIELDS_MAX then
    if last >= first then call('HSET', key, unpack(stored, first, last)) end
    return
  end
  for from = first, last, FIELDS_MAX do
    call('HSET', key, unpack(stored, from, min(from + FIELDS_MAX - 1, last)))
  end
end
