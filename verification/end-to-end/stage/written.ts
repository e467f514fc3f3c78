import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Started } from "../../harness/start-process.ts";
import { metricsOf, type World } from "./world.ts";

/** Contents of all files of the processes and of Redis, of the metrics of a process, and of the objects `shown`. */
export async function written(
  { redis, folder }: World,
  metered: Pick<Started, "url">,
  ...shown: readonly unknown[]
): Promise<Buffer> {
  await redis.snapshot();
  const metrics = await metricsOf(metered);
  const files = [folder, redis.dir].flatMap((each) =>
    readdirSync(each, { recursive: true, encoding: "utf8" }).map((name) => join(each, name)),
  );
  const texts = files.filter((file) => statSync(file).isFile()).map((file) => readFileSync(file));
  return Buffer.concat([...texts, Buffer.from(metrics + JSON.stringify(shown))]);
}

/** The forms in which a secret of Standard Webhooks, `whsec_...`, may be written somewhere. */
export function formsOf(secret: string): readonly (string | Buffer)[] {
  const encoded = secret.slice("whsec_".length);
  const bytes = Buffer.from(encoded, "base64");
  return [encoded, bytes, bytes.toString("hex"), Buffer.from(secret).toString("base64")];
}
