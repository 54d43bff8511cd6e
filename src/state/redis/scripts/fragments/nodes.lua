-- Which nodes hold sockets of a user: with each change they come along to whoever publishes it.

local MINUTES = 65536

-- Notes that `node` does, and forgets nodes that have not said so for `node_minutes`. False: it is known and fresh enough.
local function register_node(meta, node, minute, node_minutes)
  local tail = meta[TAIL]
  local at = 2 + byte(tail)
  local kept = { cut(tail, 1, at - 1), pack_bytes('<c4I2', node, minute) }
  while at <= #tail do
    local id, seen
    id, seen, at = unpack_bytes('<c4I2', tail, at)
    local age = (minute - seen) % MINUTES
    if id == node then
      if age < node_minutes / 2 then return false end
    elseif age < node_minutes then kept[#kept + 1] = pack_bytes('<c4I2', id, seen) end
  end
  meta[TAIL] = concat(kept)
  return true
end
