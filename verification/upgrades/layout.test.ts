import { ReconcileFunction } from "@drover/controller";
import { dataVersions } from "@drover/queue";
import { contractVersion } from "@drover/webhook";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { previous } from "../../tools/previous-version/build-previous.ts";
import {
  type Area,
  areas,
  judgeChanges,
  layoutOf,
  previousLayout,
} from "../../tools/previous-version/layout.ts";

const root = resolve(import.meta.dirname, "../..");
const compatible = z
  .array(z.strictObject({ reason: z.string().min(20), changes: z.array(z.string()).min(1) }))
  .parse(JSON.parse(readFileSync(resolve(root, "tools/previous-version/compatible-changes.json"), "utf8")));
const present = layoutOf(root);

it("a changed layout has a new version, or a reason why neighbouring versions can live with it", () => {
  const versions: Readonly<Record<Area, readonly [unknown, unknown]>> = {
    ledger: [previous.data.ledger, dataVersions.ledger],
    index: [previous.data.index, dataVersions.index],
    contract: [previous.contract, contractVersion],
    kinds: [previous.kinds, ReconcileFunction.version],
  };
  const changed = areas.filter((area) => versions[area][0] !== versions[area][1]);
  const advice =
    "Increment the version (docs/versioning.md), or state in tools/previous-version/compatible-changes.json why the previous " +
    "version can live with it.";
  expect(judgeChanges(previousLayout(), present, { changed, compatible }), advice).toEqual([]);
});

it("every area has a layout", () => {
  for (const area of areas)
    expect(present.filter((line) => line.startsWith(`${area} `)).length, area).toBeGreaterThan(40);
  for (const line of [
    "ledger ':leases'",
    "ledger 'observedIn'",
    "ledger '%.0f %s %s'",
    'kinds .spec.names.kind="ReconcileFunction"',
  ])
    expect(present).toContain(line);
});

const before = ["ledger 'a'", "index 'a'", "contract x=1"];
it.each<[string, readonly string[], readonly string[]]>([
  ["none", before, []],
  ["an added one", [...before, "ledger 'b'"], ["+ ledger 'b'"]],
  ["a removed one", before.slice(1), ["- ledger 'a'"]],
  ["another value", [...before.slice(0, 2), "contract x=2"], ["+ contract x=2", "- contract x=1"]],
])("of two layouts, the changes are found: %s", (_what, after, expected) => {
  expect(judgeChanges(before, after, { changed: [], compatible: [] })).toEqual(expected);
});

it("a change needs no reason in an area with a new version, and a reason needs a change", () => {
  const after = [...before, "ledger 'b'", "index 'b'"];
  const reasons = (...changes: string[]) => [{ reason: "", changes }];
  expect(judgeChanges(before, after, { changed: ["ledger"], compatible: [] })).toEqual(["+ index 'b'"]);
  expect(
    judgeChanges(before, after, { changed: ["ledger"], compatible: reasons("+ index 'b'", "- index 'c'") }),
  ).toEqual(["not a change: - index 'c'"]);
});
