-- Extends leases: `leases` is a JSON list of `{ key, token }`. Returns the incarnation, the tokens that no longer
-- hold their key (their runs must stop), and the tokens of runs that announced themselves.
--
-- In the recovery window of a new server no key is claimed. A run that is missing from the data, because the server
-- lost the last writes, announces itself by renewing. Its lease then overrides the old data.
--- @include "ledger/rules/entry"

local lost, announced = {}, {}
for _, mine in ipairs(listed(leases)) do
  local e = load(mine.key)
  local ours = e.f.token == mine.token and number(e, 'until') > now
  local announces = not recovered() and e.f.announced ~= control.incarnation and e.f.settled ~= mine.token
  if ours or announces then
    if not ours then
      clear(e, 'answers', 'claim', 'observedIn') -- a listing before may be older than what this run writes
      e.f.token = mine.token
    end
    if not recovered() then e.f.announced = control.incarnation end
    e.f['until'] = now + lease
    if e.f.state == 'leased' then
      redis.call('ZADD', LEASES, now + lease, mine.key)
    else
      enter(e, 'leased', now + lease)
    end
    save(e)
    if not e.f.claim then announced[#announced + 1] = mine.token end
  else
    lost[#lost + 1] = mine.token
  end
end
return { control.incarnation, lost, announced }
