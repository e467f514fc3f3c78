import type { ObjectKey } from "@drover/controller";
import { z } from "zod";
import type { KubeClient, ReadOptions } from "../client/client.ts";
import { builtin } from "./resource-ref.ts";

/** A secret cannot be used. The message has where it was looked up and what to do, and never the secret. */
export class SecretError extends Error {
  override readonly name = "SecretError";
}

const secretSchema = z.object({ data: z.record(z.string(), z.base64()).nullish() });

/** The values of a Secret by key, decoded as UTF-8. */
export const secretValues = (secret: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(secretSchema.parse(secret).data ?? {}).map(([key, value]) => [
      key,
      Buffer.from(value, "base64").toString("utf8"),
    ]),
  );

/** The values of a Secret by key; undefined if it does not exist. Reads live, and keeps nothing. */
export async function readSecret(
  client: Pick<KubeClient, "get">,
  key: ObjectKey,
  options: ReadOptions,
): Promise<Readonly<Record<string, string>> | undefined> {
  const secret = await client.get(builtin.secret, key, options);
  return secret && secretValues(secret);
}
