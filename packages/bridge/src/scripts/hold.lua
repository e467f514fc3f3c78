-- Takes a stream, unless another bridge's lease on it is valid; the same token again gets the same answer. Returns
-- `{ 'held', holder, ms that are left }` or `{ 'ours', writes so far, position or '', subscribers or '' }`.
--- @include "scripts/stream"

if held.token and held.token ~= token and (tonumber(held['until']) or 0) > now then
  return { 'held', held.holder or '', math.min(held['until'] - now, tonumber(lease)) }
end
local writes = tonumber(held.writes) or 0
redis.call('HSET', STREAM, 'token', token, 'holder', holder, 'until', now + lease, 'writes', writes, 'server', server)
return { 'ours', writes, held.position or '', held.told or '' }
