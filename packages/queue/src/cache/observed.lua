-- What a run reports when it ends: the version of its own object that it has read or written last, and what it leaves
-- for the next run.
--- @include "cache/cached-objects"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/versions"

if verdict ~= 'done' or #seen > maxSeenBytes then seen = '' end

-- True if wakes have come since the run began, and the run has seen each of these changes: none of them causes a run.
local function sawAllWakes(e)
  local count = number(e, 'wakes') - number(e, 'answers')
  if count == 0 or seen == '' or cachedLists == '' or observedUid ~= e.f.uid then return false end
  local deltas = e.f.ranIn == control.incarnation and deltasOf(e) or {}
  if #deltas ~= count then return false end
  for _, each in ipairs(deltas) do
    if not isSeen(seen, each) then return false end
  end
  return true
end

-- Records the version that the run saw: no older cached object is given from now on. Keeps the object and the lists
-- that the run leaves. ranHere: the run has started in this incarnation, so that no wake since then can be lost, and no
-- other run of the key can have written something newer without a report.
local function recordObserved(e, ranHere)
  if not ranHere then clear(e, 'observedIn') end
  if observedVersion == '' or observedUid ~= e.f.uid then return end
  local known = 'version:' .. observedKind
  if newer(observedVersion, e.f[known]) then
    e.f[known] = observedVersion
    clear(e, 'cachedObject')
  end
  if ranHere then e.f.observedIn = control.incarnation end
  if cachedLists ~= '' and ranHere and (verdict == 'done' or verdict == 'wait') then
    redis.call('SET', P .. ':lists:' .. e.key, cachedLists, 'PX', keepFor)
    e.f.leftLists = 1
    if seen ~= '' then e.f.seen = seen end
  end
  if cachedObject == '' or e.f[known] ~= observedVersion or not isDecimal(observedVersion) then return end
  if verdict == 'done' or verdict == 'wait' then
    redis.call('SET', P .. ':object:' .. e.key, cachedObject, 'PX', keepFor)
    e.f.leftObject = 1
  end
end
