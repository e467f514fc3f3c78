import { expect, it } from "vitest";
import { type Measured, mostRatio, ratioOf } from "./measure.ts";
import { fewPayloads } from "./payloads.ts";
import { everyReader } from "./readers.ts";

const KiB = 1_024;
/** Sizes at which work that grows by the square takes milliseconds, and not minutes. */
const sizes = [4 * KiB, 64 * KiB];

// With all inputs, and 1 MiB: `node verification/strangers/main.ts`.
it("16 times the bytes cost a reader that strangers reach no more than 32 times the work", () => {
  const few = everyReader.filter(({ name }) => fewPayloads.some((payload) => name.endsWith(payload.name)));
  expect(few.length).toBeGreaterThan(150);
  const costly = few
    .map((subject) => ratioOf({ sizes, ...subject }))
    .filter(({ ratio }) => ratio > mostRatio);
  expect(costly).toEqual([]);
}, 300_000);

it("a pattern that looks for its start everywhere is found", () => {
  const scanning: Measured = {
    name: "durations, as they must not be summed",
    prepare(bytes) {
      const text = "1".repeat(bytes);
      return () => [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
    },
  };
  expect(ratioOf({ ...scanning, sizes: [KiB, 16 * KiB] }).ratio).toBeGreaterThan(mostRatio);
});
