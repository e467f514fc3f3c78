import { defineScript } from "../script.ts";

/**
 * Hold leases for longer: `leases` is a JSON list of `{ key, token }`. Answers the era, the tokens whose lease is no
 * longer theirs, whose runs must stop, and those of runs that announced themselves.
 *
 * In the first moments on a new server nobody claims, and a run that the server does not know of, because it lost the
 * tail that told of it, announces itself by renewing. Its lease then stands against whatever the old data say.
 */
export const renew = defineScript({
  name: "renew",
  arguments: ["leases"],
  uses: [],
  body: `
local lost, announced = {}, {}
for _, mine in ipairs(listed(leases)) do
  local e = load(mine.key)
  local ours = e.f.token == mine.token and number(e, 'until') > now
  local announces = not settled() and e.f.announced ~= control.era and e.f.settled ~= mine.token
  if ours or announces then
    if not ours then
      clear(e, 'answers', 'claim', 'sawIn') -- what another run saw may be older than what this one writes
      e.f.token = mine.token
    end
    if not settled() then e.f.announced = control.era end
    e.f['until'] = now + lease
    if e.f.state == 'leased' then redis.call('ZADD', LEASES, now + lease, mine.key) else enter(e, 'leased', now + lease) end
    save(e)
    if not e.f.claim then announced[#announced + 1] = mine.token end
  else
    lost[#lost + 1] = mine.token
  end
end
return { control.era, lost, announced }
`,
});
