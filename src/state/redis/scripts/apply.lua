--[[
  Purpose:   offers change sets to the rows of many users of one partition, each atomic for its user (flows 2 and 4)
  KEYS:      partition, ...users
  ARGV:      fence, ...calls   pairs of a change set and the number of the next users to whom it is offered
  Returns:   false when fenced; else one answer a user, to be read from the end (src/state/redis/packed-answer.ts)
  Invariant: sums and digest of the meta field are those of the listed rows; sync_version rises by 1 where something visible changed
]]
--@include names
--@include fence
--@include meta
--@include fields
--@include row
--@include visible
--@include large
--@include offer
--@include commit
--@include usual
--@include answer

local partition = KEYS[1]
local fence = tonumber(ARGV[1])
if is_fenced(partition, fence) then return false end

local answers, number = {}, 1
for i = 2, #ARGV, 2 do
  local set = read_call(ARGV[i])
  local conv = is_usual_part(set) and set.items[1].conv
  local part = conv and set.items[1].parts[1]
  for _ = 1, tonumber(ARGV[i + 1]) do
    number = number + 1
    local user = KEYS[number]
    local values = get_fields(user, set.fields)
    if not conv or not answer_usual(user, conv, values, part, fence, answers) then answer(user, set, values, fence, answers) end
    if higher then return refuse(partition) end
  end
end
return concat(answers)
