-- The fence of a partition (ARCHITECTURE, truth and state). Whoever calls with a lower number than was seen here is refused: another copy of the data
-- has taken over since it looked. The first call with a higher number makes that number known.

-- The number of a key that was met under a higher one than the caller's: then the partition's own was lost.
local higher

local function refuse(partition)
  call('SET', partition, format('%d', higher))
  return false
end

local function is_fenced(partition, fence)
  local known = tonumber(call('GET', partition) or 0)
  if known < fence then
    call('SET', partition, format('%d', fence))
  end
  return known > fence
end
