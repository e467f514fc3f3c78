import { describe, expect, test } from "vitest";
import {
  addedInput,
  bookmarkInput,
  closed,
  errorFrame,
  failedInput,
  modifiedInput,
  bucketOf,
  opened,
  pageInput,
  StreamRun,
  silent,
} from "../testing/stream-run.ts";
import type { StreamInput } from "./stream.ts";
import { newStream } from "./stream-state.ts";

const end = (version: string): StreamInput => bookmarkInput(version, true);
const streamed = (): StreamRun => {
  const run = new StreamRun(newStream());
  run.then(opened);
  return run;
};
/** A stream that has emitted changes up to 100, with an expired position. */
const expired = (): StreamRun => {
  const run = new StreamRun(newStream({ position: "100" }));
  run.then(opened);
  run.after(5_000, errorFrame("Expired", 410));
  return run;
};
const streamAgain = { do: "stream" };
const inPages = { do: "list", listing: { pages: 0, continue: undefined, exact: undefined } };

describe("a streamed list", () => {
  test("is emitted as it is received, complete at its end, and continues as the watch", () => {
    const run = streamed();
    expect(run.then(addedInput("a", "3"))).toEqual({ do: "read" });
    expect(run.observed).toEqual(["listed"]);
    expect(run.state).toMatchObject({ synced: false, following: false, position: undefined });
    expect(run.then(end("7"))).toEqual({ do: "read" });
    expect(run.last.observations).toEqual([{ type: "complete", resourceVersion: "7", exact: false }]);
    expect(run.state).toMatchObject({ synced: true, following: true, position: "7" });
    expect(run.then(modifiedInput("a", "8"))).toEqual({ do: "read" });
    expect(run.observed).toEqual(["changed"]);
    expect(run.after(300_000, closed)).toMatchObject({ do: "watch", from: "8" });
  });

  test("may arrive in one read, with later changes of the watch", () => {
    const run = streamed();
    run.take({
      type: "frames",
      frames: [
        { type: "ADDED", object: bucketOf("a", "3") },
        { type: "BOOKMARK", resourceVersion: "7", initialEventsEnd: true },
        { type: "MODIFIED", object: bucketOf("a", "6") },
        { type: "MODIFIED", object: bucketOf("a", "8") },
      ],
    });
    expect(run.observed).toEqual(["listed", "complete", "changed"]);
    expect(run.state.position).toBe("8");
  });

  test("is requested with the full timeout: a short watch may end before the list", () => {
    const run = new StreamRun(newStream({ position: "100" }));
    run.then(opened);
    run.after(60_000, silent, errorFrame("Expired", 410));
    expect(run.last.action).toMatchObject({ do: "stream", timeoutSeconds: 300 });
  });

  test("ends the degraded state of a kind", () => {
    const run = new StreamRun(newStream());
    expect(run.then(failedInput("refused"))).toMatchObject(streamAgain);
    expect(run.state.degraded).toBeDefined();
    run.then(opened);
    expect(run.state.degraded).toBeUndefined();
  });
});

describe("an interrupted streamed list", () => {
  test("is listed in pages the second time, and streamed again later", () => {
    const run = streamed();
    run.then(failedInput("passing"), opened, addedInput("a", "3"));
    expect(run.then(failedInput("passing"))).toMatchObject(inPages);
    run.then(pageInput("7"), opened);
    run.then(errorFrame("Expired", 410));
    expect(run.last.action).toMatchObject(streamAgain);
  });

  test("is not restarted before its Retry-After", () => {
    const run = new StreamRun(newStream());
    expect(run.then(failedInput("passing", 17_000))).toMatchObject(streamAgain);
    expect(run.waits[0]).toBeGreaterThanOrEqual(17_000);
  });

  test("that has not begun is retried without limit", () => {
    const run = new StreamRun(newStream());
    for (let round = 0; round < 5; round++)
      expect(run.then(failedInput("passing"))).toMatchObject(streamAgain);
    expect(Math.min(...run.waits)).toBeGreaterThanOrEqual(1_000);
  });

  test.each<[string, StreamInput]>([
    ["by an orderly end", closed],
    ["by silence", silent],
    ["by garbage", failedInput("doubtful")],
    ["by an ERROR", errorFrame("ServerError", 500)],
    ["by a 410", errorFrame("Expired", 410)],
  ])("%s is listed in pages", (_name, input) => {
    const run = streamed();
    expect(run.then(addedInput("a", "3"), input)).toMatchObject(inPages);
    expect(run.state).toMatchObject({ synced: false, relists: 1, streamsLists: true });
    expect(run.waits.length).toBe(1);
  });

  test("backs off when it expires repeatedly", () => {
    const run = new StreamRun(newStream());
    for (let round = 0; round < 4; round++) run.then(failedInput("expired"));
    expect(run.waits).toEqual([1_000, 1_000, 2_000, 4_000]);
  });
});

describe("a server that does not stream lists", () => {
  const invalid: StreamInput = {
    type: "failed",
    failure: { kind: "refused", reason: "Invalid", message: "sendInitialEvents is forbidden" },
  };

  test("may refuse the request, and is then asked for pages at once, and always after that", () => {
    const run = new StreamRun(newStream());
    expect(run.then(invalid)).toMatchObject(inPages);
    expect(run.waits).toEqual([]);
    expect(run.state).toMatchObject({ failures: 0, degraded: undefined, relists: 0 });
    run.then(pageInput("7"), opened);
    expect(run.after(5_000, errorFrame("Expired", 410))).toMatchObject(inPages);
  });

  test("may refuse in the stream, which counts as a request", () => {
    const run = streamed();
    expect(run.then(errorFrame("Invalid", 422))).toMatchObject(inPages);
    expect(run.waits).toEqual([1_000]);
  });

  test("may send nothing", () => {
    expect(streamed().after(60_000, silent)).toMatchObject(inPages);
  });

  test("may also refuse pages", () => {
    const run = new StreamRun(newStream());
    run.then(invalid, invalid);
    expect(run.state.degraded).toMatchObject({ reason: "Invalid" });
  });
});

test("a streamed list older than the position is not complete; pages are accepted the third time", () => {
  const run = expired();
  run.then(opened, addedInput("a", "3"));
  run.take(end("90"));
  expect(run.observed).toEqual([]);
  expect(run.state).toMatchObject({ position: "100", lastFailure: { reason: "StaleListing" } });
  run.take({ type: "waited" });
  run.then(pageInput("90"));
  run.take(pageInput("90", [bucketOf("a", "3")]));
  expect(run.last.observations).toMatchObject([{ type: "listed", believed: true }, { type: "complete" }]);
});

test("a comparison is listed in pages at exactly the position", () => {
  const run = new StreamRun(newStream({ position: "100", compareEvery: 60_000 }));
  run.then(opened);
  expect(run.after(60_000, closed)).toMatchObject({ do: "list", listing: { exact: "100", streamed: false } });
});
