import { mutants } from "./mutant.ts";

export const mutantsOfCachedObjects = mutants(
  "ledger",
  `
cache/cached-objects.lua

object-1: no object is cached
- e.f.cachedObject = w.cachedObject

object-2: a cached object of an older version is kept
- local isNewest = e.f['version:' .. w.kind] == w.resourceVersion and
+ local isNewest =

object-2: a cached object of another object is kept
- and w.uid == e.f.uid and
+ and

object-6: a cached object is kept though versions do not compare
- and isDecimal(w.resourceVersion)

object-6: a forced key is run with a cached object
-   if w.force or w.uid and
+   if w.uid and

object-2: a cached object stays after a wake without one
- w.force or w.uid and not (w.cachedObject and isNewest) then
+ w.force or w.uid and not isNewest then

object-2: a cached object stays after a wake with an older version
- w.force or w.uid and not (w.cachedObject and isNewest) then
+ w.force or w.uid and not w.cachedObject then

object-7: any number of copies is kept
- and fits(#w.cachedObject)

object-9: an object listed in an earlier incarnation is used
- after.incarnation ~= control.incarnation or

object-9: an object listed long ago is used
-  or now - after.at >= maxListingAge then
+  then

object-9: a listed object is used although the key has run
- not (e.f.ranAt or
+ not (

object-9: a listed object is used after a run that announced itself
- e.f.announced or e.f.settled)
+ e.f.settled)

object-9: a listed object is used for a key that was gone
- or e.f.announced or e.f.settled)
+ or e.f.announced)

object-8: no copy that was left is given
- e.f.cachedObject or type(left) == 'string' and left
+ e.f.cachedObject

object-5: versions of an earlier incarnation count
- return e.f.observedIn == control.incarnation and copy
+ return e.f.observedIn and copy

ledger/scripts/wake.lua

object-2: a cached object stays after a wake with a newer version
- if w.uid then clear(e, 'cachedObject', 'leftObject') end

object-7: a cached object that comes within a window of backoff is kept
- if e.f.state == 'waits' then clear(e, 'cachedObject') end

object-9: a first run reads live, though its object was listed
-     e.f.observedIn = control.incarnation

object-10: a listed object counts as created
-     if w.created and w.uid and
+     if w.uid and

object-10: an object of another uid was created
- and w.uid == e.f.uid then e.f.isNew = 1 end
+ then e.f.isNew = 1 end

object-10: a user forces the key, and its run is the first
-   if w.force then clear(e, 'isNew') end

object-10: a new uid leaves it as it was
-   if w.uid and w.uid ~= e.f.uid then clear(e, 'isNew') end

object-10: an object that was restored is the one that was created
-   if w.uid and w.uid ~= e.f.uid then
+   if w.uid and newer(w.resourceVersion, e.f[version]) and w.uid ~= e.f.uid then

object-10: what another server knew counts again when its object is listed here
-     if e.f.observedIn ~= control.incarnation then clear(e, 'isNew') end

ledger/rules/start-run.lua

object-10: a first run of another server's data
- isFirst = e.f.isNew and not e.f.ranAt and e.f.observedIn == control.incarnation or nil
+ isFirst = e.f.isNew and not e.f.ranAt or nil

object-10: a second run is the first
- isFirst = e.f.isNew and not e.f.ranAt and
+ isFirst = e.f.isNew and

object-1: a cached object is given twice
- 'forced', 'cachedObject', 'observedIn'
+ 'forced', 'observedIn'

object-1: an assigned key comes without its cached object
- return leasedKey(e, slot, askedAt, copy, lists)
+ return leasedKey(e, slot, askedAt, '', lists)

slot-1: a leased key comes with its slot's token in place of its run's
- { slot, e.f.token, askedAt,
+ { slot, slot, askedAt,

object-4: a run that tells nothing counts as one that did
- 'forced', 'cachedObject', 'observedIn'
+ 'forced', 'cachedObject'

cache/observed.lua

object-5: a run of another incarnation reports for those of this one
- if ranHere then e.f.observedIn = control.incarnation end
+ e.f.observedIn = control.incarnation

object-9: a listing before a run of another incarnation ended shows what it has written
- if not ranHere then clear(e, 'observedIn') end

object-8: a run leaves a cached object that is not the newest
- or e.f[known] ~= observedVersion or
+ or

object-8: a cached object is left by a run that failed
- if verdict == 'done' or verdict == 'wait' then
-     redis.call('SET'
+ if true then
+     redis.call('SET'

object-8: a cached object is left for ever
- , cachedObject, 'PX', keepFor)
+ , cachedObject)

object-3: the version that a run read does not count
-     e.f[known] = observedVersion
-     clear(e, 'cachedObject')

object-3: a cached object stays that is older than the one that a run read
-     e.f[known] = observedVersion
-     clear(e, 'cachedObject')
+     e.f[known] = observedVersion

object-4: a version of another object counts
- if observedVersion == '' or observedUid ~= e.f.uid then
+ if observedVersion == '' then

ledger/scripts/settle.lua

object-8: a cached object that was left is given twice
- 'claim', 'leftObject', 'leftLists'
+ 'claim', 'leftLists'

ledger/rules/entry.lua

object-7: a cached object is kept while its key waits
- if state == 'waits' or state == 'parked' or state == 'paused' then clear(e, 'cachedObject') end

object-7: a cached object is kept while its key is paused
- or state == 'parked' or state == 'paused' then clear(e, 'cachedObject') end
+ or state == 'parked' then clear(e, 'cachedObject') end
`,
);
