import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { z } from "zod";

const component = z.object({
  name: z.string(),
  purl: z.string(),
  hashes: z.array(z.object({ alg: z.string(), content: z.string() })).default([]),
});
const sbomSchema = z.object({ bomFormat: z.literal("CycloneDX"), components: z.array(component) });

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
