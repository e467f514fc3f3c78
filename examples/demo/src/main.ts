/**
 * # The demo of `npm start`
 *
 * A Bucket object becomes a bucket, on this machine: `drover dev` runs the bucket function, with an S3 server and with
 * `examples/bucket.yaml`. This program starts the S3 server and passes the rest on.
 */
import { findRedis, spawnTied, startS3, type TiedProcess } from "@drover/local-servers";
import { Command, InvalidArgumentError } from "commander";
import { devNull } from "node:os";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { devEnvironment } from "./config.ts";

const optionsSchema = z.object({
  kubeconfig: z.string().optional(),
  context: z.string().optional(),
  redis: z.string().optional(),
  s3: z.string().optional(),
  s3Region: z.string(),
});
type DemoOptions = z.output<typeof optionsSchema>;

const path = (file: string): string => resolve(import.meta.dirname, "../../..", file);

/** The settings of the bucket function for its S3 server, and the end of that server. */
interface S3Access {
  readonly url: string;
  readonly settings: Readonly<Record<string, string | undefined>>;
  /** Resolves if the server ends by itself. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

/** Returns the exit code. */
async function runDemo({ s3: givenUrl, s3Region, ...options }: DemoOptions): Promise<number> {
  const s3 = givenUrl === undefined ? await ownS3() : await givenS3(givenUrl, s3Region);
  try {
    const dev = await startDev(options, s3);
    console.log(`The S3 server is ${s3.url}. Once the Bucket is Ready: curl -I ${s3.url}/hello-drover`);
    void s3.ended.then(() => dev.kill("SIGTERM") && console.error("The S3 server ended by itself."));
    const { code, signal } = await dev.exited;
    return signal === null ? (code ?? 1) : 1;
  } finally {
    await s3.stop();
  }
}

async function ownS3(): Promise<S3Access> {
  console.log("Starting an S3 server; the first time, it is installed with pip.");
  const s3 = await startS3();
  const { url, region, accessKeyId, secretAccessKey } = s3;
  const settings = {
    ...settingsFor(url, region),
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: undefined,
    AWS_PROFILE: undefined,
  };
  return { url, settings, ended: s3.exited, stop: () => s3.stop() };
}

/** @throws with a remedy if no server answers. */
async function givenS3(url: string, region: string): Promise<S3Access> {
  const asked = fetch(url, { method: "HEAD", redirect: "manual", signal: AbortSignal.timeout(10_000) });
  await asked.catch((cause: unknown) => {
    throw new Error(`No S3 server answers at ${url}. Start it, or leave --s3 out to have one started.`, {
      cause,
    });
  });
  return {
    url,
    settings: settingsFor(url, region),
    ended: new Promise(() => undefined),
    stop: () => Promise.resolve(),
  };
}

const settingsFor = (url: string, region: string) => ({ DROVER_S3_ENDPOINT: url, DROVER_S3_REGION: region });

/** Ctrl-C reaches it through this process, once each time. */
async function startDev(
  { kubeconfig, context, redis }: Pick<DemoOptions, "kubeconfig" | "context" | "redis">,
  s3: S3Access,
): Promise<TiedProcess> {
  const given = Object.entries({ kubeconfig: kubeconfig && resolve(kubeconfig), context, redis });
  const words = given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  const programs = redis === undefined ? [dirname((await findRedis()).command)] : [];
  const dev = await spawnTied({
    name: "drover dev",
    command: process.execPath,
    args: [path("apps/cli/bin/drover.mjs"), "dev", "--example", path("examples/bucket.yaml"), ...words],
    cwd: path("functions/s3-bucket"),
    env: devEnvironment([dirname(process.execPath), ...programs], s3.settings),
    logFile: devNull,
    onLine: (line) => console.log(line),
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => dev.kill(signal));
  process.stdout.on("error", () => dev.kill("SIGTERM"));
  return dev;
}

function httpUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/\/+$/, "");
  throw new InvalidArgumentError("Give a URL such as http://127.0.0.1:9000.");
}

await new Command("npm start --")
  .description(
    "Run the bucket function with drover dev, for the Bucket of examples/bucket.yaml, until Ctrl-C.\n" +
      "Servers that you do not give are started on this machine, and nothing of them is kept.",
  )
  .option(
    "--kubeconfig <file>",
    "use this cluster, which has the kind: kubectl apply -f functions/s3-bucket/deploy/crd.yaml",
  )
  .option("--context <name>", "context of that kubeconfig; default: its current one")
  .option("--redis <url>", "use this Redis or Valkey (7.0 or newer)")
  .option("--s3 <url>", "use this S3 server, with the AWS credentials of the environment", httpUrl)
  .option("--s3-region <region>", "region of buckets that name none; with --s3", "us-east-1")
  .allowExcessArguments(false)
  .action(async (given: unknown) => {
    const options = optionsSchema.parse(given);
    process.exitCode = await runDemo(options).catch((error: unknown) => {
      console.error(error instanceof Error ? error.message : String(error));
      return 1;
    });
  })
  .parseAsync();
