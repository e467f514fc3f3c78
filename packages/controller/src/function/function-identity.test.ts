import { expect, it } from "vitest";
import {
  functionQueueOf,
  isUnregisteredQueue,
  namespaceOfQueue,
  namesQueueOf,
  queueOf,
  queueDisplayName,
} from "./function-identity.ts";

const own = queueOf({ namespace: "web", name: "sites.example.com", uid: "u-1" });
const self = queueOf({ name: "sites" });
const names = namesQueueOf(own, { plural: "secrets", group: "" });
const selfNames = namesQueueOf(self, { plural: "cups", group: "example.com" });

it("a queue name has its function, its namespace, and if it is unregistered", () => {
  const partsOf = (queue: string) => [
    functionQueueOf(queue),
    namespaceOfQueue(queue),
    isUnregisteredQueue(queue),
  ];
  expect(partsOf(own)).toEqual([own, "web", false]);
  expect(partsOf(names)).toEqual([own, "web", false]);
  expect(partsOf(self)).toEqual([self, undefined, true]);
  expect(partsOf(selfNames)).toEqual([self, undefined, true]);
  for (const text of [
    "",
    "web",
    "web/sites",
    "web/sites/u/names",
    "web/sites/u/other/secrets",
    "a/b/c/names/d/e",
  ])
    expect([functionQueueOf(text), namespaceOfQueue(text)]).toEqual([undefined, undefined]);
});

it("different kinds have different names queues, for any plurals and groups", () => {
  const kinds = [
    ["cups", "example.com"],
    ["cups.example", "com"],
    ["cups.example.com", ""],
    ["cups", ""],
  ] as const;
  const queues = kinds.map(([plural, group]) => namesQueueOf(own, { plural, group }));
  expect(new Set(queues).size).toBe(kinds.length);
  expect(queues[0]).toBe(`${own}/names/cups.example.com`);
});

it("a queue is displayed without the uid", () => {
  expect([own, names, self, selfNames, "other"].map(queueDisplayName)).toEqual([
    ...["web/sites.example.com", "web/sites.example.com/names/secrets"],
    ...["sites", "sites/names/cups.example.com", "other"],
  ]);
});
