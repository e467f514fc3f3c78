import { expect, it } from "vitest";
import { podNews, type PodView } from "./pod-story.ts";

const made: PodView = { process: undefined, leaving: false };
const running: PodView = { process: 7, leaving: false };

it("tells each step of a Pod's life once, in order", () => {
  const life = [
    undefined,
    made,
    running,
    made,
    { process: 8, leaving: false },
    { process: 8, leaving: true },
    undefined,
  ];
  const told = life.slice(1).map((after, i) => podNews("p", life[i], after));
  expect(told).toEqual([
    "the bucket function gets a Pod: p",
    "the bucket function runs: process 7",
    "the process of Pod p ended; it is started again",
    "the bucket function runs: process 8",
    "Pod p is not needed any more: it ends its runs",
    "Pod p is gone",
  ]);
});

it("has nothing to tell of a change that changes nothing, nor of a process that ends with its Pod", () => {
  expect(podNews("p", running, { ...running })).toBeUndefined();
  const leaving = { ...running, leaving: true };
  expect(podNews("p", leaving, { process: undefined, leaving: true })).toBeUndefined();
});
