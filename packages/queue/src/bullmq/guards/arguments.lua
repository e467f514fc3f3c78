-- Limits the arguments of a script of BullMQ, which any caller may choose.

local function refuseUnless(isRight, what)
  if not isRight then error({ err = 'ERR Drover does not ask BullMQ for ' .. what }) end
end
local bytes = 0
for _, each in ipairs(ARGV) do
  bytes = bytes + #each
end
refuseUnless(#KEYS == numberOfKeys and #ARGV <= mostArguments and bytes <= maxArgumentBytes, 'so much')
