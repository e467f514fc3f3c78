-- Returns the time, and those of `keys` (a JSON list) for which no run has started since `since`. Leaves out keys
-- that are due and have a paused object: they run once it is resumed.

local answer = { now }
for _, key in ipairs(listed(keys, 2 * maxListItems)) do
  local ranAt, state = unpack(read(P .. ':key:' .. key, 'HMGET', 'ranAt', 'state'))
  local at = tonumber(ranAt or nil)
  if state ~= 'paused' and (not at or at < tonumber(since)) then answer[#answer + 1] = key end
end
return answer
