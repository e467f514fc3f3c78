import { expect, it } from "vitest";
import { ownerOf, profileShares } from "./profile-shares.ts";

const frame = (functionName: string, url: string) => ({ functionName, url, lineNumber: 0 });

it.each([
  ["file:///x/node_modules/bullmq/dist/esm/worker.js", "bullmq"],
  ["file:///x/node_modules/@ioredis/commands/built/index.js", "@ioredis/commands"],
  ["file:///x/node_modules/bullmq/node_modules/semver/index.js", "semver"],
  ["file:///x/packages/queue/src/worker.ts", "@drover/queue"],
  ["file:///x/bench/queue/processes/bench-process.ts", "this bench"],
  ["node:net", "node: sockets and streams"],
  ["node:internal/abort_controller", "node: abort signals"],
  ["", "native code (system calls, V8)"],
])("gives %s to its owner", (url, owner) => {
  expect(ownerOf(frame("f", url))).toBe(owner);
});

it("shares the time out by each owner's own code, and leaves idling and the profiler out", () => {
  const nodes = [
    { id: 1, callFrame: frame("run", "file:///x/packages/queue/src/worker.ts") },
    { id: 2, callFrame: frame("settle", "file:///x/packages/queue/src/ledger.ts") },
    { id: 3, callFrame: frame("(idle)", "") },
    { id: 4, callFrame: frame("post", "node:inspector") },
    { id: 5, callFrame: frame("add", "file:///x/node_modules/bullmq/dist/esm/queue.js") },
  ];
  const { owners } = profileShares(
    { nodes, samples: [4, 1, 3, 2, 5], timeDeltas: [9_000, 10, 5, 20, 30] },
    120,
  );
  expect(owners).toEqual([
    { name: "@drover/queue", time: 60 },
    { name: "bullmq", time: 60 },
  ]);
});
