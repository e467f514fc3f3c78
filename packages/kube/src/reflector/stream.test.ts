import { describe, expect, test } from "vitest";
import {
  addedInput,
  bookmarkInput,
  closed,
  deletedInput,
  errorFrame,
  failedInput,
  modifiedInput,
  bucketOf,
  opened,
  pageInput,
  paged,
  StreamRun,
  silent,
  watching,
} from "../testing/stream-run.ts";
import type { WatchFrame } from "../client/watch-frames.ts";
import type { StreamAction, StreamInput } from "./stream.ts";

describe("a new stream", () => {
  test("emits each page, and watches from the list's version", () => {
    const run = new StreamRun();
    expect(run.then(pageInput("7", [bucketOf("a", "3")], "next"))).toMatchObject({
      do: "list",
      listing: { continue: "next" },
    });
    expect(run.observed).toEqual(["listed"]);
    expect(run.state.synced).toBe(false);
    expect(run.then(pageInput("7", [bucketOf("b", "5")]))).toMatchObject({ do: "watch", from: "7" });
    expect(run.observed).toEqual(["listed", "complete"]);
    expect(run.state).toMatchObject({ synced: true, position: "7" });
  });

  test("requests watches of 5 to 10 minutes, at random", () => {
    const span = (random: number): StreamAction => {
      const run = new StreamRun();
      run.random = random;
      return run.then(pageInput("7"));
    };
    expect(span(0)).toHaveProperty("timeoutSeconds", 300);
    expect(span(0.999)).toHaveProperty("timeoutSeconds", 599);
  });
});

test("a stream that starts with a position resumes there, without a list", () => {
  expect(new StreamRun(paged({ position: "42" })).last.action).toMatchObject({ do: "watch", from: "42" });
});

describe("a watch without faults", () => {
  test("emits changes and advances its position", () => {
    const run = watching("100");
    expect(run.then(modifiedInput("a", "101"))).toEqual({ do: "read" });
    expect(run.observed).toEqual(["changed"]);
    run.then(deletedInput("a", "102"));
    expect(run.observed).toEqual(["gone"]);
    run.then(bookmarkInput("150"));
    expect(run.observed).toEqual(["position"]);
    expect(run.state.position).toBe("150");
  });

  test("notes what the server reports as created, and nothing else", () => {
    const run = watching("100");
    run.then(addedInput("a", "101"));
    expect(run.last.observations).toMatchObject([{ type: "changed", created: true }]);
    run.then(modifiedInput("a", "102"));
    expect(run.last.observations[0]).not.toHaveProperty("created");
  });

  test("never goes back: older changes were emitted before", () => {
    const run = watching("100");
    run.then(modifiedInput("a", "99"));
    expect(run.observed).toEqual([]);
    for (const version of ["99", "100"]) {
      run.then(bookmarkInput(version));
      expect(run.observed).toEqual([]);
    }
    expect(run.state.position).toBe("100");
  });

  test.each<[string, string, StreamInput, string, string]>([
    ["versions as numbers of any length", "9", modifiedInput("a", "10"), "changed", "10"],
    ["other versions, in the order of the frames", "x9", modifiedInput("a", "x10"), "changed", "x10"],
    ["a deletion with the object's last version", "100", deletedInput("a", "3"), "gone", "100"],
  ])("accepts %s", (_what, from, input, observed, position) => {
    const run = watching(from);
    run.then(input);
    expect(run.observed).toEqual([observed]);
    expect(run.state.position).toBe(position);
  });

  test("that the server ends in time is reopened at once, at its position", () => {
    const run = watching("100");
    run.then(modifiedInput("a", "101"));
    expect(run.after(300_000, closed)).toMatchObject({ do: "watch", from: "101" });
    expect(run.waits).toEqual([]);
    expect(run.state).toMatchObject({ reconnects: 1, relists: 0, failures: 0 });
  });

  test("is reopened at most once a second", () => {
    const run = watching("100");
    run.then(modifiedInput("a", "101"), closed);
    expect(run.waits).toEqual([1_000]);
    expect(run.last.action).toMatchObject({ do: "watch", from: "101" });
  });
});

describe("silence", () => {
  test("of a watch is not a failure, and resets the failures before it", () => {
    const run = watching("100");
    run.then(failedInput("passing"), failedInput("passing"), failedInput("passing"), opened);
    run.after(60_000, silent);
    run.then(failedInput("passing"));
    expect(run.waits.at(-1)).toBe(1_000);
  });

  test("shortens watches until an event is received, so that they end with a bookmark before the silence", () => {
    const run = watching("100");
    expect(run.after(60_000, silent)).toHaveProperty("timeoutSeconds", 40);
    run.then(opened, bookmarkInput("200"));
    expect(run.after(40_000, closed)).toMatchObject({ from: "200", timeoutSeconds: 40 });
    run.then(opened, modifiedInput("a", "201"));
    expect(run.after(40_000, closed)).toHaveProperty("timeoutSeconds", 300);
  });
});

describe("410", () => {
  test("directly after a list, repeatedly, backs off", () => {
    const run = watching("100");
    for (let round = 0; round < 6; round++) run.then(failedInput("expired"), pageInput("100"));
    expect(run.waits).toEqual([1_000, 1_000, 2_000, 4_000, 8_000, 15_000]);
  });
});

describe("a transient failure", () => {
  test("is retried without end, at most four seconds apart, at the same position", () => {
    const run = watching("100");
    for (let round = 0; round < 20; round++) {
      expect(run.then(failedInput("passing"))).toMatchObject({ do: "watch", from: "100" });
    }
    expect(Math.max(...run.waits)).toBeLessThanOrEqual(4_000);
    expect(Math.min(...run.waits)).toBeGreaterThanOrEqual(1_000);
    expect(run.state).toMatchObject({ relists: 0, degraded: undefined });
  });

  test("in a list resumes with the same page", () => {
    const run = new StreamRun();
    run.then(pageInput("7", [], "t"));
    expect(run.then(failedInput("passing"))).toMatchObject({
      do: "list",
      listing: { pages: 1, continue: "t" },
    });
  });

  test("has retries with jitter", () => {
    const waits = [0, 0.5, 1].map((random) => {
      const run = watching();
      run.random = random;
      run.then(failedInput("passing"), failedInput("passing"), failedInput("passing"));
      return run.waits[2];
    });
    expect(waits).toEqual([2_000, 3_000, 4_000]);
  });

  test("does not increase the delay after a doubtful failure, or after the first 410", () => {
    const run = watching("100");
    run.then(failedInput("passing"), failedInput("passing"), failedInput("passing"), failedInput("doubtful"));
    expect(run.waits.at(-1)).toBe(1_000);
    const other = watching("100");
    other.then(failedInput("passing"), failedInput("passing"));
    expect(other.after(5_000, failedInput("expired"))).toMatchObject({ do: "list" });
    expect(other.waits).toHaveLength(2);
  });

  test("is forgiven by progress", () => {
    const run = watching();
    run.then(failedInput("passing"), failedInput("passing"), opened, modifiedInput("a", "101"));
    expect(run.state.failures).toBe(0);
  });
});

describe("a doubtful failure", () => {
  test("of a watch that closes at once backs off, then lists", () => {
    const run = watching("100");
    for (let round = 0; round < 4; round++) {
      expect(run.then(closed)).toMatchObject({ do: "watch", from: "100" });
      run.then(opened);
    }
    expect(run.then(closed)).toMatchObject({ do: "list" });
    expect(run.waits).toEqual([1_000, 1_000, 2_000, 4_000, 8_000]);
    expect(run.then(pageInput("100"), opened, closed)).toMatchObject({ do: "watch", from: "100" });
    expect(run.waits.at(-1)).toBe(15_000);
  });

  test("is reset by progress: the next one counts as the first", () => {
    const run = watching("100");
    for (let round = 0; round < 4; round++) run.then(closed, opened);
    run.then(modifiedInput("a", "101"));
    expect(run.then(failedInput("doubtful"))).toMatchObject({ do: "watch", from: "101" });
    expect(run.waits.at(-1)).toBe(1_000);
  });

  test("of a watch that repeats old frames and closes leads to a list", () => {
    const run = watching("100");
    for (let round = 0; round < 5; round++) run.then(modifiedInput("a", "99"), closed, opened);
    expect(run.state.relists).toBe(1);
  });

  test("is any ERROR frame except a 410", () => {
    const run = watching("100");
    for (let round = 0; round < 5; round++) run.then(errorFrame("ServerError", 500), opened);
    expect(run.state.relists).toBe(1);
  });
});

describe("a refusal that needs an operator", () => {
  test("is retried slowly, and reported until it ends", () => {
    const run = watching("100");
    run.random = 1;
    for (let round = 0; round < 8; round++) run.then(failedInput("refused"));
    expect(run.waits.at(-1)).toBe(30_000);
    expect(run.state.degraded).toMatchObject({ reason: "Because" });
    run.then(failedInput("passing"));
    expect(run.state.degraded).toMatchObject({ reason: "Because" });
    run.then(opened);
    expect(run.state.degraded).toBeUndefined();
  });
});

describe("a list that cannot be used", () => {
  test.each([1, 2, 3, 7, 100])("repeats a cycle of %i pages", (circle) => {
    const run = new StreamRun();
    let pages = 0;
    while (run.state.lastFailure === undefined) run.then(pageInput("7", [], `t${pages++ % circle}`));
    expect(run.state.lastFailure).toMatchObject({ reason: "BrokenListing" });
    expect(pages).toBeLessThan(4 * circle + 4);
  });

  test("never ends", () => {
    const run = new StreamRun();
    let pages = 0;
    while (run.state.lastFailure === undefined) run.then(pageInput("7", [], `t${pages++}`));
    expect(pages).toBe(10_000);
  });

  test("changes its version between pages", () => {
    const run = new StreamRun();
    run.then(pageInput("7", [], "t"), pageInput("8"));
    expect(run.state).toMatchObject({ synced: false, lastFailure: { reason: "BrokenListing" } });
  });
});

describe("a comparison", () => {
  const comparing = (): StreamRun => {
    const run = new StreamRun(paged({ position: "100", compareEvery: 60_000 }));
    run.then(opened);
    return run;
  };
  const exactly = (version: string) => ({ do: "list", listing: { pages: 0, exact: version } });

  test("is made at the end of a watch, when it is due, with the state at exactly the position", () => {
    const run = comparing();
    expect(run.after(40_000, modifiedInput("a", "105"), closed)).toMatchObject({ do: "watch", from: "105" });
    run.then(opened);
    expect(run.after(20_000, modifiedInput("a", "106"), closed)).toMatchObject(exactly("106"));
    expect(run.then(pageInput("106", [bucketOf("a", "106")]))).toMatchObject({ do: "watch", from: "106" });
    expect(run.state).toMatchObject({ relists: 0, comparisons: 1, position: "106" });
    run.then(opened);
    expect(run.after(40_000, closed)).toMatchObject({ do: "watch" });
  });

  test("is made even if the watch was silent and slightly too short", () => {
    const run = new StreamRun(paged({ position: "100", compareEvery: 5_000 }));
    run.then(opened);
    expect(run.after(4_990, closed)).toMatchObject(exactly("100"));
    expect(run.state.failures).toBe(0);
  });

  test("has pages of one version, and ends with an exact list", () => {
    const run = comparing();
    run.after(60_000, closed);
    expect(run.then(pageInput("100", [bucketOf("a", "5")], "t"))).toMatchObject({
      do: "list",
      listing: { pages: 1, continue: "t", exact: "100" },
    });
    run.take(pageInput("100"));
    expect(run.last.observations.at(-1)).toEqual({ type: "complete", resourceVersion: "100", exact: true });
  });

  test.each([
    [5_000, 5],
    [500, 1],
  ])("every %i ms limits watches to %i s, at least to one", (compareEvery, timeoutSeconds) => {
    const { action } = new StreamRun(paged({ position: "1", compareEvery })).last;
    expect(action).toHaveProperty("timeoutSeconds", timeoutSeconds);
  });

  test("of an expired version becomes a list", () => {
    const run = comparing();
    run.after(60_000, closed);
    expect(run.then(failedInput("expired"))).toMatchObject({ do: "list", listing: { exact: undefined } });
    run.take(pageInput("300"));
    expect(run.last.observations.at(-1)).toMatchObject({ type: "complete", exact: false });
    expect(run.state).toMatchObject({ relists: 1, comparisons: 1 });
  });

  test("is skipped if the server does not list old versions", () => {
    const run = comparing();
    run.after(60_000, closed);
    expect(run.then(failedInput("refused"))).toMatchObject({ do: "watch", from: "100" });
    run.then(opened);
    expect(run.state.degraded).toBeUndefined();
    expect(run.after(40_000, closed)).toMatchObject({ do: "watch" });
  });

  test("is resumed after a transient failure", () => {
    const run = comparing();
    run.after(60_000, closed);
    expect(run.then(failedInput("passing"))).toMatchObject(exactly("100"));
  });
});

test("a resumed stream is following once its watch has sent a frame, or it has listed", () => {
  const run = new StreamRun(paged({ position: "100" }));
  run.then(opened);
  expect(run.state).toMatchObject({ synced: true, following: false });
  run.then(bookmarkInput("101"));
  expect(run.state.following).toBe(true);
  run.then(errorFrame("Expired", 410));
  expect(run.state.following).toBe(false);
  run.then(pageInput("200"));
  expect(run.state.following).toBe(true);
});

test("a stream with a new subscriber lists, no older state than its position", () => {
  const run = new StreamRun(paged({ position: "100", emittedToAll: false }));
  expect(run.last.action).toMatchObject({ do: "list", listing: { exact: undefined } });
  expect(run.state.synced).toBe(false);
  run.take(pageInput("90", [bucketOf("a", "3")]));
  expect(run.observed).toEqual([]);
  run.then();
  expect(run.state.lastFailure).toMatchObject({ reason: "StaleListing" });
});

test("frames of one read are emitted together, up to the one that ends the watch", () => {
  const run = watching("100");
  const error = errorFrame("Expired", 410);
  if (error.type !== "frames") throw new Error("no frames");
  const change = (name: string, version: string): WatchFrame => ({
    type: "MODIFIED",
    object: bucketOf(name, version),
  });
  run.take({
    type: "frames",
    frames: [change("a", "101"), change("b", "102"), ...error.frames, change("c", "103")],
  });
  expect(run.last.observations).toMatchObject([
    { object: { metadata: { name: "a" } } },
    { object: { metadata: { name: "b" } } },
  ]);
  expect(run.last.state.position).toBe("102");
  expect(run.last.action).not.toEqual({ do: "read" });
});

describe("a list older than the position", () => {
  test("is not emitted, but requested again", () => {
    const run = watching("100");
    run.then(failedInput("expired"));
    run.take(pageInput("90", [bucketOf("a", "3")]));
    expect(run.observed).toEqual([]);
    expect(run.state).toMatchObject({ position: "100", lastFailure: { reason: "StaleListing" } });
  });

  test("is accepted the third time: etcd was restored", () => {
    const run = watching("100");
    run.then(failedInput("expired"), pageInput("90"), pageInput("91"));
    run.take(pageInput("90", [bucketOf("a", "3")], "t"));
    expect(run.last.observations).toMatchObject([{ type: "listed", believed: true }]);
    run.take(pageInput("90", [bucketOf("b", "4")]));
    expect(run.last.observations).toMatchObject([{ type: "listed", believed: true }, { type: "complete" }]);
    expect(run.last.action).toMatchObject({ do: "watch", from: "90" });
    expect(run.state.stale).toBe(0);
  });
});
