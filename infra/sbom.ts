import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { ContainedPackage } from "./contained-packages.ts";

const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ integrity: z.string().optional() })),
});

/**
 * The CycloneDX list of what a bundle contains: the packages that the bundler kept, with the hashes of package-lock.json.
 * The same bundle gives the same text, so it has neither a time nor a serial number.
 */
export async function sbomOf(
  { name, version }: { readonly name: string; readonly version: string },
  packages: readonly ContainedPackage[],
  root: string,
): Promise<string> {
  const lock = lockSchema.parse(JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")));
  const sbom = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": `drover/${name}@${version}`,
        name: `drover/${name}`,
        version,
        licenses: [{ license: { id: "Apache-2.0" } }],
      },
    },
    components: packages.map((one) => component(one, lock.packages[one.folder]?.integrity)),
  };
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

function component({ folder, name, version, license }: ContainedPackage, integrity: string | undefined) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  return {
    type: "library",
    // One version may be there twice, in two folders.
    "bom-ref": `${purl}#${folder}`,
    name,
    version,
    purl,
    // A name of SPDX is also an expression; npm has both.
    ...(license !== undefined && { licenses: [{ expression: license }] }),
    ...(integrity !== undefined && { hashes: [hashOf(integrity)] }),
  };
}

/** A hash as CycloneDX has it, of one as npm has it: `sha512-<base64>`. */
function hashOf(integrity: string) {
  const [algorithm = "", digest = ""] = integrity.split("-");
  return {
    alg: algorithm.toUpperCase().replace("SHA", "SHA-"),
    content: Buffer.from(digest, "base64").toString("hex"),
  };
}
