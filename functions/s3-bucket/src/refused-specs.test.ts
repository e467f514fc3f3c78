import { expect, test } from "vitest";
import { Bucket } from "./bucket.ts";
import { refusedSpecs } from "./testing/refused-specs.ts";

test.each(refusedSpecs)("a run refuses $name, and names it", ({ spec, corrected, field, problem }) => {
  const { issues = [] } = Bucket.spec.safeParse(spec).error ?? {};
  expect(issues.map(({ path, message }) => [path.join("."), message])).toEqual([[field, problem]]);
  expect(Bucket.spec.safeParse(corrected).success).toBe(true);
});
