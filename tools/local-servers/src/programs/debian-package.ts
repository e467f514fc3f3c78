import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { cachedFolder } from "./cached-folder.ts";
import { runTied } from "../processes/run-tied.ts";

export interface DebianPackageOptions {
  /** The program in the package. Default: the one with the package's name. */
  program?: string;
  /** Where packages are kept. Default: `.cache/debian` in the root of the checkout. */
  cacheDir?: string;
  /** Where apt-get is looked for. Default: `PATH`. */
  path?: string | undefined;
}

const CACHE = resolve(import.meta.dirname, "../../../../.cache/debian");

/**
 * The path of a program (in `/usr/bin` of a Debian or Ubuntu package, `name`), unpacked beside the checkout
 * with those packages that it needs and this system lacks. Nothing is installed into the system, no root is needed,
 * and the system's own package lists stay as they are. Which version it is, is the system's choice; it is fetched
 * once for each release of the system.
 *
 * Rejects with the end of apt's output when there is no apt-get or no such package, or the network is away.
 */
export async function ensureDebianProgram(name: string, options: DebianPackageOptions = {}): Promise<string> {
  const { program = name, cacheDir = CACHE, path = process.env["PATH"] } = options;
  const release = await readFile("/etc/os-release", "utf8").catch(() => "");
  const fingerprint = createHash("sha256").update(`${process.arch}\n${release}`).digest("hex").slice(0, 16);
  const folder = await cachedFolder(cacheDir, `${name}-${fingerprint}`, async (temporary) => {
    const env = { PATH: path, LC_ALL: "C" };
    const run: Run = (step, command, args, cwd = temporary) =>
      runTied({ name: command, command, args, cwd, env, logFile: join(temporary, `${step}.log`) });
    await fetchPackages(name, temporary, run);
    return unpack(program, temporary, run);
  });
  return join(folder, program);
}

type Run = (step: string, command: string, args: readonly string[], cwd?: string) => Promise<void>;

/** Downloads the package, and what it needs and this system lacks, into `packages`. */
async function fetchPackages(name: string, temporary: string, run: Run): Promise<void> {
  for (const folder of ["lists/lists/partial", "cache/archives/partial", "packages"]) {
    await mkdir(join(temporary, folder), { recursive: true });
  }
  const own = [
    ...["-o", `Dir::State=${join(temporary, "lists")}`, "-o", "Dir::State::status=/var/lib/dpkg/status"],
    ...["-o", `Dir::Cache=${join(temporary, "cache")}`, "-o", "APT::Sandbox::User=root"],
  ];
  await run("update", "apt-get", [...own, "-q", "update"]);
  const flags = ["-qq", "-y", "--no-install-recommends", "--print-uris"];
  await run("list", "apt-get", [...own, ...flags, "install", name]);
  // One line for each package: 'URL' NAME_VERSION_ARCHITECTURE.deb SIZE HASH.
  const lines = (await readFile(join(temporary, "list.log"), "utf8")).split("\n");
  const names = lines.flatMap((line) => /^'[^']+' ([^_ ]+)_/.exec(line)?.[1] ?? []);
  if (!names.includes(name)) throw new Error(`${name} is installed already: put it on PATH.`);
  await run("download", "apt-get", [...own, "-q", "download", ...names], join(temporary, "packages"));
}

/** The folder to keep: the packages' files, and the program as a script that finds its libraries among them. */
async function unpack(program: string, temporary: string, run: Run): Promise<string> {
  const kept = join(temporary, "kept");
  for (const file of await readdir(join(temporary, "packages"))) {
    await run("unpack", "dpkg-deb", ["-x", join(temporary, "packages", file), kept]);
  }
  const libraries = (await readdir(join(kept, "usr/lib")).catch(() => [])).map(
    (folder) => `"$here/usr/lib/${folder}"`,
  );
  const script = [
    "#!/bin/sh",
    'here=$(cd -- "$(dirname -- "$0")" && pwd)',
    `export LD_LIBRARY_PATH=${libraries.join(":")}"\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"`,
    `exec "$here/usr/bin/${program}" "$@"`,
    "",
  ];
  await writeFile(join(kept, program), script.join("\n"));
  await chmod(join(kept, program), 0o755);
  return kept;
}
