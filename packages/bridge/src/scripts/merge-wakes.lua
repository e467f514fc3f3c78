-- Merges two wakes of one key: the newer version, the more urgent class and the newest known pause. `delta` becomes
-- empty, because a part of it may be missing.

local rank = { change = 1, listing = 2, resync = 3 }
local function isDecimal(version) return string.match(version, '^%d+$') ~= nil end
local function isOlder(version, other)
  if not isDecimal(version) or not isDecimal(other) then return false end
  if #version ~= #other then return #version < #other end
  return version < other
end
local function folded(w, before)
  local ok, was = pcall(cjson.decode, before)
  if not ok or type(was) ~= 'table' or not was.resourceVersion then return w end
  local isLate = isOlder(w.resourceVersion, was.resourceVersion)
  local kept, other = isLate and was or w, isLate and w or was
  -- Only wakes of the key's own object show whether it is paused.
  if kept.paused == nil then kept.paused = other.paused end
  kept.class = (rank[was.class] or 3) < (rank[w.class] or 3) and was.class or w.class
  if was.delta or w.delta then kept.delta = '' end
  return kept
end
