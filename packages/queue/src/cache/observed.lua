-- What a run reports when it ends: the version of its own object that it has read or written last, and what it leaves
-- for the next run.
--- @include "cache/cached-objects"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/versions"

-- Records the version that the run saw: no older cached object is given from now on. Keeps the object and the lists
-- that the run leaves. ranHere: no wake since the run began can be lost.
local function learn(e, ranHere)
  if sawVersion == '' or sawUid ~= e.f.uid then return end
  local known = 'version:' .. sawKind
  if newer(sawVersion, e.f[known]) then
    e.f[known] = sawVersion
    clear(e, 'copy')
  end
  e.f.sawIn = control.era
  if lists ~= '' and ranHere and (verdict == 'done' or verdict == 'wait') then
    redis.call('SET', P .. ':lists:' .. e.key, lists, 'PX', cachedObjectTtl)
    e.f.listed = 1
  end
  if sawCopy == '' or e.f[known] ~= sawVersion or not isDecimal(sawVersion) then return end
  if verdict == 'done' or verdict == 'wait' then
    redis.call('SET', P .. ':copy:' .. e.key, sawCopy, 'PX', cachedObjectTtl)
    e.f.left = 1
  end
end
