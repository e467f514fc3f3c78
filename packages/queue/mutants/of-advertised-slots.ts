import { type Mutant, script } from "./mutant.ts";

const ofAdvertisedSlots = script("ledger/rules/advertised-slots", [
  {
    promise: "slot-1",
    wrong: "nothing is assigned",
    from: "  if not slot then return false end",
    to: "  if true then return false end",
  },
  {
    promise: "slot-1",
    wrong: "an assigned key does not count as a job",
    from: "  control.dispatches = setting('dispatches', 0) + 1\n",
    to: "",
  },
  {
    promise: "slot-2",
    wrong: "a slot is given key after key",
    from: "'^(%S+) (%d+) (%d+)$')\n    retract(slot)",
    to: "'^(%S+) (%d+) (%d+)$')",
  },
  {
    promise: "slot-3",
    wrong: "an advertisement never expires",
    from: "if not slot or tonumber(expiresAt) <= now then",
    to: "if not slot then",
  },
  {
    promise: "slot-3",
    wrong: "an advertisement by a clock that has gone back is used",
    from: "tonumber(expiresAt) <= now + recoveryWindow and",
    to: "true and",
  },
  {
    promise: "slot-3",
    wrong: "an advertisement of a function that has become an older one is used",
    from: "and tonumber(version) >= setting('newest', 0) then",
    to: "then",
  },
  {
    promise: "slot-4",
    wrong: "assigned keys are not stored",
    from: "  redis.call('HSET', ASSIGNED, slot, table.concat({ token, askedAt, e.key }, ' '))\n",
    to: "",
  },
  {
    promise: "slot-4",
    wrong: "a repeated call gets a key that another run has now",
    from: "if e and held(e) and e.f.token == token and e.f.claim then",
    to: "if e then",
  },
  {
    promise: "slot-5",
    wrong: "the time of the first advertisement is returned",
    from: "redis.call('HSET', ADVERTISEMENTS, slot,",
    to: "redis.call('HSETNX', ADVERTISEMENTS, slot,",
  },
  {
    promise: "slot-8",
    wrong: "whatever a slot is given is leased under the slot's token",
    from: "string.format('%s:%d:%d', slot, now, control.dispatches)",
    to: "slot",
  },
  {
    promise: "slot-8",
    wrong: "two keys that a slot is given in one ms have one token",
    from: "'%s:%d:%d', slot, now, control.dispatches",
    to: "'%s:%d', slot, now",
  },
]);

const ofOthers: readonly Mutant[] = [
  ...script("ledger/scripts/claim", [
    {
      promise: "slot-2",
      wrong: "a claim leaves the advertisement of its token",
      from: "retract(token)\n",
      to: "",
    },
    {
      promise: "slot-2",
      wrong: "a slot that was assigned a key claims another",
      from: "if assignedTo(token) then",
      to: "if false then",
    },
  ]),
  ...script("ledger/scripts/settle", [
    {
      promise: "slot-3",
      wrong: "a slot that a key was chained to is advertised",
      from: "worker ~= '' and not chained[1] then",
      to: "worker ~= '' then",
    },
  ]),
  ...script("ledger/rules/adoption", [
    {
      promise: "slot-3",
      wrong: "advertisements stay on another server",
      from: "redis.call('DEL', ADVERTISED, ADVERTISEMENTS, ASSIGNED)\n",
      to: "",
    },
  ]),
  ...script("ledger/scripts/advertise", [
    {
      promise: "slot-4",
      wrong: "a slot that was assigned a key is advertised again",
      from: "  elseif advertises == '1' then",
      to: "  end\n  if advertises == '1' then",
    },
    {
      promise: "slot-9",
      wrong: "an idle slot waits beside a job that no worker takes",
      from: "local dispatched = advertises == '1' and recovered() and overdueKey()",
      to: "local dispatched = false",
    },
  ]),
  {
    promise: "slot-6",
    wrong: "a key that arrives at a busy slot is run",
    file: "worker/slots.ts",
    from: "if (!isFree || this.#closed)",
    to: "if (this.#closed)",
    noticedBy: "processes",
  },
  {
    promise: "slot-6",
    wrong: "a key that arrives at a busy slot is not given back",
    file: "worker/slots.ts",
    from: "void this.#parts.giveBack(leased);",
    to: "",
    noticedBy: "processes",
  },
  {
    promise: "slot-7",
    wrong: "a job takes a slot that is not there",
    file: "worker/slots.ts",
    from: "this.#used < this.#parts.concurrency ?",
    to: "this.#used < Infinity ?",
    noticedBy: "processes",
  },
  {
    promise: "slot-7",
    wrong: "more slots are advertised than there are",
    file: "worker/slots.ts",
    from: "Math.min(concurrency - this.#used, maxAdvertisedSlots - this.#advertised.size)",
    to: "Math.min(concurrency, maxAdvertisedSlots - this.#advertised.size)",
    noticedBy: "processes",
  },
  {
    promise: "job-5",
    wrong: "a failed run that no job had asked for shows nowhere",
    file: "worker/worker.ts",
    from: "await jobQueue.addFailed(error)",
    to: "await Promise.resolve()",
    noticedBy: "processes",
  },
];

export const mutantsOfAdvertisedSlots: readonly Mutant[] = [...ofAdvertisedSlots, ...ofOthers];
