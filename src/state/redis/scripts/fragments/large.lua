-- The field that names the large conversations which the user is a member of (CN8). No conversation is called like it: it is no UTF-8.

local LARGE_FIELD = '\255'

local function large_names(names)
  local convs, at = {}, 1
  while at <= #names do convs[#convs + 1], at = unpack_bytes('Bc0', names, at) end
  return convs
end

-- `moved`: conversation → whether it is now one of the large ones.
local function store_large(key, moved)
  local kept = {}
  for _, conv in ipairs(large_names(call('HGET', key, LARGE_FIELD) or '')) do
    if moved[conv] == nil then moved[conv] = true end
  end
  for conv, is_large in pairs(moved) do
    if is_large then kept[#kept + 1] = pack_bytes('Bc0', #conv, conv) end
  end
  if #kept > 0 then call('HSET', key, LARGE_FIELD, concat(kept))
  else call('HDEL', key, LARGE_FIELD) end
end

-- Their rows: name, row, name, row …
local function large_rows(key, names)
  local convs, packed = large_names(names), {}
  if #convs == 0 then return '' end
  for i, bytes in ipairs(get_fields(key, convs)) do packed[#packed + 1] = convs[i] .. bytes end
  return concat(packed)
end

-- By flags.
local larges = setmetatable({}, { __index = function(known, flags)
  known[flags] = has(flags, LARGE) and has(flags, MEMBER)
  return known[flags]
end })
