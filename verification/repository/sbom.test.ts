import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { z } from "zod";
import { containedPackages } from "../../infra/contained-packages.ts";
import { sbomOf } from "../../infra/sbom.ts";

const component = z.object({
  name: z.string(),
  purl: z.string(),
  hashes: z.array(z.object({ alg: z.string(), content: z.string() })).default([]),
});
const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().default(""), integrity: z.string().default("") }),
  ),
});
const sbomSchema = z.object({ bomFormat: z.literal("CycloneDX"), components: z.array(component) });

it("the list of an image names the packages that the bundler kept, with the hashes of the lock", async () => {
  const root = `${import.meta.dirname}/../..`;
  const kept = { bytesInOutput: 1 };
  const inputs = {
    "node_modules/zod/index.js": kept,
    "node_modules/zod/v4/core.js": kept,
    "node_modules/@kubernetes/client-node/dist/config.js": kept,
    "node_modules/vitest/dist/index.js": { bytesInOutput: 0 },
    "packages/queue/src/index.ts": kept,
  };
  const outputs = { "main.mjs": { bytes: 1, inputs, imports: [], exports: [] } };
  const packages = await containedPackages({ outputs }, root);
  const text = await sbomOf({ name: "bridge", version: "1.2.3" }, packages, root);
  expect(await sbomOf({ name: "bridge", version: "1.2.3" }, packages, root)).toBe(text);
  const { components } = sbomSchema.parse(JSON.parse(text));
  expect(components.map(({ name }) => name)).toEqual(["@kubernetes/client-node", "zod"]);
  const lock = lockSchema.parse(JSON.parse(readFileSync(`${root}/package-lock.json`, "utf8")));
  for (const { name, purl, hashes } of components) {
    const { version, integrity } = lock.packages[`node_modules/${name}`] ?? { version: "", integrity: "" };
    expect(purl).toBe(`pkg:npm/${name.replace("@", "%40")}@${version}`);
    const [one] = hashes;
    expect(one?.alg).toBe("SHA-512");
    expect(`sha512-${Buffer.from(one?.content ?? "", "hex").toString("base64")}`).toBe(integrity);
  }
});

it("npm run sbom names what ships, with hashes, and nothing that only tests use", () => {
  const text = execFileSync("npm", ["run", "--silent", "sbom"], {
    cwd: `${import.meta.dirname}/../..`,
  }).toString();
  const { components } = sbomSchema.parse(JSON.parse(text));
  const foreign = components.filter(({ purl }) => !/^pkg:npm\/(%40drover\/|drover@)/.test(purl));
  const withoutHash = foreign.filter(({ hashes }) => !hashes.some(({ alg }) => alg === "SHA-512"));
  expect(withoutHash.map(({ name }) => name)).toEqual([]);
  const names = foreign.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["bullmq", "ioredis", "re2js", "zod"]));
  expect(names).not.toContain("vitest");
});
