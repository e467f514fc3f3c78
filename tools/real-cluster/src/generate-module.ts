// Writes ../go/go.mod, ../go/go.sum and those of ../go/kwok anew, for another version of Kubernetes:
//
//   node tools/real-cluster/src/generate-module.ts v1.36.3
//
// k8s.io/kubernetes is not made to be required: its go.mod replaces some thirty modules by folders of its own
// repository. They are published, too, as v0.X.Y beside v1.X.Y, so each is replaced by that. Everything else, etcd
// included, is then at the version that Kubernetes itself is built with.
//
// kwok asks for other versions of some thirty modules that both use. It is a module of its own, which changes nothing of
// what Kubernetes is built with; and it takes Kubernetes' versions, so that most of it is compiled already.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { ownModules, packages } from "./build.ts";

const folder = fileURLToPath(new URL("../go", import.meta.url));
const kwokFolder = `${folder}/kwok`;
const kwokVersion = "v0.8.0";
const kwokProgram = packages.kwok;
/** The programs of other modules than ours. */
const tools = Object.entries(packages).flatMap(([target, name]) =>
  target in ownModules || name.startsWith(".") ? [] : [name],
);

/** A module and the version that it is built at, as a template for `go list`. */
const moduleLine =
  "{{if not .Main}}{{.Path}} {{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}{{end}}";

interface UpstreamModule {
  readonly go: string;
  readonly godebug: string | undefined;
  /** Modules that are folders of the Kubernetes repository. */
  readonly staged: readonly string[];
}

const version = process.argv[2] ?? "";
if (!/^v1\.\d+\.\d+$/.test(version)) {
  console.error("usage: node generate-module.ts VERSION (of Kubernetes, as in v1.36.3)");
  process.exit(2);
}
const upstream = readUpstream(version);
for (const file of ["go.mod", "go.sum", "kwok/go.mod", "kwok/go.sum"])
  rmSync(`${folder}/${file}`, { force: true });
go("mod", "init", "drover.dev/tools/real-cluster");
go("mod", "edit", ...edits(version, upstream));
go("mod", "tidy");
generateKwok(upstream);

function generateKwok({ go: language }: UpstreamModule): void {
  mkdirSync(kwokFolder, { recursive: true });
  const kwok = (...args: string[]): string => goIn(kwokFolder, ...args);
  kwok("mod", "init", "drover.dev/tools/real-cluster/kwok");
  kwok("mod", "edit", `-go=${language}`, `-require=sigs.k8s.io/kwok@${kwokVersion}`, `-tool=${kwokProgram}`);
  kwok("mod", "tidy");
  const ours = modules(go("list", "-m", "-f", moduleLine, "all"));
  const theirs = modules(kwok("list", "-deps", "-f", `{{with .Module}}${moduleLine}{{end}}`, kwokProgram));
  const replaced = [...theirs].flatMap(([name, wanted]) => {
    const version = ours.get(name) ?? wanted;
    return version === wanted ? [] : [`-replace=${name}=${name}@${version}`];
  });
  kwok("mod", "edit", ...replaced.sort());
  kwok("mod", "tidy");
}

function edits(kubernetes: string, { go: language, godebug, staged }: UpstreamModule): string[] {
  const published = kubernetes.replace("v1.", "v0.");
  return [
    `-go=${language}`,
    `-require=k8s.io/kubernetes@${kubernetes}`,
    ...(godebug === undefined ? [] : [`-godebug=default=${godebug}`]),
    ...staged.map((module) => `-replace=${module}=${module}@${published}`),
    ...tools.map((tool) => `-tool=${tool}`),
  ];
}

function readUpstream(kubernetes: string): UpstreamModule {
  const download = go("mod", "download", "-json", `k8s.io/kubernetes@${kubernetes}`);
  const { GoMod } = z.object({ GoMod: z.string() }).parse(JSON.parse(download));
  const { Go, Godebug, Replace } = goModSchema.parse(JSON.parse(go("mod", "edit", "-json", GoMod)));
  const staged = (Replace ?? []).filter(({ New }) => New.Path.startsWith("./staging/"));
  return {
    go: Go,
    godebug: Godebug?.find(({ Key }) => Key === "default")?.Value,
    staged: staged.map(({ Old }) => Old.Path),
  };
}

const moduleSchema = z.object({ Path: z.string() });
/** A go.mod, as `go mod edit -json` prints it. */
const goModSchema = z.object({
  Go: z.string(),
  Godebug: z.array(z.object({ Key: z.string(), Value: z.string() })).nullish(),
  Replace: z.array(z.object({ Old: moduleSchema, New: moduleSchema })).nullish(),
});

const modules = (lines: string): ReadonlyMap<string, string> =>
  new Map(
    Array.from(lines.matchAll(/^ *(\S+)(?: (\S*))?/gm), ([, name = "", version = ""]) => [name, version]),
  );

function go(...args: string[]): string {
  return goIn(folder, ...args);
}

function goIn(cwd: string, ...args: string[]): string {
  const env = { ...process.env, GOWORK: "off" };
  return execFileSync("go", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}
