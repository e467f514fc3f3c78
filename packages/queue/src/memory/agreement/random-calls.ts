/** Random calls of a ledger and events of its server, for tests that compare two ledgers. */
import fc from "fast-check";
import { objectKey, type ObjectKey, type Rate } from "@drover/controller";
import type { WorkerRegistration, IdleSlots, SlotRequest } from "../../ledger/ledger.ts";
import { maxDeltaBytes } from "../../cache/cache-bounds.ts";
import type {
  ListedState,
  PauseScope,
  ObservedVersion,
  RunOutcome,
  Wake,
} from "../../work-queue/work-queue.ts";

/** The durations of the ledgers on which random calls are made. */
export const times = { lease: 6_000, recoveryWindow: 1_000 };

/** How long some runs have what they leave kept, ms. Not near `cachedObjectTtl` and `goneKeyTtl`. */
export const keptFor = 7_200_000;

/** `nth` counts claims or jobs backwards: 0 is the latest. A made-up one is used if there are not as many. */
export type RandomCall =
  | { readonly call: "wake"; readonly wakes: readonly Wake[]; readonly force: boolean }
  /** They were listed `ago` ms before. */
  | { readonly call: "wake listed"; readonly wakes: readonly Wake[]; readonly ago: number }
  | { readonly call: "claim"; readonly key: ObjectKey; readonly token: string; readonly version: number }
  | { readonly call: "claim job"; readonly nth: number; readonly token: string; readonly version: number }
  | { readonly call: "claim again"; readonly nth: number }
  | { readonly call: "renew"; readonly nths: readonly number[] }
  | { readonly call: "renew unknown"; readonly key: ObjectKey; readonly token: string }
  | {
      readonly call: "settle";
      readonly nth: number;
      readonly outcome: RunOutcome;
      readonly trigger: string;
      readonly next?: SlotRequest;
    }
  | {
      readonly call: "settle unknown";
      readonly key: ObjectKey;
      readonly token: string;
      readonly outcome: RunOutcome;
    }
  | { readonly call: "advertise" | "retract"; readonly slots: IdleSlots }
  | { readonly call: "dispatch" }
  | { readonly call: "unclaimed jobs"; readonly minAge: number }
  | { readonly call: "dispatch again"; readonly nth: number }
  | { readonly call: "register worker"; readonly worker: WorkerRegistration }
  | { readonly call: "pause" | "resume"; readonly scope: PauseScope }
  | { readonly call: "count" }
  | { readonly call: "not run since"; readonly since: number }
  | { readonly call: "list"; readonly state: ListedState; readonly after: string; readonly limit: number }
  | { readonly call: "inspect"; readonly key: ObjectKey };

/** An event between calls. */
export type RandomEvent =
  | { readonly event: "clock"; readonly by: number }
  | { readonly event: "another server" | "everything lost" | "backup" | "failover to the backup" };

/**
 * Keys that reveal a wrong order or a wrong split: UTF-8 and UTF-16 sort the planes of Unicode differently, and some
 * keys have no namespace.
 */
export const keys: readonly ObjectKey[] = [
  objectKey({ namespace: "a", name: "x" }),
  objectKey({ namespace: "a", name: "y" }),
  objectKey({ namespace: "b", name: "x" }),
  objectKey({ name: "\uff5e" }),
  objectKey({ name: "\u{1f600}" }),
];
/** Workers that advertise slots and receive the assigned keys. */
export const workers = ["w1", "w2", "w3"] as const;
const key = fc.constantFrom(...keys);
const version = fc.constantFrom(0, 0, 1, 2, 3);
const nth = fc.constantFrom(0, 0, 0, 1, 2, 5);
const token = fc.constantFrom("t1", "t2", "t3", "t4", "t5", "t6");
const account = fc.constantFrom("", "s3", "s3", "ec2/eu:1");
const after = fc.constantFrom(0, 0.5, 1, 100, 1_000, 7_000, 30_000);
const error = fc.constantFrom("", "no", "a \u{1f600} of an error");

/** The longest one has exactly the maximum size. */
const delta = fc.constantFrom("", "n1", "n2", "n3", "\u{1f600}", "\u{1f600}".repeat(maxDeltaBytes / 4));

const wake: fc.Arbitrary<Wake> = fc.record(
  {
    key,
    kind: fc.constantFrom("buckets", "pods", "odd:kind"),
    resourceVersion: fc.oneof(
      fc.nat(120).map(String),
      fc.constantFrom("9", "10", "0010", "ant", "zebra", "", "99999999999999999999", "100000000000000000000"),
    ),
    uid: fc.constantFrom("u1", "u1", "u2", "u3"),
    reason: fc.constantFrom("Added", "Modified", "Deleted", "r1", "r2", "r3", "r4", "r5", "r6"),
    class: fc.constantFrom("change", "change", "listing", "resync"),
    paused: fc.boolean(),
    trace: fc.constantFrom("", "00-1-1-01"),
    cachedObject: fc.constantFrom('{"a":1}', '{"\u{1f600}":"\\n"}'),
    delta: delta,
    after: fc.constantFrom(0, 1, 1_000, 7_000),
    created: fc.constant(true),
  },
  { requiredKeys: ["key", "kind", "resourceVersion", "reason", "class"] },
);

const observed: fc.Arbitrary<ObservedVersion> = fc.record(
  {
    kind: fc.constantFrom("buckets", "buckets", "pods"),
    uid: fc.constantFrom("u1", "u1", "u2"),
    resourceVersion: fc.oneof(
      fc.nat(120).map(String),
      fc.constantFrom("9", "zebra", "100000000000000000000"),
    ),
    cachedObject: fc.constantFrom('{"left":1}', '{"left":2}'),
    cachedLists: fc.constantFrom("l1", "l2"),
    seen: fc.constantFrom(["n1"], ["n2", "n3"], ["n"]),
    keepFor: fc.constant(keptFor),
  },
  { requiredKeys: ["kind", "uid", "resourceVersion"] },
);

const bareOutcome: fc.Arbitrary<RunOutcome> = fc.oneof(
  fc.record({ kind: fc.constant("done"), after, account }, { requiredKeys: ["kind"] }),
  fc.record({ kind: fc.constant("wait"), after }),
  {
    weight: 3,
    arbitrary: fc.record(
      { kind: fc.constant("retry"), error, after, account },
      { requiredKeys: ["kind", "error"] },
    ),
  },
  fc.record({ kind: fc.constant("throttled"), account: fc.constantFrom("s3", "ec2/eu:1"), after }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("conflict") }) },
  fc.record({ kind: fc.constant("terminal"), error }),
  fc.record({ kind: fc.constant("paused") }),
  fc.record({ kind: fc.constant("gone") }),
  fc.record({ kind: fc.constant("interrupted") }),
);
const outcome = fc
  .tuple(bareOutcome, fc.option(observed, { nil: undefined }))
  .map(([each, of]): RunOutcome => (of === undefined ? each : { ...each, observed: of }));

const rate: fc.Arbitrary<Rate> = fc.constantFrom(
  { perSecond: 1, burst: 1 },
  { perSecond: 3, burst: 2 },
  { perSecond: 0.1, burst: 1 },
);
const registration: fc.Arbitrary<WorkerRegistration> = fc.record(
  {
    worker: fc.constantFrom(...workers),
    slots: fc.constantFrom(0, 1, 2, 4, 8),
    version,
    lasts: fc.constantFrom(0, 500, 5_000, 1_000_000),
    backoff: fc.record(
      {
        first: fc.constantFrom(1, 333, 1_000),
        longest: fc.constantFrom(1_000, 8_000),
        attempts: fc.constantFrom(1, 2, 3),
      },
      { requiredKeys: ["first", "longest"] },
    ),
    runs: rate,
    accounts: fc.oneof(fc.constant({}), fc.record({ s3: rate, "ec2/eu:1": rate }, { requiredKeys: ["s3"] })),
  },
  { requiredKeys: ["worker", "slots", "version", "lasts", "backoff", "accounts"] },
);

const scope: fc.Arbitrary<PauseScope> = fc.oneof(
  fc.constant({ kind: "controller" } as const),
  fc.record({ kind: fc.constant("namespace"), namespace: fc.constantFrom("a", "b", "") }),
  fc.record({ kind: fc.constant("object"), key }),
);
const state = fc.constantFrom<ListedState>(
  "waits",
  "ready",
  "dispatched",
  "leased",
  "parked",
  "paused",
  "failing",
);
/** A position after which a page may begin. An earlier page may have ended there, or never did. */
const pageAfter = fc.oneof(
  fc.constant(""),
  fc.tuple(fc.integer({ min: 9_999_000, max: 10_010_000 }), key).map(([at, of]) => `${at} ${of}`),
);
const steps = [
  0, 1, 10, 99, 100, 101, 333, 500, 999, 1_000, 1_001, 2_000, 5_999, 6_000, 6_001, 8_000, 60_000,
];
const jump = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...steps) },
  { weight: 1, arbitrary: fc.constantFrom(-1, -500, -1_000, -6_000, -7_000, -60_000) },
);

const call = <const Name extends string, Rest extends object>(
  name: Name,
  rest: fc.Arbitrary<Rest>,
): fc.Arbitrary<{ readonly call: Name } & Rest> => rest.map((fields) => ({ call: name, ...fields }));
const event = <const Name extends string>(name: Name): fc.Arbitrary<{ readonly event: Name }> =>
  fc.constant({ event: name });
const trigger = fc.constantFrom("Added", "Modified");
const worker = fc.constantFrom(...workers);
const askedAt = fc.nat(3);
const next = fc.record({ token, version, askedAt, worker }, { requiredKeys: ["token", "version"] });
const idleSlots = fc.record({
  worker,
  askedAt,
  version,
  tokens: fc.array(token, { minLength: 1, maxLength: 3 }),
});
const wakes = (maxLength: number): fc.Arbitrary<readonly Wake[]> =>
  fc.array(wake, { minLength: 1, maxLength });
const none = fc.constant({});

/** Calls and events with their weights. */
const weighted: readonly (readonly [number, fc.Arbitrary<RandomCall | RandomEvent>])[] = [
  [200, call("wake", fc.record({ wakes: wakes(3), force: fc.constant(false) }))],
  [30, call("wake", fc.record({ wakes: wakes(1), force: fc.constant(true) }))],
  [20, call("wake listed", fc.record({ wakes: wakes(3), ago: fc.constantFrom(0, 1_000, 49_999, 50_000) }))],
  [160, call("claim job", fc.record({ nth, token, version }))],
  [40, call("claim", fc.record({ key, token, version }))],
  [20, call("claim again", fc.record({ nth }))],
  [30, call("renew", fc.record({ nths: fc.array(nth, { minLength: 1, maxLength: 2 }) }))],
  [10, call("renew unknown", fc.record({ key, token }))],
  [100, call("settle", fc.record({ nth, outcome, trigger }))],
  [60, call("settle", fc.record({ nth, outcome, trigger, next }))],
  [10, call("settle unknown", fc.record({ key, token, outcome }))],
  [60, call("advertise", fc.record({ slots: idleSlots }))],
  [10, call("retract", fc.record({ slots: idleSlots }))],
  [100, call("dispatch", none)],
  [10, call("unclaimed jobs", fc.record({ minAge: fc.constantFrom(0, 100, 2_000) }))],
  [20, call("dispatch again", fc.record({ nth }))],
  [40, call("register worker", fc.record({ worker: registration }))],
  [15, call("pause", fc.record({ scope }))],
  [20, call("resume", fc.record({ scope }))],
  [10, call("count", none)],
  [10, call("not run since", fc.record({ since: fc.integer({ min: 9_990_000, max: 10_010_000 }) }))],
  [10, call("list", fc.record({ state, after: pageAfter, limit: fc.nat(3) }))],
  [10, call("inspect", fc.record({ key }))],
  [160, jump.map((by) => ({ event: "clock", by }) as const)],
  [7, event("another server")],
  [2, event("everything lost")],
  [5, event("backup")],
  [3, event("failover to the backup")],
];

type Happening = RandomCall | RandomEvent;
const anything: fc.Arbitrary<Happening> = fc.oneof(
  ...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })),
);

/** One key, run several times with the same outcome: some states only follow after many equal outcomes. */
const runs: fc.Arbitrary<readonly Happening[]> = fc
  .record({
    times: fc.constantFrom(1, 2, 3, 4, 10),
    by: jump,
    outcome,
    before: fc.array(wake, { maxLength: 1 }),
    during: fc.array(wake, { maxLength: 1 }),
  })
  .map(({ times, by, outcome: each, before, during }) =>
    Array.from({ length: times }, (_, n): readonly Happening[] => [
      { event: "clock", by },
      { call: "wake", wakes: before, force: false },
      { call: "dispatch" },
      { call: "claim job", nth: 0, token: `run${n}`, version: 0 },
      { call: "wake", wakes: during, force: false },
      { call: "settle", nth: 0, outcome: each, trigger: "Added" },
    ]).flat(),
  );

/** The run of one key throttles an account while another key of this account is dispatched. */
const throttling: fc.Arbitrary<readonly Happening[]> = fc
  .record({
    first: key,
    second: key,
    account: fc.constantFrom("s3", "ec2/eu:1"),
    after,
    worker: registration,
  })
  .map(({ first, second, account: of, after: span, worker }): readonly Happening[] => {
    const wakeOf = (each: ObjectKey) =>
      ({ key: each, kind: "pods", resourceVersion: "1", reason: "Added", class: "change" }) as const;
    const end = (result: RunOutcome) =>
      ({ call: "settle", nth: 0, outcome: result, trigger: "Added" }) as const;
    const claim = (each: ObjectKey, token: string) =>
      ({ call: "claim", key: each, token, version: 3 }) as const;
    return [
      { call: "register worker", worker: { ...worker, slots: 8 } },
      { event: "clock", by: times.recoveryWindow },
      { call: "wake", wakes: [wakeOf(first)], force: true },
      claim(first, "throttling 1"),
      end({ kind: "done", account: of }),
      { call: "wake", wakes: [wakeOf(first), wakeOf(second)], force: true },
      claim(second, "throttling 2"),
      end({ kind: "throttled", account: of, after: span + 1 }),
      claim(first, "throttling 3"),
    ];
  });

/** A run that leaves its object and lists to the next run. */
const leaving: fc.Arbitrary<readonly Happening[]> = fc
  .record({ of: key, during: fc.array(wake, { maxLength: 2 }), by: jump, news: delta })
  .map(({ of, during, by, news: each }): readonly Happening[] => {
    const seen = { kind: "buckets", uid: "u9", resourceVersion: "200000000000000000000" };
    const change = { key: of, ...seen, reason: "Modified", class: "change" } as const;
    const end = (result: RunOutcome) =>
      ({ call: "settle", nth: 0, outcome: result, trigger: "Added" }) as const;
    const claim = (token: string) => ({ call: "claim", key: of, token, version: 3 }) as const;
    return [
      { event: "clock", by: times.recoveryWindow },
      { call: "wake", wakes: [change], force: true },
      claim("leaving 1"),
      { call: "wake", wakes: during, force: false },
      end({
        kind: "done",
        observed: { ...seen, cachedObject: '{"left":3}', cachedLists: "l3", seen: ["n1", "n2"] },
      }),
      { event: "clock", by },
      {
        call: "wake",
        wakes: [
          { key: of, kind: "others", resourceVersion: "1", reason: "Added", class: "change", delta: each },
        ],
        force: false,
      },
      { call: "dispatch" },
      claim("leaving 2"),
    ];
  });

/** Sequences of calls and events. */
export const randomCalls: fc.Arbitrary<readonly Happening[]> = fc
  .array(
    fc.oneof(
      { weight: 15, arbitrary: anything.map((one) => [one]) },
      { weight: 1, arbitrary: fc.oneof(runs, throttling, leaving) },
    ),
    {
      minLength: 1,
      maxLength: 50,
      size: "max",
    },
  )
  .map((parts) => parts.flat());

/** Calls that read the complete state after other calls. */
export const readEverything: readonly RandomCall[] = [
  { call: "count" },
  ...(["waits", "ready", "dispatched", "leased", "parked", "paused", "failing"] as const).map(
    (each) => ({ call: "list", state: each, after: "", limit: 100 }) as const,
  ),
  ...keys.map((each) => ({ call: "inspect", key: each }) as const),
  { call: "dispatch" },
];
