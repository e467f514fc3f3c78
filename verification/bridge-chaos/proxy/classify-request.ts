import type { Asked } from "../oracle/facts.ts";

/** Classifies a request to an API server. `collection` is the one that faults are for. */
export function classifyRequest(
  { path, query }: Pick<Asked, "path" | "query">,
  collection: string,
): Pick<Asked, "verb" | "path" | "query"> {
  return { path, query, verb: path === collection ? verbOf(new URLSearchParams(query)) : "other" };
}

function verbOf(query: URLSearchParams): Asked["verb"] {
  if (isTrue(query.get("watch"))) return isTrue(query.get("sendInitialEvents")) ? "stream" : "watch";
  return (query.get("continue") ?? "") === "" ? "list" : "page";
}

const isTrue = (value: string | null): boolean => value === "true" || value === "1";

/** The same request, for smaller pages where it asks for pages. */
export function withPagesOf(url: string, size: number): string {
  const smaller = new URL(url, "http://api");
  const limit = Number(smaller.searchParams.get("limit") ?? 0);
  if (size > 0 && limit > size) smaller.searchParams.set("limit", String(size));
  return smaller.pathname + smaller.search;
}
