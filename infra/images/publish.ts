/**
 * Builds the images of Drover for amd64 and arm64, and pushes each as one index. The bundle is the same for both; only the
 * base differs. Needs buildah, and runs no program of the images, so no emulation of processors.
 *
 *     npx node infra/images/publish.ts --registry registry.example.com/drover --version 0.1.0 --revision $(git rev-parse HEAD)
 *
 * The same sources, version and time give the same digests: the time of everything is SOURCE_DATE_EPOCH, or 1970.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { bundle, processes } from "../bundle.ts";
import { environment } from "../compose/config.ts";
import { run } from "../compose/run.ts";

const root = resolve(import.meta.dirname, "../..");

/** Processors as OCI names them. */
export const architectures = ["amd64", "arm64"] as const;
export type Architecture = (typeof architectures)[number];

export interface PublishOptions {
  /** `host/folder`, as in `registry.example.com/drover`. */
  readonly registry: string;
  /** The tag, and the label `version`. */
  readonly version: string;
  /** The commit. */
  readonly revision: string;
  /** The URL of the repository. */
  readonly source?: string | undefined;
  /** Seconds since 1970. */
  readonly created: number;
  /** Processes of infra/bundle.ts. */
  readonly names: readonly string[];
  /** The base for a processor. Default: that of the Dockerfile, which has both. */
  readonly base?: (architecture: Architecture) => string;
  /** True for a registry that speaks plain HTTP. */
  readonly insecure?: boolean;
  /** Where buildah finds its configuration. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Bundles, builds and pushes. Returns the digest of the index of each process. */
export async function publishImages(options: PublishOptions): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  for (const name of options.names) {
    await bundle(name);
    digests.set(name, await publishImage(name, options));
  }
  return digests;
}

async function publishImage(name: string, options: PublishOptions): Promise<string> {
  const { registry, version, created, base, insecure = false, env = {} } = options;
  const image = `${registry}/${name}:${version}`;
  const buildah = (...args: readonly string[]) => run(["buildah", ...args], { env });
  const ids: string[] = [];
  for (const architecture of architectures) {
    const args = [`BUNDLE=${name}`, ...(base === undefined ? [] : [`BASE=${base(architecture)}`])];
    const id = await buildah(
      ...["bud", "--quiet", "--format", "oci", "--platform", `linux/${architecture}`],
      // The time of every file, and of the image.
      ...["--timestamp", String(created), "--file", "infra/images/Dockerfile"],
      ...args.flatMap((arg) => ["--build-arg", arg]),
      ...Object.entries(labels(options)).flatMap(([label, value]) => ["--label", `${label}=${value}`]),
      root,
    );
    ids.push(id.trim());
  }
  const folder = await mkdtemp(join(tmpdir(), "drover-images-"));
  try {
    const index = (await buildah("manifest", "create", `drover-index-${process.pid}-${name}`)).trim();
    for (const id of ids) await buildah("manifest", "add", index, `containers-storage:${id}`);
    const digest = join(folder, "digest");
    const flags = ["--all", "--rm", "--format", "oci", "--digestfile", digest, `--tls-verify=${!insecure}`];
    await buildah("manifest", "push", ...flags, index, `docker://${image}`);
    return await readFile(digest, "utf8");
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Those of the Open Container Initiative that the Dockerfile does not have. */
function labels({ version, revision, source, created }: PublishOptions) {
  const time = new Date(created * 1_000).toISOString().replace(".000", "");
  const all = { version, revision, ...(source !== undefined && { source }), created: time };
  return Object.fromEntries(
    Object.entries(all).map(([label, value]) => [`org.opencontainers.image.${label}`, value]),
  );
}

const usage =
  "usage: publish.ts --registry HOST/FOLDER --version VERSION --revision COMMIT [--source URL] [--insecure] [PROCESS ...]";

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      registry: { type: "string" },
      version: { type: "string" },
      revision: { type: "string" },
      source: { type: "string" },
      insecure: { type: "boolean" },
    },
  });
  const { registry, version, revision, ...others } = values;
  if (registry === undefined || version === undefined || revision === undefined) {
    console.error(usage);
    process.exit(2);
  }
  const names = positionals.length > 0 ? positionals : [...processes().keys()];
  const created = Number(environment()["SOURCE_DATE_EPOCH"] ?? 0);
  const digests = await publishImages({ registry, version, revision, created, names, ...others });
  for (const [name, digest] of digests) console.log(`${registry}/${name}:${version}@${digest}`);
}
