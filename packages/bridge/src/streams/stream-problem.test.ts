import { builtin, type ReflectorStatus } from "@drover/kube";
import { expect, it } from "vitest";
import type { FollowedStream } from "./follow-stream.ts";
import { streamProblem } from "./stream-problem.ts";

const well: Partial<ReflectorStatus> = { synced: true, following: true, silentFor: 90_000 };
const failure = { kind: "refused", reason: "Forbidden", message: "it may not" } as const;

it.each<[string, Partial<ReflectorStatus>, string | undefined]>([
  ["is healthy", {}, undefined],
  ["is not listed", { synced: false }, "pods/v1 in namespace a is not listed yet"],
  [
    "cannot be listed",
    { synced: false, lastFailure: failure },
    "pods/v1 in namespace a is not listed yet: it may not",
  ],
  ["is not watched", { following: false }, "pods/v1 in namespace a is not watched yet"],
  ["is silent", { silentFor: 91_000 }, "pods/v1 in namespace a has been silent for 91 s"],
  ["is degraded, which only its controller reports", { synced: false, degraded: failure }, undefined],
])("a stream that %s", (_what, status, problem) => {
  const stream = {
    plan: { ref: builtin.pod, namespace: "a" },
    reflector: { status: () => ({ ...well, ...status }) },
  } as unknown as FollowedStream;
  expect(streamProblem(stream)).toBe(problem);
});
