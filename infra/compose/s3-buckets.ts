/** The names of the buckets that an S3 server has, asked for without the SDK and without believing any status. */
export async function s3Buckets(server: string): Promise<ReadonlySet<string>> {
  const response = await fetch(server);
  const body = await response.text();
  if (!response.ok) throw new Error(`${server} answered ${response.status}: ${body}`);
  return new Set([...body.matchAll(/<Bucket>.*?<Name>(.*?)<\/Name>/gs)].map(([, name]) => name ?? ""));
}
