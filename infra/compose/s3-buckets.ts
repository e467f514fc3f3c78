import type { Project } from "./containers.ts";

/** The names of the buckets that an S3 server has, asked for without the SDK and without believing any status. */
async function s3Buckets(server: string): Promise<ReadonlySet<string>> {
  const response = await fetch(server);
  const body = await response.text();
  if (!response.ok) throw new Error(`${server} answered ${response.status}: ${body}`);
  return new Set([...body.matchAll(/<Bucket>.*?<Name>(.*?)<\/Name>/gs)].map(([, name]) => name ?? ""));
}

/** Rejects with what the S3 server of docker-compose.yml has, when that is not what is wanted. */
export async function expectBuckets(
  project: Project,
  wanted: (names: ReadonlySet<string>) => boolean,
): Promise<void> {
  // No port of it is published.
  const { address } = await project.one("s3");
  const names = await s3Buckets(`http://${String(address)}:5000`);
  if (!wanted(names)) throw new Error(`The S3 server has: ${[...names].join(", ")}.`);
}
