import { writeJson } from "@drover/json";
import { type ApiAddress, authorizationHeader } from "./api-address.ts";

/** A write by plain HTTP. */
export interface PlainWrite {
  readonly method: "POST" | "PATCH" | "DELETE";
  /** With its query. */
  readonly path: string;
  readonly body: object;
  /** How the body of a PATCH is meant. Default: `merge`. */
  readonly patch?: "merge" | "strategic-merge";
}

export interface PlainResponse {
  readonly status: number;
  readonly text: string;
}

/** Asks an API server by plain HTTP, where the kind of the object need not be known. It answers whatever comes. */
export async function plainRequest(
  address: ApiAddress,
  { method, path, body, patch = "merge" }: PlainWrite,
): Promise<PlainResponse> {
  const type = method === "PATCH" ? `application/${patch}-patch+json` : "application/json";
  const headers = { "content-type": type, ...authorizationHeader(address) };
  const response = await fetch(address.server + path, { method, headers, body: writeJson(body) });
  return { status: response.status, text: await response.text() };
}
