import { expect, it } from "vitest";
import { droverFields } from "./drover-fields.ts";
import { bucketFieldsPage } from "./page.ts";
import { peerFields } from "./peers.ts";
import { elsewhere, isAbout, reasons, reasonsFor } from "./reasons.ts";
import {
  droverFieldsAt,
  droverFieldsOf,
  isAt,
  normalized,
  pathsOf,
  renamings,
  settingPath,
} from "./same-fields.ts";

it("every field of another product has either fields of Drover or one reason", () => {
  expect(peerFields.length).toBeGreaterThan(900);
  const wrong = peerFields.filter(
    (field) => (droverFieldsOf(field).length > 0 ? 0 : 1) !== reasonsFor(field).length,
  );
  expect(wrong.map((field) => `${field.kind} ${field.path}: ${pathsOf(field).join(", ")}`)).toEqual([]);
});

it("every path with a reason is one that Drover lacks and another product has", () => {
  const paths = reasons.flatMap(({ fields }) => fields);
  expect(paths.filter((path) => droverFieldsAt(normalized(path)).length > 0)).toEqual([]);
  expect(paths.filter((path) => !peerFields.some((field) => isAbout(path, field)))).toEqual([]);
});

it.each(["ack", "terraform"] as const)(
  "every renaming of %s leads to a field, and changes the name of one",
  (product) => {
    const fields = peerFields.filter((field) => field.product === product);
    const isField = (path: string): boolean =>
      droverFieldsAt(path).length > 0 || peerFields.some((field) => isAt(settingPath(field), path));
    const all = renamings[product];
    const wrong = all.filter((renaming) => {
      const others = all.filter((each) => each !== renaming);
      const isNeeded = fields.some((field) => pathsOf(field).join() !== pathsOf(field, others).join());
      return !isNeeded || !renaming.to.map(normalized).every(isField);
    });
    expect(wrong).toEqual([]);
  },
);

it("no two fields of Drover are the same when normalized", () => {
  expect(new Set(droverFields.map(normalized)).size).toBe(droverFields.length);
});

it("means outside the schemas are named only where the schemas have none", () => {
  const wrong = Object.entries(elsewhere).filter(
    ([field, of]) =>
      !droverFields.includes(field) ||
      peerFields.some((each) => each.product in of && droverFieldsOf(each).includes(field)),
  );
  expect(wrong).toEqual([]);
});

// Update it with `npx vitest run verification/bucket-fields --update`.
it("docs/reference/bucket-fields.md is written from the schemas", async () => {
  await expect(bucketFieldsPage()).toMatchFileSnapshot("../../docs/reference/bucket-fields.md");
});
