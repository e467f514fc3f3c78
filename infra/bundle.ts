/**
 * Bundles every process into one file, `dist/<name>/main.mjs`: what goes into its image, and what starts three times
 * as fast as the sources. A process is a `src/main.ts` of an app or a function, named after its folder, or the
 * installer of CRDs.
 *
 *     node infra/bundle.ts [name ...]
 *
 * Beside each lie its source map, which stays out of images, and, for its image, the licences of the packages that it
 * contains and a list of them (CycloneDX). With the sandbox comes the token that clients need: compose/access.ts.
 */
import { build, type Plugin } from "esbuild";
import { globSync } from "node:fs";
import { rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { composeAccess } from "./compose/access.ts";
import droverPackage from "../packages/drover/package.json" with { type: "json" };
import { containedPackages } from "./contained-packages.ts";
import { licencesOf } from "./licences.ts";
import { sbomOf } from "./sbom.ts";

const root = resolve(import.meta.dirname, "..");

export interface Bundle {
  readonly file: string;
  readonly bytes: number;
}

/** The processes that there are: name -> the file that starts it, relative to the root. */
export function processes(): ReadonlyMap<string, string> {
  const found = globSync("{apps,functions}/*/src/main.ts", { cwd: root }).sort();
  const named = found.map((entry) => [entry.split("/")[1] ?? entry, entry] as const);
  return new Map([...named, ["crds", "infra/crds/main.ts"]]);
}

/**
 * Nothing of ours works at import, so what is imported and not used is left out, with all that it would bring: a
 * process that only reads settings and logs needs no Redis client.
 */
const nothingWorksAtImport: Plugin = {
  name: "nothing works at import",
  setup(bundling) {
    const asked = Symbol("asked");
    bundling.onResolve(
      { filter: /^(@drover\/|drover(\/|$)|\.|#)/ },
      async ({ path, importer, resolveDir, kind, pluginData }) => {
        if (pluginData === asked || importer.includes("node_modules")) return undefined;
        const resolved = await bundling.resolve(path, { importer, resolveDir, kind, pluginData: asked });
        return { ...resolved, sideEffects: false };
      },
    );
  },
};

/**
 * Bundles a process: one of those that there are, or the one that `entry` starts, a file relative to the root. Rejects
 * with esbuild's own explanation.
 */
export async function bundle(name: string, entry = processes().get(name)): Promise<Bundle> {
  if (entry === undefined)
    throw new Error(`There is no process ${name}. There are: ${[...processes().keys()].join(", ")}.`);
  const folder = join(root, "dist", name);
  await rm(folder, { recursive: true, force: true });
  const file = join(folder, "main.mjs");
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    // The bundle contains the Lua files: lua-file.bundled.ts takes the place of lua-file.ts.
    conditions: ["module", "drover-bundle"],
    loader: { ".lua": "text" },
    // CommonJS inside (pino, AWS) asks for Node's modules with `require`, which a module does not have by itself.
    banner: {
      js: 'import { createRequire as requireOf } from "node:module";\nconst require = requireOf(import.meta.url);',
    },
    plugins: [nothingWorksAtImport],
    sourcemap: "external",
    // The engine keeps the text of what it runs: with comments, some of them not in Latin, it is 14 MiB, and else 5.
    minifyWhitespace: true,
    lineLimit: 120,
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  const packages = await containedPackages(metafile, root);
  await writeFile(join(folder, "LICENCES.txt"), await licencesOf(packages, root));
  const { version } = droverPackage;
  await writeFile(join(folder, "sbom.cdx.json"), await sbomOf({ name, version }, packages, root));
  return { file, bytes: (await stat(file)).size };
}

if (import.meta.main) {
  const names = process.argv.slice(2);
  for (const name of names.length > 0 ? names : processes().keys()) {
    const { bytes } = await bundle(name);
    console.log(`dist/${name}/main.mjs  ${(bytes / 1e6).toFixed(1)} MB`);
    if (name === "sandbox")
      console.log(`The kubeconfig of the sandbox: ${(await composeAccess()).kubeconfig}`);
  }
}
