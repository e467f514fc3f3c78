/**
 * Publishes images to a cluster's registry from inside its namespaces, on bases that are made here. That for arm64 is
 * empty, since this machine can run no other: only what Drover adds to it is real.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { buildBase } from "../compose/local-images.ts";
import { configureContainers } from "../compose/namespace.ts";
import { run } from "../compose/run.ts";
import { publishImages } from "../images/publish.ts";

const optionsSchema = z.object({
  dir: z.string(),
  /** The folders in the registry: everything is built for each of them. */
  registries: z.array(z.string()),
  names: z.array(z.string()),
  version: z.string(),
  revision: z.string(),
  source: z.string(),
  created: z.number(),
});

const { dir, registries, ...options } = optionsSchema.parse(JSON.parse(process.argv[2] ?? ""));
const env = await configureContainers(dir);
const bases = { amd64: await buildBase({ dir, env }), arm64: await emptyBase("arm64") };
const digests: Record<string, string>[] = [];
for (const registry of registries) {
  const base = (architecture: keyof typeof bases) => bases[architecture];
  const published = await publishImages({ ...options, registry, base, env, insecure: true });
  digests.push(Object.fromEntries(published));
}
console.log(JSON.stringify(digests));

async function emptyBase(architecture: string): Promise<string> {
  const folder = join(dir, "empty");
  await mkdir(folder, { recursive: true });
  const file = join(folder, "Dockerfile");
  await writeFile(file, "FROM scratch\n");
  const tag = `localhost/drover-local/empty-${architecture}`;
  const flags = ["--quiet", "--platform", `linux/${architecture}`, "--file", file, "--tag", tag];
  await run(["buildah", "bud", ...flags, folder], { env });
  return tag;
}
