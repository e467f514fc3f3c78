/**
 * Installs the CRDs that it finds in manifests, waits until they are served, and ends. For where no package manager
 * does that: compose runs it before the bridge. Running it again is harmless, and brings CRDs up to date.
 */
import { messageOf } from "@drover/controller";
import { exactYaml } from "@drover/json";
import { builtin, connect, installCrd, type NewObject } from "@drover/kube";
import { openLog } from "@drover/runtime";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { crdsConfig } from "./config.ts";

/** The API server may be starting at the same time: reads are repeated for about a minute. */
const patience = { limit: 1, retries: 9 };

const crd = z.looseObject({
  apiVersion: z.literal("apiextensions.k8s.io/v1"),
  kind: z.literal("CustomResourceDefinition"),
  metadata: z.looseObject({ name: z.string() }),
});

function filesOf(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(path, name));
}

function crdsIn(file: string): readonly NewObject[] {
  return parseAllDocuments(readFileSync(file, "utf8"), exactYaml.options).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(`${file} is not YAML`, { cause: document.errors[0] });
    const parsed = crd.safeParse(document.toJS(exactYaml));
    return parsed.success ? [parsed.data] : [];
  });
}

const log = openLog({ process: "crds" });
try {
  const { kubeconfig, manifests } = crdsConfig();
  const found = manifests.flatMap(filesOf).flatMap(crdsIn);
  if (found.length === 0) throw new Error(`There is no CRD in ${manifests.join(", ")}.`);
  const client = await connect({
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    userAgent: "drover-crds",
    log,
  });
  await client.list(builtin.crd, patience);
  for (const one of found) {
    await installCrd(client, one, { signal: AbortSignal.timeout(60_000) });
    log.info({ crd: one.metadata.name }, "Installed");
  }
  await client.close();
} catch (error) {
  log.fatal({ err: error }, messageOf(error));
  process.exitCode = 1;
}
