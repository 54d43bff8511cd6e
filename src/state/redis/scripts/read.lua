--[[
  Purpose:   where one user stands and the rows above a version, in one answer; keeps the key alive (flow 5)
  KEYS:      partition, user
  ARGV:      fence, since, node, minute, nodeMinutes, ttlSeconds, renewBelowSeconds
             since: '' = all rows; node: '' or the id of a node that holds sockets of the user; minute: what its clock shows
  Returns:   false when fenced, '' when missing; else {meta, rows, rows of large conversations}; rows: name, row, name, row …;
             the third is empty without `since`, when all rows are in the second
  Invariant: changes nothing but the list of nodes and the time to live
]]
--@include names
--@include fence
--@include meta
--@include nodes
--@include fields
--@include row
--@include large

local partition, user = KEYS[1], KEYS[2]
local fence, since, node, minute = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local nodeMinutes, ttlSeconds, renewBelowSeconds = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
if is_fenced(partition, fence) then return false end

local bytes = call('HGET', user, '')
local meta = unpack_meta(bytes, fence)
if higher then return refuse(partition) end
if not meta or meta[KIND] == BUILDING then return '' end
if call('TTL', user) < renewBelowSeconds then call('EXPIRE', user, ttlSeconds) end
if node ~= '' and register_node(meta, node, minute, nodeMinutes) then
  bytes = pack_meta(meta, fence)
  call('HSET', user, '', bytes)
end

if since and since >= meta[SYNC_VERSION] then
  local names = call('HGET', user, LARGE_FIELD)
  if not names then return { bytes, '', '' } end
  return { bytes, '', large_rows(user, names) }
end

local flat = call('HGETALL', user)
local names = ''
for i = 1, #flat, 2 do
  if flat[i] == '' or flat[i] == LARGE_FIELD then
    if flat[i] ~= '' then names = flat[i + 1] end
    flat[i], flat[i + 1] = '', ''
  elseif since and version_of(flat[i + 1]) <= since then
    flat[i], flat[i + 1] = '', ''
  end
end
return { bytes, concat(flat), since and large_rows(user, names) or '' }
