import { writeJson } from "@drover/json";
import { type ApiAddress, authorizing } from "./api-address.ts";

/** A write by plain HTTP. */
export interface PlainWrite {
  /** The body of a PATCH is a merge patch. */
  readonly method: "PATCH" | "DELETE";
  readonly path: string;
  readonly body: object;
}

/**
 * Asks an API server by plain HTTP, where the kind of the object need not be known.
 *
 * @returns the body of the answer, whatever it says.
 */
export async function plainRequest(address: ApiAddress, { method, path, body }: PlainWrite): Promise<string> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const headers = { "content-type": type, ...authorizing(address) };
  const response = await fetch(address.server + path, { method, headers, body: writeJson(body) });
  return response.text();
}
