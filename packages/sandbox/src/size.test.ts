import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

/** Lines of a package's TypeScript that is no test, no contract, and no part of them. */
function linesOf(name: string): number {
  const folder = join(import.meta.dirname, "../..", name, "src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.ts$/.test(file) && !/\.(test|contract)\.ts$|(^|\/)(testing|fixtures)\//.test(file),
  );
  return files.reduce(
    (sum, file) => sum + readFileSync(join(folder, file), "utf8").split("\n").length - 1,
    0,
  );
}

it("the sandbox is no larger than what it is there to test: the queue and the reflector", () => {
  expect(linesOf("sandbox")).toBeLessThanOrEqual(linesOf("queue") + linesOf("kube"));
});
