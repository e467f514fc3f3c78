import { z } from "zod";

/** A Bucket object, as far as the test looks at it. */
const bucketSchema = z.object({
  metadata: z.object({ name: z.string(), resourceVersion: z.string() }),
  status: z
    .object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]) })
    .optional(),
});
export type BucketObject = z.output<typeof bucketSchema>;

const listSchema = z.object({
  metadata: z.object({ resourceVersion: z.string() }),
  items: z.array(bucketSchema),
});
const frameSchema = z.object({ type: z.enum(["ADDED", "MODIFIED", "DELETED"]), object: bucketSchema });

/** The Bucket objects of a namespace, over plain HTTP: what any client would do, and none of our own. */
export interface BucketObjects {
  create(name: string): Promise<void>;
  delete(name: string): Promise<void>;
  /**
   * Watches until `wanted` answers true of all objects. Rejects with what is missing when the signal fires first.
   */
  until(wanted: (objects: ReadonlyMap<string, BucketObject>) => boolean, signal: AbortSignal): Promise<void>;
}

const isReady = ({ status }: BucketObject): boolean =>
  status?.conditions.some(({ type, status }) => type === "Ready" && status === "True") ?? false;

/** For `until`: whether all of these are there and Ready. */
export const allReady =
  (names: readonly string[]) =>
  (all: ReadonlyMap<string, BucketObject>): boolean =>
    names.every((name) => {
      const object = all.get(name);
      return object !== undefined && isReady(object);
    });

/** Rejects unless the API server refuses a request without its token, and one of a web page with it. */
export async function expectRefusals(apiServer: string, token: string): Promise<void> {
  const status = async (headers: Record<string, string>) =>
    (await fetch(`${apiServer}/api/v1/secrets`, { headers })).status;
  const authorization = `Bearer ${token}`;
  const statuses = [await status({}), await status({ authorization, origin: "http://evil.example" })];
  if (statuses.join() !== "401,403") throw new Error(`It answered ${statuses.join(" and ")}.`);
}

export function bucketObjects(apiServer: string, token: string): BucketObjects {
  const authorization = `Bearer ${token}`;
  const url = `${apiServer}/apis/s3.drover.dev/v1alpha1/namespaces/default/buckets`;
  return {
    async create(name) {
      const body = JSON.stringify({
        apiVersion: "s3.drover.dev/v1alpha1",
        kind: "Bucket",
        metadata: { name },
        spec: { bucketName: name, onDelete: "Delete" },
      });
      await expectOk(
        fetch(url, { method: "POST", body, headers: { "content-type": "application/json", authorization } }),
      );
    },
    async delete(name) {
      await expectOk(fetch(`${url}/${name}`, { method: "DELETE", headers: { authorization } }));
    },
    async until(wanted, signal) {
      const list = listSchema.parse(
        await (await expectOk(fetch(url, { signal, headers: { authorization } }))).json(),
      );
      const objects = new Map(list.items.map((object) => [object.metadata.name, object]));
      if (wanted(objects)) return;
      const watch = `${url}?watch=true&resourceVersion=${list.metadata.resourceVersion}`;
      try {
        for await (const line of lines(
          await expectOk(fetch(watch, { signal, headers: { authorization } })),
        )) {
          const { type, object } = frameSchema.parse(JSON.parse(line));
          if (type === "DELETED") objects.delete(object.metadata.name);
          else objects.set(object.metadata.name, object);
          if (wanted(objects)) return;
        }
      } catch (cause) {
        throw new Error(
          `What was waited for did not come. The objects: ${JSON.stringify([...objects.values()], undefined, 1)}`,
          { cause },
        );
      }
      throw new Error("The watch ended before what was waited for came.");
    },
  };
}

async function expectOk(answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`);
  return response;
}

async function* lines(response: Response): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const [...whole] = (rest + piece).split("\n");
    rest = whole.pop() ?? "";
    yield* whole.filter((line) => line !== "");
  }
}
