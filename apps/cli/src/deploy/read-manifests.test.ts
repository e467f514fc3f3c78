import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { inRepository } from "../repository.ts";
import { readManifests } from "./read-manifests.ts";

it("a CRD keeps the integers of its defaults", () => {
  const folder = mkdtempSync(join(tmpdir(), "drover-manifests-"));
  try {
    const file = (name: string): string =>
      readFileSync(inRepository(`functions/s3-bucket/deploy/${name}.yaml`), "utf8");
    writeFileSync(join(folder, "function.yaml"), file("function"));
    writeFileSync(join(folder, "crd.yaml"), `${file("crd")}\nx-large: 9007199254740993\nx-small: 7\n`);
    expect(readManifests(folder).crds).toMatchObject([{ "x-large": 9007199254740993n, "x-small": 7 }]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
