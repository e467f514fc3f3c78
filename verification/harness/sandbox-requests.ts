import type { Sandbox } from "@drover/sandbox";

/** Requests to a sandbox, past all that is tested; a PATCH merges. */
export const requestTo =
  ({ url, token }: Pick<Sandbox, "url" | "token">) =>
  (method: string, path: string, body: object): Promise<Response> =>
    fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
      },
      body: JSON.stringify(body),
    });

/** Creates an object. @returns it as the server answers. @throws with the server's answer if it refuses. */
export const postTo =
  (sandbox: Pick<Sandbox, "url" | "token">) =>
  async (path: string, body: object): Promise<unknown> => {
    const response = await requestTo(sandbox)("POST", path, body);
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
