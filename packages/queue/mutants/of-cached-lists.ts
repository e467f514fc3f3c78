import { mutants } from "./mutant.ts";

export const mutantsOfCachedLists = mutants(
  "ledger",
  `
cache/cached-lists.lua

lists-1: no deltas are kept while a run is under way
- not (e.f.leftLists or e.f.state == 'leased') then return end
+ not e.f.leftLists then return end

lists-1: no deltas are kept after the run
- not (e.f.leftLists or e.f.state == 'leased') then return end
+ e.f.state ~= 'leased' then return end

lists-2: a change that cannot be expressed adds no delta
- if w.delta == '' or size
+ if size

lists-2: any number of deltas is kept
- or size > maxDeltaBytes or
+ or

lists-2: deltas are kept for any number of keys
-  or not fits(size) then
-     loseDeltas(e)
+  then
+     loseDeltas(e)

lists-1: deltas are kept after the lists are gone
- if e.f.leftLists and redis.call('EXISTS', P .. ':lists:' .. e.key) == 0 then forgetLists(e) end

lists-1: lists are given twice
-   forgetLists(e)
-   return isAll
+   return isAll

lists-1: no lists are given
-   return isAll and
+   return false and

lists-2: lists are given though deltas were lost
- e.f.deltas ~= 'lost' and size == number(e, 'deltas')
+ (e.f.deltas == 'lost' or size == number(e, 'deltas'))

lists-4: lists are given on another server
- e.f.leftLists and e.f.observedIn == control.incarnation and
+ e.f.leftLists and

lists-5: lists are given although deltas were deleted
-  and size == number(e, 'deltas')

cache/cached-objects.lua

lists-3: a forced run gets lists
-     if w.force then loseDeltas(e) end

lists-3: deltas that came before a key was forced are forgotten, and its lists are not
-     if w.force then loseDeltas(e) end
+     if w.force then forgetLists(e) end

ledger/rules/start-run.lua

lists-1: an assigned key comes without its lists
- return leasedKey(e, slot, askedAt, copy, lists)
+ return leasedKey(e, slot, askedAt, copy)

cache/observed.lua

lists-3: lists are left by a run that failed
- if cachedLists ~= '' and ranHere and (verdict == 'done' or verdict == 'wait') then
+ if cachedLists ~= '' and ranHere then

lists-4: lists are left by a run that began on another server
- if cachedLists ~= '' and ranHere and
+ if cachedLists ~= '' and

lists-1: lists are left for ever
- , cachedLists, 'PX', keepFor)
+ , lists)

ledger/scripts/settle.lua

lists-4: lists of before another server are given after a run that it did not know of
- 'leftObject', 'leftLists', 'answers'
+ 'leftObject', 'answers'

lists-1: deltas stay of a run that leaves no lists
- if not e.f.leftLists then forgetLists(e) end
`,
);
