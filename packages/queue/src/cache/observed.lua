-- What a run reports when it ends: the version of its own object that it has read or written last, and what it leaves
-- for the next run.
--- @include "cache/cached-objects"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/versions"

-- Records the version that the run saw: no older cached object is given from now on. Keeps the object and the lists
-- that the run leaves. ranHere: no wake since the run began can be lost.
local function recordObserved(e, ranHere)
  if observedVersion == '' or observedUid ~= e.f.uid then return end
  local known = 'version:' .. observedKind
  if newer(observedVersion, e.f[known]) then
    e.f[known] = observedVersion
    clear(e, 'cachedObject')
  end
  e.f.observedIn = control.incarnation
  if cachedLists ~= '' and ranHere and (verdict == 'done' or verdict == 'wait') then
    redis.call('SET', P .. ':lists:' .. e.key, cachedLists, 'PX', cachedObjectTtl)
    e.f.leftLists = 1
  end
  if cachedObject == '' or e.f[known] ~= observedVersion or not isDecimal(observedVersion) then return end
  if verdict == 'done' or verdict == 'wait' then
    redis.call('SET', P .. ':object:' .. e.key, cachedObject, 'PX', cachedObjectTtl)
    e.f.leftObject = 1
  end
end
