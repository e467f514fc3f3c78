import {
  type FunctionIdentity,
  functionQueueOf,
  hookPathOf,
  isUnregisteredQueue,
  namesQueueOf,
  type QueueName,
  queueOf,
} from "@drover/controller";
import fc from "fast-check";
import { expect, it } from "vitest";
import { redisOfFile } from "../redis/redis.fixture.ts";
import { queuePrefix } from "./queue-prefix.ts";
import { redisUserRules } from "../redis/users/redis-users.ts";

/** What names are made of that would like to be another's: separators, patterns, hash tags, escapes, and what we write. */
const pieces = [
  ...["", "-", "a", "web", "u1", ".", "..", "/", "//", ":", "{", "}", "{}", "*", "?", "[a]", "[^", "\\", " "],
  ...[
    "_",
    "_002d",
    "_002f",
    "names",
    "/names/",
    ".names.",
    "secrets",
    "%2F",
    "\n",
    "\0",
    "A",
    "é",
    "\ud800",
    "drover:",
  ],
];
const hostile = fc
  .array(fc.constantFrom(...pieces), { minLength: 0, maxLength: 3 })
  .map((some) => some.join(""));
const anyText = fc.oneof(
  hostile,
  fc.array(fc.nat(0xffff), { maxLength: 4 }).map((units) => String.fromCharCode(...units)),
);
const identity: fc.Arbitrary<FunctionIdentity> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ namespace: anyText, name: anyText, uid: anyText }) },
  { weight: 1, arbitrary: fc.record({ name: anyText }) },
);
const kind = fc.record({ plural: anyText, group: anyText });
const runs = { numRuns: 300, seed: Number(process.env["IDENTITY_SEED"] ?? 1) };

/** What two different subjects have in common; undefined when there is nothing. */
function shared<T>(subjects: readonly T[], nameOf: (subject: T) => string): unknown {
  const known = new Map<string, string>();
  for (const subject of subjects) {
    const [name, text] = [nameOf(subject), JSON.stringify(subject)];
    const other = known.get(name);
    if (other !== undefined && other !== text) return { name, of: [other, text] };
    known.set(name, text);
  }
  return undefined;
}

it("no two identities have one queue, also where one's queue asks code", () => {
  const queue = fc.record({ identity, kind: fc.option(kind, { nil: undefined }) });
  const nameOf = ({
    identity: of,
    kind: watched,
  }: {
    identity: FunctionIdentity;
    kind?: { plural: string; group: string } | undefined;
  }) => (watched === undefined ? queueOf(of) : namesQueueOf(queueOf(of), watched));
  const property = fc.property(fc.array(queue, { minLength: 200, maxLength: 400 }), (all) => {
    expect(shared(all, nameOf)).toBeUndefined();
    for (const one of all) {
      const name = nameOf(one);
      expect(name).toMatch(/^[a-z0-9._/-]+$/);
      expect(functionQueueOf(name)).toBe(queueOf(one.identity));
      expect(isUnregisteredQueue(name)).toBe(one.identity.namespace === undefined);
    }
  });
  fc.assert(property, { ...runs, numRuns: 100 });
});

it("no two kinds that one function's code is asked about have one queue", () => {
  const own = queueOf({ namespace: "web", name: "sites", uid: "u" });
  const few = fc
    .array(fc.constantFrom("a", "b", ".", "-", "/"), { maxLength: 4 })
    .map((some) => some.join(""));
  const kinds = fc.oneof(kind, fc.record({ plural: few, group: few }));
  const property = fc.property(fc.array(kinds, { minLength: 400, maxLength: 600 }), (all) => {
    expect(shared(all, (one) => namesQueueOf(own, one))).toBeUndefined();
  });
  fc.assert(property, { ...runs, numRuns: 50 });
});

it("no two functions have one address of a hook, also when a URL is made of it", () => {
  const hook = fc.record({ identity: fc.record({ namespace: anyText, name: anyText }), hook: anyText });
  const urlOf = (of: { identity: FunctionIdentity; hook: string }) =>
    new URL(`/hooks/${hookPathOf(of.identity, of.hook)}`, "http://bridge").href;
  const property = fc.property(fc.array(hook, { minLength: 200, maxLength: 400 }), (all) => {
    expect(shared(all, urlOf)).toBeUndefined();
    for (const one of all) expect(urlOf(one)).toMatch(/^http:\/\/bridge\/hooks\/[^/]+\/[^/]+\/[^/]+$/);
  });
  fc.assert(property, { ...runs, numRuns: 50 });
});

const { redis: admin } = await redisOfFile();

/** What a queue has in Redis. */
const keysOf = (queue: QueueName): readonly string[] => [
  ...[":control", ":key:a/b", ":jobs:wait", ":named"].map((end) => queuePrefix(queue) + end),
];
const channelOf = (queue: QueueName): string => `${queuePrefix(queue)}:worker:1`;

/** What Redis says a user may not do, of all that may be done with the keys and channels of some queues. */
async function refusedTo(user: string, queues: readonly QueueName[]): Promise<readonly string[]> {
  const asked = queues.flatMap((queue) => [
    ...keysOf(queue).map((key) => [key, "HSET", key, "f", "v"] as const),
    [channelOf(queue), "SUBSCRIBE", channelOf(queue)] as const,
  ]);
  const pipeline = admin.pipeline();
  for (const [, ...command] of asked) pipeline.call("ACL", "DRYRUN", user, ...command);
  const answers = (await pipeline.exec()) ?? [];
  return asked.flatMap(([name], i) => (answers[i]?.[1] === "OK" ? [] : [name]));
}

it(
  "a Redis user of one function reaches all keys of its queues and no key of another's",
  { timeout: 60_000 },
  async () => {
    const watched = { plural: "secrets", group: "" };
    // As they were taken for one another when a queue was its controller's name.
    const alike: readonly FunctionIdentity[] = [
      ...["u1", "u2"].map((uid) => ({ namespace: "web", name: "sites.example.com", uid })),
      { namespace: "tenant", name: "sites.example.com", uid: "u3" },
      { namespace: "tenant", name: "sites.example.com.names.secrets", uid: "u4" },
      { namespace: "web", name: "sites", uid: "u5" },
      { name: "sites.example.com" },
      { name: "web/sites.example.com/u1" },
      { namespace: "web", name: "sites.example.com", uid: "u1/names/secrets" },
      { namespace: "web", name: "*", uid: "*" },
    ];
    const property = fc.asyncProperty(
      fc.array(identity, { minLength: 20, maxLength: 30 }),
      async (random) => {
        const queues = [...new Set([...alike, ...random].map(queueOf))];
        const both = (queue: QueueName) => [queue, namesQueueOf(queue, watched)];
        for (const own of queues) {
          const rules = redisUserRules({ role: "function", controllers: both(own) });
          await admin.call("ACL", "SETUSER", `function:${own}`, ...rules.split(" "));
        }
        for (const own of queues) {
          const others = queues.filter((queue) => queue !== own).flatMap(both);
          expect(await refusedTo(`function:${own}`, both(own)), own).toEqual([]);
          const all = others.flatMap((queue) => [...keysOf(queue), channelOf(queue)]);
          expect(await refusedTo(`function:${own}`, others), own).toEqual(all);
        }
        const users = (await admin.acl("USERS")).filter((user) => user.startsWith("function:"));
        expect(users.sort()).toEqual(queues.map((queue) => `function:${queue}`).sort());
        await admin.acl("DELUSER", ...users);
      },
    );
    await fc.assert(property, { ...runs, numRuns: 5 });
  },
);

it("a Redis user for a name, whatever the uid, reaches the queues of that name in that namespace alone", async () => {
  const rules = redisUserRules({ role: "function", controllers: ["web/sites/*"] });
  await admin.call("ACL", "SETUSER", "by-hand", ...rules.split(" "));
  const [one, two] = ["u1", "u2"].map((uid) => queueOf({ namespace: "web", name: "sites", uid }));
  const own = [one, two, one && namesQueueOf(one, { plural: "secrets", group: "" })].filter(
    (q) => q !== undefined,
  );
  expect(await refusedTo("by-hand", own)).toEqual([]);
  const others = [
    { namespace: "web", name: "sites.example.com", uid: "u1" },
    { namespace: "web", name: "site", uid: "u1" },
    { namespace: "web-2", name: "sites", uid: "u1" },
    { namespace: "x", name: "web", uid: "sites" },
    { name: "sites" },
    { name: "web/sites/u1" },
  ].map(queueOf);
  expect(await refusedTo("by-hand", others)).toEqual(
    others.flatMap((queue) => [...keysOf(queue), channelOf(queue)]),
  );
});
