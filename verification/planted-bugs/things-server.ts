import { createServer, type IncomingMessage } from "node:http";
import type { OutsideWorld } from "@drover/testing";
import { z } from "zod";
import { text } from "node:stream/consumers";
import { listen } from "../harness/listen.ts";

const thingSchema = z.object({ id: z.string(), of: z.string() });
export type Thing = z.output<typeof thingSchema>;

/** A cloud: a POST makes a new thing each time, a PUT the one of that name, and leftovers are never collected. */
export async function thingsServer(): Promise<OutsideWorld> {
  const things = new Map<string, string>();
  let made = 0;
  const serve = async (request: IncomingMessage): Promise<unknown> => {
    const { method, url = "" } = request;
    const id = url.split("/")[2] ?? `${++made}`;
    if (method === "GET") return [...things].map(([each, of]) => ({ id: each, of }));
    if (method === "DELETE") return things.delete(id);
    things.set(id, await text(request));
    return { id, of: things.get(id) };
  };
  const server = createServer((request, response) => {
    void serve(request).then((answer) => response.end(JSON.stringify(answer)));
  });
  const port = await listen(server);
  return {
    urls: { things: `http://127.0.0.1:${port}` },
    state: () => Promise.resolve([...things.values()].sort()),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What a function does with them. */
export function thingsAt(url = "") {
  const ask = async (method: string, path: string, body?: string): Promise<unknown> => {
    const answer = await fetch(`${url}/things${path}`, { method, ...(body !== undefined && { body }) });
    if (!answer.ok) throw new Error(`The cloud answered ${answer.status}.`);
    return answer.json();
  };
  return {
    list: async () => z.array(thingSchema).parse(await ask("GET", "")),
    /** A new one, whatever there is. */
    post: async (of: string) => thingSchema.parse(await ask("POST", "", of)),
    /** The one of this name. */
    put: async (id: string, of: string) => thingSchema.parse(await ask("PUT", `/${id}`, of)),
    delete: (id: string) => ask("DELETE", `/${id}`),
  };
}
