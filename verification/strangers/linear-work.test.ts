import { expect, it } from "vitest";
import { type Measured, ratioOf, squared } from "./measure.ts";
import { fewPayloads } from "./payloads.ts";
import { everyReader } from "./readers.ts";

const KiB = 1_024;
/** Sizes at which work that grows by the square takes milliseconds, and not minutes. */
const sizes = [4 * KiB, 64 * KiB] as const;

// With all inputs, 1 MiB, and a closer bound: `node verification/strangers/main.ts`.
it("no reader that strangers reach does work that grows by the square of the bytes", () => {
  const few = everyReader.filter(({ name }) => fewPayloads.some((payload) => name.endsWith(payload.name)));
  expect(few.length).toBeGreaterThan(150);
  const ratios = few.map((subject) => ratioOf({ sizes, ...subject }, squared));
  expect(ratios.filter(({ ratio }) => ratio > squared)).toEqual([]);
}, 300_000);

it("a pattern that looks for its start everywhere is found", () => {
  const scanning: Measured = {
    name: "durations, as they must not be summed",
    sizes: [KiB / 2, 8 * KiB],
    prepare(bytes) {
      const text = "1".repeat(bytes);
      return () => [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
    },
  };
  expect(ratioOf(scanning, squared).ratio).toBeGreaterThan(squared);
});
