import { expect, it } from "vitest";
import { type RolloutPod, planPodChanges } from "./plan-pod-changes.ts";

let born = 0;
const pod = (name: string, more: Partial<RolloutPod> = {}): RolloutPod => ({
  name,
  uid: name,
  revision: 2,
  ready: true,
  deleting: false,
  ended: false,
  createdAt: new Date(1_000 * born++).toISOString(),
  ...more,
});
const changes = (pods: readonly RolloutPod[], wanted: number) => {
  const { create, remove } = planPodChanges(pods, { revision: 2, wanted });
  return { create, remove: remove.map(({ name }) => name) };
};

it("makes what is missing, and what goes does not count", () => {
  expect(changes([pod("a"), pod("b", { deleting: true })], 3)).toEqual({ create: 2, remove: [] });
});

it("takes away those that are not Ready first, then the youngest", () => {
  const pods = [pod("old"), pod("mid"), pod("starting", { ready: false }), pod("young")];
  expect(changes(pods, 1)).toEqual({ create: 0, remove: ["starting", "young", "mid"] });
});

it("keeps older revisions until as many of the new one are Ready", () => {
  const older = [pod("x", { revision: 1 }), pod("y", { revision: 1 })];
  expect(changes(older, 2)).toEqual({ create: 2, remove: [] });
  const starting = pod("a", { ready: false });
  expect(changes([...older, starting, pod("b", { ready: false })], 2).remove).toEqual([]);
  expect(changes([...older, starting, pod("c")], 2).remove).toEqual(["y"]);
  expect(changes([...older, pod("d"), pod("e")], 2).remove).toEqual(["y", "x"]);
});

it("keeps no older revision where none is wanted", () => {
  expect(changes([pod("x", { revision: 1 })], 0)).toEqual({ create: 0, remove: ["x"] });
});

it("replaces what has ended, which some nodes leave behind", () => {
  expect(changes([pod("a", { ended: true })], 1)).toEqual({ create: 1, remove: ["a"] });
});

it("of older revisions the oldest goes first", () => {
  const older = [pod("y", { revision: 0 }), pod("x", { revision: 1 })];
  expect(changes([...older, pod("a"), pod("b", { ready: false })], 2).remove).toEqual(["y"]);
});
