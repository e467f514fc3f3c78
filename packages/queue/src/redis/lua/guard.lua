-- Limits the arguments of a script, which any caller may choose: see script-bounds.ts.

local function refuse(what) error({ err = 'ERR A script of Drover does not take ' .. what }) end
do
  local bytes = 0
  for i = 1, #ARGV do
    bytes = bytes + #ARGV[i]
  end
  if bytes > maxArgumentBytes then refuse('such long arguments') end
end
local function decoded(json, bytes)
  if #json > (bytes or maxJsonBytes) then refuse('so much JSON') end
  local value = cjson.decode(json)
  if type(value) ~= 'table' then refuse('JSON that is neither an object nor a list') end
  return value
end
local function listed(json, most, bytes)
  local list = decoded(json, bytes)
  if #list > (most or maxListItems) then refuse('such a long list') end
  return list
end
