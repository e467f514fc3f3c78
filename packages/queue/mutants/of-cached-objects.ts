import { type Mutant, script } from "./mutant.ts";

export const mutantsOfCachedObjects: readonly Mutant[] = [
  ...script("cache/cached-objects", [
    {
      promise: "object-1",
      wrong: "no object is cached",
      from: "e.f.cachedObject = w.cachedObject",
      to: "",
    },
    {
      promise: "object-2",
      wrong: "a cached object of an older version is kept",
      from: "local isNewest = e.f['version:' .. w.kind] == w.resourceVersion and",
      to: "local isNewest =",
    },
    {
      promise: "object-2",
      wrong: "a cached object of another object is kept",
      from: "and w.uid == e.f.uid and",
      to: "and",
    },
    {
      promise: "object-6",
      wrong: "a cached object is kept though versions do not compare",
      from: "and isDecimal(w.resourceVersion)",
      to: "",
    },
    {
      promise: "object-6",
      wrong: "a forced key is run with a cached object",
      from: "  if w.force or w.uid and",
      to: "  if w.uid and",
    },
    {
      promise: "object-2",
      wrong: "a cached object stays after a wake without one",
      from: "w.force or w.uid and not (w.cachedObject and isNewest) then",
      to: "w.force or w.uid and not isNewest then",
    },
    {
      promise: "object-2",
      wrong: "a cached object stays after a wake with an older version",
      from: "w.force or w.uid and not (w.cachedObject and isNewest) then",
      to: "w.force or w.uid and not w.cachedObject then",
    },
    {
      promise: "object-7",
      wrong: "any number of copies is kept",
      from: "and fits(#w.cachedObject)",
      to: "",
    },
    {
      promise: "object-9",
      wrong: "an object listed in an earlier incarnation is used",
      from: "after.incarnation ~= control.incarnation or",
      to: "",
    },
    {
      promise: "object-9",
      wrong: "an object listed long ago is used",
      from: " or now - after.at >= maxListingAge then",
      to: " then",
    },
    {
      promise: "object-9",
      wrong: "a listed object is used although the key has run",
      from: "not (e.f.ranAt or",
      to: "not (",
    },
    {
      promise: "object-9",
      wrong: "a listed object is used after a run that announced itself",
      from: "e.f.announced or e.f.settled)",
      to: "e.f.settled)",
    },
    {
      promise: "object-9",
      wrong: "a listed object is used for a key that was gone",
      from: "or e.f.announced or e.f.settled)",
      to: "or e.f.announced)",
    },
    {
      promise: "object-8",
      wrong: "no copy that was left is given",
      from: "e.f.cachedObject or type(left) == 'string' and left",
      to: "e.f.cachedObject",
    },
    {
      promise: "object-5",
      wrong: "versions of an earlier incarnation count",
      from: "return e.f.observedIn == control.incarnation and copy",
      to: "return e.f.observedIn and copy",
    },
  ]),
  ...script("ledger/scripts/wake", [
    {
      promise: "object-2",
      wrong: "a cached object stays after a wake with a newer version",
      from: "if w.uid then clear(e, 'cachedObject', 'leftObject') end",
      to: "",
    },
    {
      promise: "object-7",
      wrong: "a cached object that comes within a window of backoff is kept",
      from: "if e.f.state == 'waits' then clear(e, 'cachedObject') end",
      to: "",
    },
    {
      promise: "object-9",
      wrong: "a first run reads live, though its object was listed",
      from: "if isBeforeAnyRun(e, w) then e.f.observedIn = control.incarnation end",
      to: "",
    },
  ]),
  ...script("ledger/rules/start-run", [
    {
      promise: "object-1",
      wrong: "a cached object is given twice",
      from: "'forced', 'cachedObject', 'observedIn')",
      to: "'forced', 'observedIn')",
    },
    {
      promise: "object-1",
      wrong: "an assigned key comes without its cached object",
      from: "return leasedKey(e, slot, askedAt, copy, lists)",
      to: "return leasedKey(e, slot, askedAt, '', lists)",
    },
    {
      promise: "slot-1",
      wrong: "a leased key comes with its slot's token in place of its run's",
      from: "{ slot, e.f.token, askedAt,",
      to: "{ slot, slot, askedAt,",
    },
    {
      promise: "object-4",
      wrong: "a run that tells nothing counts as one that did",
      from: "'forced', 'cachedObject', 'observedIn')",
      to: "'forced', 'cachedObject')",
    },
  ]),
  ...script("cache/observed", [
    {
      promise: "object-8",
      wrong: "a run leaves a cached object that is not the newest",
      from: "or e.f[known] ~= observedVersion or",
      to: "or",
    },
    {
      promise: "object-8",
      wrong: "a cached object is left by a run that failed",
      from: "if verdict == 'done' or verdict == 'wait' then\n    redis.call('SET'",
      to: "if true then\n    redis.call('SET'",
    },
    {
      promise: "object-8",
      wrong: "a cached object is left for ever",
      from: ", cachedObject, 'PX', cachedObjectTtl)",
      to: ", cachedObject)",
    },
    {
      promise: "object-3",
      wrong: "the version that a run read does not count",
      from: "    e.f[known] = observedVersion\n    clear(e, 'cachedObject')",
      to: "",
    },
    {
      promise: "object-3",
      wrong: "a cached object stays that is older than the one that a run read",
      from: "    e.f[known] = observedVersion\n    clear(e, 'cachedObject')",
      to: "    e.f[known] = observedVersion",
    },
    {
      promise: "object-4",
      wrong: "a version of another object counts",
      from: "or observedUid ~= e.f.uid then",
      to: "then",
    },
  ]),
  ...script("ledger/scripts/settle", [
    {
      promise: "object-8",
      wrong: "a cached object that was left is given twice",
      from: "'claim', 'leftObject', 'leftLists'",
      to: "'claim', 'leftLists'",
    },
  ]),
  ...script("ledger/rules/entry", [
    {
      promise: "object-7",
      wrong: "a cached object is kept while its key waits",
      from: "if state == 'waits' or state == 'parked' or state == 'paused' then clear(e, 'cachedObject') end",
      to: "",
    },
    {
      promise: "object-7",
      wrong: "a cached object is kept while its key is paused",
      from: "or state == 'parked' or state == 'paused' then clear(e, 'cachedObject') end",
      to: "or state == 'parked' then clear(e, 'cachedObject') end",
    },
  ]),
];
