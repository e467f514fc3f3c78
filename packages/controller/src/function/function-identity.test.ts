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

it("a queue says whose it is", () => {
  const said = (queue: string) => [
    functionQueueOf(queue),
    namespaceOfQueue(queue),
    isUnregisteredQueue(queue),
  ];
  expect(said(own)).toEqual([own, "web", false]);
  expect(said(names)).toEqual([own, "web", false]);
  expect(said(self)).toEqual([self, undefined, true]);
  expect(said(selfNames)).toEqual([self, undefined, true]);
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

it("no two kinds have one queue of names, whatever their plurals and groups are", () => {
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

it("a queue is shown without what people do not know a function by", () => {
  expect([own, names, self, selfNames, "other"].map(queueDisplayName)).toEqual([
    ...["web/sites.example.com", "web/sites.example.com/names/secrets"],
    ...["sites", "sites/names/cups.example.com", "other"],
  ]);
});
