import { z } from "zod";
import type { ReadOptions } from "./client.ts";
import { isApiError } from "../errors.ts";
import { type ClientParts, read } from "./exchange.ts";
import { parsedAs } from "./reply.ts";
import { documentRequest } from "./request-shape.ts";
import type { ResourceRef } from "../objects/resource-ref.ts";

const groupSchema = z.looseObject({ versions: z.array(z.looseObject({ version: z.string() })) });
const versionSchema = z.looseObject({ resources: z.array(z.looseObject({ name: z.string() })) });

const serverSchema = z.looseObject({ gitVersion: z.string() });

/** The version that the API server reports of itself. */
export async function serverVersion(parts: ClientParts, options: ReadOptions): Promise<string> {
  const shape = documentRequest("/version");
  return parsedAs(shape.name, serverSchema, await read(parts, shape, options)).gitVersion;
}

/** Asks the API server's discovery for the kind, in all versions of its group. */
export async function isServed(
  parts: ClientParts,
  { group, plural }: ResourceRef,
  options: ReadOptions,
): Promise<boolean> {
  const path = group === "" ? "/api" : `/apis/${group}`;
  const document = async <T extends z.ZodType>(schema: T, at: string): Promise<z.output<T> | undefined> => {
    const shape = documentRequest(at);
    try {
      return parsedAs(shape.name, schema, await read(parts, shape, options));
    } catch (error) {
      if (isApiError(error, "NotServed")) return undefined;
      throw error;
    }
  };
  const core = { versions: [{ version: "v1" }] };
  const { versions } = (group === "" ? core : await document(groupSchema, path)) ?? { versions: [] };
  for (const { version } of versions) {
    const { resources = [] } = (await document(versionSchema, `${path}/${version}`)) ?? {};
    if (resources.some(({ name }) => name === plural)) return true;
  }
  return false;
}
