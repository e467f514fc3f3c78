import { type Mutant, script } from "./mutant.ts";

export const mutantsOfCachedLists: readonly Mutant[] = [
  ...script("cache/cached-lists", [
    {
      promise: "lists-1",
      wrong: "no deltas are kept while a run is under way",
      from: "not (e.f.leftLists or e.f.state == 'leased') then return end",
      to: "not e.f.leftLists then return end",
    },
    {
      promise: "lists-1",
      wrong: "no deltas are kept after the run",
      from: "not (e.f.leftLists or e.f.state == 'leased') then return end",
      to: "e.f.state ~= 'leased' then return end",
    },
    {
      promise: "lists-2",
      wrong: "a change that cannot be expressed adds no delta",
      from: "if w.delta == '' or size",
      to: "if size",
    },
    {
      promise: "lists-2",
      wrong: "any number of deltas is kept",
      from: "or size > maxDeltaBytes or",
      to: "or",
    },
    {
      promise: "lists-2",
      wrong: "deltas are kept for any number of keys",
      from: " or not fits(size) then\n    loseDeltas(e)",
      to: " then\n    loseDeltas(e)",
    },
    {
      promise: "lists-1",
      wrong: "deltas are kept after the lists are gone",
      from: "if e.f.leftLists and redis.call('EXISTS', P .. ':lists:' .. e.key) == 0 then forgetLists(e) end",
      to: "",
    },
    {
      promise: "lists-1",
      wrong: "lists are given twice",
      from: "  forgetLists(e)\n  return isAll",
      to: "  return isAll",
    },
    {
      promise: "lists-1",
      wrong: "no lists are given",
      from: "  return isAll and",
      to: "  return false and",
    },
    {
      promise: "lists-2",
      wrong: "lists are given though deltas were lost",
      from: "e.f.deltas ~= 'lost' and size == number(e, 'deltas')",
      to: "(e.f.deltas == 'lost' or size == number(e, 'deltas'))",
    },
    {
      promise: "lists-4",
      wrong: "lists are given on another server",
      from: "e.f.leftLists and e.f.observedIn == control.incarnation and",
      to: "e.f.leftLists and",
    },
    {
      promise: "lists-5",
      wrong: "lists are given although deltas were deleted",
      from: " and size == number(e, 'deltas')",
      to: "",
    },
  ]),
  ...script("cache/cached-objects", [
    {
      promise: "lists-3",
      wrong: "a forced run gets lists",
      from: "    if w.force then loseDeltas(e) end",
      to: "",
    },
    {
      promise: "lists-3",
      wrong: "deltas that came before a key was forced are forgotten, and its lists are not",
      from: "    if w.force then loseDeltas(e) end",
      to: "    if w.force then forgetLists(e) end",
    },
  ]),
  ...script("ledger/rules/start-run", [
    {
      promise: "lists-1",
      wrong: "an assigned key comes without its lists",
      from: "return leasedKey(e, slot, askedAt, copy, lists)",
      to: "return leasedKey(e, slot, askedAt, copy)",
    },
  ]),
  ...script("cache/observed", [
    {
      promise: "lists-3",
      wrong: "lists are left by a run that failed",
      from: "if cachedLists ~= '' and ranHere and (verdict == 'done' or verdict == 'wait') then",
      to: "if cachedLists ~= '' and ranHere then",
    },
    {
      promise: "lists-4",
      wrong: "lists are left by a run that began on another server",
      from: "if cachedLists ~= '' and ranHere and",
      to: "if cachedLists ~= '' and",
    },
    {
      promise: "lists-1",
      wrong: "lists are left for ever",
      from: ", cachedLists, 'PX', cachedObjectTtl)",
      to: ", lists)",
    },
  ]),
  ...script("ledger/scripts/settle", [
    {
      promise: "lists-4",
      wrong: "lists of before another server are given after a run that it did not know of",
      from: "'leftObject', 'leftLists', 'answers'",
      to: "'leftObject', 'answers'",
    },
    {
      promise: "lists-1",
      wrong: "deltas stay of a run that leaves no lists",
      from: "if not e.f.leftLists then forgetLists(e) end",
      to: "",
    },
  ]),
];
