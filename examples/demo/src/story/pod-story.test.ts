import { expect, it } from "vitest";
import { describePodChange, type PodView } from "./pod-story.ts";

const made: PodView = { process: undefined, terminating: false };
const running: PodView = { process: 7, terminating: false };

it("reports each step of a Pod once, in order", () => {
  const life = [
    undefined,
    made,
    running,
    made,
    { process: 8, terminating: false },
    { process: 8, terminating: true },
    undefined,
  ];
  const lines = life.slice(1).map((after, i) => describePodChange("p", life[i], after));
  expect(lines).toEqual([
    "the bucket function gets a Pod: p",
    "the bucket function runs: process 7",
    "the process of Pod p ended; it is started again",
    "the bucket function runs: process 8",
    "Pod p is not needed any more: it ends its runs",
    "Pod p is gone",
  ]);
});

it("reports nothing for equal states, or for a process that ends with its Pod", () => {
  expect(describePodChange("p", running, { ...running })).toBeUndefined();
  const leaving = { ...running, terminating: true };
  expect(describePodChange("p", leaving, { process: undefined, terminating: true })).toBeUndefined();
});
