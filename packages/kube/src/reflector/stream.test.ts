import { describe, expect, test } from "vitest";
import {
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

describe("a stream that knows nothing", () => {
  test("lists from the first page", () => {
    expect(new StreamRun().last.action).toMatchObject({
      do: "list",
      listing: { pages: 0, continue: undefined },
    });
  });

  test("emits page after page, and watches from the list's version", () => {
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

  test("asks for watches of 5 to 10 minutes, at random", () => {
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

describe("a watch that goes well", () => {
  test("emits changes and moves on", () => {
    const run = watching("100");
    expect(run.then(modifiedInput("a", "101"))).toEqual({ do: "read" });
    expect(run.observed).toEqual(["changed"]);
    run.then(deletedInput("a", "102"));
    expect(run.observed).toEqual(["gone"]);
    run.then(bookmarkInput("150"));
    expect(run.observed).toEqual(["position"]);
    expect(run.state.position).toBe("150");
  });

  test("never goes back: older changes were emitted before", () => {
    const run = watching("100");
    run.then(modifiedInput("a", "99"));
    expect(run.observed).toEqual([]);
    run.then(bookmarkInput("99"));
    expect(run.observed).toEqual([]);
    expect(run.state.position).toBe("100");
  });

  test("compares versions as numbers of any length", () => {
    const run = watching("9");
    run.then(modifiedInput("a", "10"));
    expect(run.observed).toEqual(["changed"]);
  });

  test("takes versions that are no numbers as they come", () => {
    const run = watching("x9");
    run.then(modifiedInput("a", "x10"));
    expect(run.observed).toEqual(["changed"]);
    expect(run.state.position).toBe("x10");
  });

  test("takes a deletion with an older version: some servers send the object's last", () => {
    const run = watching("100");
    run.then(deletedInput("a", "3"));
    expect(run.observed).toEqual(["gone"]);
    expect(run.state.position).toBe("100");
  });

  test("that the server ends in time is opened again at once, where it was", () => {
    const run = watching("100");
    run.then(modifiedInput("a", "101"));
    expect(run.after(300_000, closed)).toMatchObject({ do: "watch", from: "101" });
    expect(run.waits).toEqual([]);
    expect(run.state).toMatchObject({ reconnects: 1, relists: 0, failures: 0 });
  });

  test("but never twice in a second", () => {
    const run = watching("100");
    run.then(modifiedInput("a", "101"), closed);
    expect(run.waits).toEqual([1_000]);
    expect(run.last.action).toMatchObject({ do: "watch", from: "101" });
  });
});

describe("silence", () => {
  test("ends a watch, and the next one resumes where it was", () => {
    const run = watching("100");
    expect(run.after(60_000, silent)).toMatchObject({ do: "watch", from: "100" });
    expect(run.state).toMatchObject({ reconnects: 1, failures: 0 });
  });

  test("of a watch is no failure, and forgives those before it", () => {
    const run = watching("100");
    run.then(failedInput("passing"), failedInput("passing"), failedInput("passing"), opened);
    run.after(60_000, silent);
    run.then(failedInput("passing"));
    expect(run.waits.at(-1)).toBe(1_000);
  });

  test("makes watches short until an event comes, so that their end brings a bookmark before the silence", () => {
    const run = watching("100");
    expect(run.after(60_000, silent)).toHaveProperty("timeoutSeconds", 40);
    run.then(opened, bookmarkInput("200"));
    expect(run.after(40_000, closed)).toMatchObject({ from: "200", timeoutSeconds: 40 });
    run.then(opened, modifiedInput("a", "201"));
    expect(run.after(40_000, closed)).toHaveProperty("timeoutSeconds", 300);
  });
});

describe("410", () => {
  test.each<[string, StreamInput]>([
    ["on the watch request", failedInput("expired")],
    ["as an ERROR frame", errorFrame("Expired", 410)],
  ])("%s makes one listing", (_name, input) => {
    const run = watching("100");
    expect(run.after(5_000, input)).toMatchObject({ do: "list", listing: { pages: 0 } });
    expect(run.waits).toEqual([]);
    expect(run.then(pageInput("900"))).toMatchObject({ do: "watch", from: "900" });
    expect(run.state.relists).toBe(1);
  });

  test("on a continue token begins the list again", () => {
    const run = new StreamRun();
    run.then(pageInput("7", [], "t"));
    expect(run.then(failedInput("expired"))).toMatchObject({
      do: "list",
      listing: { pages: 0, continue: undefined },
    });
    expect(run.state.relists).toBe(1);
  });

  test("straight after a list, again and again, waits longer each time", () => {
    const run = watching("100");
    for (let round = 0; round < 6; round++) run.then(failedInput("expired"), pageInput("100"));
    expect(run.waits).toEqual([1_000, 1_000, 2_000, 4_000, 8_000, 15_000]);
  });
});

describe("what passes by itself", () => {
  test("is tried again for ever, at most four seconds apart, at the same position", () => {
    const run = watching("100");
    for (let round = 0; round < 20; round++) {
      expect(run.then(failedInput("passing"))).toMatchObject({ do: "watch", from: "100" });
    }
    expect(Math.max(...run.waits)).toBeLessThanOrEqual(4_000);
    expect(Math.min(...run.waits)).toBeGreaterThanOrEqual(1_000);
    expect(run.state).toMatchObject({ relists: 0, degraded: undefined });
  });

  test("in a list goes on with the same page", () => {
    const run = new StreamRun();
    run.then(pageInput("7", [], "t"));
    expect(run.then(failedInput("passing"))).toMatchObject({
      do: "list",
      listing: { pages: 1, continue: "t" },
    });
  });

  test("never within a Retry-After", () => {
    const run = watching();
    run.then(failedInput("passing", 17_000));
    expect(run.waits[0]).toBeGreaterThanOrEqual(17_000);
  });

  test("spreads streams that failed together", () => {
    const waits = [0, 0.5, 1].map((random) => {
      const run = watching();
      run.random = random;
      run.then(failedInput("passing"), failedInput("passing"), failedInput("passing"));
      return run.waits[2];
    });
    expect(waits).toEqual([2_000, 3_000, 4_000]);
  });

  test("does not make the next doubt wait longer, nor the first 410", () => {
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

describe("what a retry seldom mends", () => {
  test("a watch that closes at once waits longer each time, then lists", () => {
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

  test("is forgiven by progress: the next one waits as the first, and is counted as such", () => {
    const run = watching("100");
    for (let round = 0; round < 4; round++) run.then(closed, opened);
    run.then(modifiedInput("a", "101"));
    expect(run.then(failedInput("doubtful"))).toMatchObject({ do: "watch", from: "101" });
    expect(run.waits.at(-1)).toBe(1_000);
  });

  test("so does one that repeats old frames and closes", () => {
    const run = watching("100");
    for (let round = 0; round < 5; round++) run.then(modifiedInput("a", "99"), closed, opened);
    expect(run.state.relists).toBe(1);
  });

  test("garbage resumes at the last good version", () => {
    const run = watching("100");
    run.then(modifiedInput("a", "105"));
    expect(run.then(failedInput("doubtful"))).toMatchObject({ do: "watch", from: "105" });
    expect(run.state.relists).toBe(0);
  });

  test("an ERROR frame that is no 410 counts as such, whatever its code", () => {
    const run = watching("100");
    for (let round = 0; round < 5; round++) run.then(errorFrame("ServerError", 500), opened);
    expect(run.state.relists).toBe(1);
  });
});

describe("what somebody must mend", () => {
  test("is retried slowly, and reported until it is over", () => {
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

  test("may stand in the way of the list too", () => {
    const run = new StreamRun();
    run.then(failedInput("refused"));
    expect(run.state.degraded).toBeDefined();
    run.then(pageInput("1"));
    expect(run.state.degraded).toBeUndefined();
  });
});

describe("a list that cannot be used", () => {
  test("hands out the token that it was asked with", () => {
    const run = new StreamRun();
    run.then(pageInput("7", [], "t"));
    expect(run.then(pageInput("7", [], "t"))).toMatchObject({ do: "list", listing: { pages: 0 } });
    expect(run.state.lastFailure).toMatchObject({ reason: "BrokenListing" });
  });

  test.each([2, 3, 7, 100])("goes in circles of %i pages", (circle) => {
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

  test("is made at the end of a watch, once it is time, with the state at just the position", () => {
    const run = comparing();
    expect(run.after(40_000, modifiedInput("a", "105"), closed)).toMatchObject({ do: "watch", from: "105" });
    run.then(opened);
    expect(run.after(20_000, modifiedInput("a", "106"), closed)).toMatchObject(exactly("106"));
    expect(run.then(pageInput("106", [bucketOf("a", "106")]))).toMatchObject({ do: "watch", from: "106" });
    expect(run.state).toMatchObject({ relists: 0, comparisons: 1, position: "106" });
    run.then(opened);
    expect(run.after(40_000, closed)).toMatchObject({ do: "watch" });
  });

  test("is made though the watch sent nothing and seems a moment shorter than it was to be", () => {
    const run = new StreamRun(paged({ position: "100", compareEvery: 5_000 }));
    run.then(opened);
    expect(run.after(4_990, closed)).toMatchObject(exactly("100"));
    expect(run.state.failures).toBe(0);
  });

  test("comes in pages of the same version, and its end says that it was exact", () => {
    const run = comparing();
    run.after(60_000, closed);
    expect(run.then(pageInput("100", [bucketOf("a", "5")], "t"))).toMatchObject({
      do: "list",
      listing: { pages: 1, continue: "t", exact: "100" },
    });
    run.take(pageInput("100"));
    expect(run.last.observations.at(-1)).toEqual({ type: "complete", resourceVersion: "100", exact: true });
  });

  test("makes watches no longer than the time between two", () => {
    expect(new StreamRun(paged({ position: "1", compareEvery: 5_000 })).last.action).toHaveProperty(
      "timeoutSeconds",
      5,
    );
  });

  test("of a version that the server has forgotten becomes a list", () => {
    const run = comparing();
    run.after(60_000, closed);
    expect(run.then(failedInput("expired"))).toMatchObject({ do: "list", listing: { exact: undefined } });
    run.take(pageInput("300"));
    expect(run.last.observations.at(-1)).toMatchObject({ type: "complete", exact: false });
    expect(run.state).toMatchObject({ relists: 1, comparisons: 1 });
  });

  test("is left out where the server does not list the past", () => {
    const run = comparing();
    run.after(60_000, closed);
    expect(run.then(failedInput("refused"))).toMatchObject({ do: "watch", from: "100" });
    run.then(opened);
    expect(run.state.degraded).toBeUndefined();
    expect(run.after(40_000, closed)).toMatchObject({ do: "watch" });
  });

  test("goes on after what passes by itself", () => {
    const run = comparing();
    run.after(60_000, closed);
    expect(run.then(failedInput("passing"))).toMatchObject(exactly("100"));
  });
});

test("a stream that resumes follows once its watch has sent something, or it has listed", () => {
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

test("a stream to which somebody has subscribed since lists, no older a state than its position", () => {
  const run = new StreamRun(paged({ position: "100", emittedToAll: false }));
  expect(run.last.action).toMatchObject({ do: "list", listing: { exact: undefined } });
  expect(run.state.synced).toBe(false);
  run.take(pageInput("90", [bucketOf("a", "3")]));
  expect(run.observed).toEqual([]);
  run.then();
  expect(run.state.lastFailure).toMatchObject({ reason: "StaleListing" });
});

test("frames that came together are emitted together, up to the one that ends the watch", () => {
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
  test("is not emitted, and requested again", () => {
    const run = watching("100");
    run.then(failedInput("expired"));
    run.take(pageInput("90", [bucketOf("a", "3")]));
    expect(run.observed).toEqual([]);
    expect(run.state).toMatchObject({ position: "100", lastFailure: { reason: "StaleListing" } });
  });

  test("is believed the third time: etcd was restored", () => {
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
