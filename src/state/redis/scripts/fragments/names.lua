-- Functions by names of their own: found at once, not by two look-ups for each of many users.

local call, sha1hex = redis.call, redis.sha1hex
local pack_bytes, unpack_bytes = struct.pack, struct.unpack
local byte, char, cut, format = string.byte, string.char, string.sub, string.format
local min, ceil, floor = math.min, math.ceil, math.floor
local concat, insert, sort = table.concat, table.insert, table.sort
local unpack, tonumber, ipairs, pairs = unpack, tonumber, ipairs, pairs
