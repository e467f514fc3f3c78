-- The copy of a key's own object that a run may use in place of a live read: from a wake, or left by the run before.
-- It is as new as every version in a wake and every one that runs have read or written in this incarnation.
--- @include "cache/cached-lists"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/versions"

-- Keeps a cached object of the newest known version only. Drops it for a forced key, and after a wake of the object
-- without a cached object or with an older version: the object may be gone (a listing reports that without a newer
-- version), or etcd may have been restored.
local function keepObject(e, w)
  local isNewest = e.f['version:' .. w.kind] == w.resourceVersion and isDecimal(w.resourceVersion)
  if w.force or w.uid and not (w.cachedObject and isNewest) then
    clear(e, 'cachedObject', 'leftObject')
    if w.force then loseDeltas(e) end
  elseif w.cachedObject and w.uid and w.uid == e.f.uid and fits(#w.cachedObject) then
    e.f.cachedObject = w.cachedObject
  end
end

-- True if a listing after newestAfter shows everything that runs have written: the data contain no run of this object,
-- and any forgotten run (with other data, or of a key that was gone) ended before.
local function isBeforeAnyRun(e, w)
  local after = w.newestAfter
  if not after or after.incarnation ~= control.incarnation or now - after.at >= maxListingAge then return false end
  return not (e.f.ranAt or e.f.announced or e.f.settled)
end

-- The cached object for the run that starts, if there is one that no run has outdated.
local function takeObject(e)
  local left = e.f.leftObject and read(P .. ':object:' .. e.key, 'GET')
  local copy = e.f.cachedObject or type(left) == 'string' and left
  return e.f.observedIn == control.incarnation and copy or ''
end
