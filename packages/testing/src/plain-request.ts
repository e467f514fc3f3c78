/**
 * Asks an API server by plain HTTP, where the kind of the object need not be known; of a PATCH the body is a merge patch.
 *
 * @param url without credentials.
 * @returns the body of the answer, whatever it says.
 */
export async function plainRequest(url: string, method: "PATCH" | "DELETE", body: object): Promise<string> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const headers = { "content-type": type };
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  return response.text();
}
