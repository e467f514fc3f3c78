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
- if w.delta == '' or w.uid
+ if w.uid

lists-6: a change of the key's own object during the run counts as seen
- or w.uid or size
+ or size

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
- e.f.leftLists and e.f.deltas ~= 'lost' and
+ e.f.leftLists and

lists-4: lists are given on another server
-  and e.f.observedIn == control.incarnation

lists-5: lists are given although deltas were deleted
-  and size == number(e, 'deltas')

lists-6: changes that begin like a seen one count as seen
- if string.sub(delta, 1, #start) == start then
+ if string.sub(delta, 1, 2) == string.sub(start, 1, 2) then

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
+ , cachedLists)

lists-6: what a run that is not done has seen counts
- if verdict ~= 'done' or #seen
+ if #seen

lists-6: a run that leaves no lists counts
- or cachedLists == '' or
+ or

lists-6: a run that saw another object counts
- cachedLists == '' or observedUid ~= e.f.uid then
+ cachedLists == '' then

lists-6: a change without a delta counts as seen
- if #deltas ~= count then return false end

lists-6: any change during the run counts as seen
- if not isSeen(seen, each) then return false end

lists-6: any number of versions is kept for a key
- or #seen > maxSeenBytes then
+ then

ledger/scripts/wake.lua

lists-6: a change that the run has seen causes a run
- if not isSeen(e.f.seen, w.delta) or redis
+ if true or redis

lists-6: what a run has seen counts when its lists are gone
-  or redis.call('EXISTS', P .. ':lists:' .. e.key) == 0 then
+  then

lists-6: what a run has seen counts on another server
- or not e.f.seen or not hasLists(e) then
+ or not e.f.seen then

lists-6: a forced wake does not count
- if not w.delta or w.uid or w.force or
+ if not w.delta or w.uid or

lists-6: a change of the key's own object does not count
- if not w.delta or w.uid or w.force or
+ if not w.delta or w.force or

wake-2: the version of a seen change is forgotten
- if newer(w.resourceVersion, e.f['version:' .. w.kind]) then e.f['version:' .. w.kind] = w.resourceVersion end

ledger/scripts/settle.lua

lists-6: a change that came during the run causes a run
- and not sawAll)
+ )

lists-6: the reasons of seen changes are left for the next run
- 'deltas', 'reasons', 'class', 'trace')
+ 'deltas')

lists-4: lists of before another server are given after a run that it did not know of
- 'leftObject', 'leftLists', 'seen', 'answers'
+ 'leftObject', 'seen', 'answers'

lists-1: deltas stay of a run that leaves no lists
- if not e.f.leftLists then forgetLists(e) end
`,
);
