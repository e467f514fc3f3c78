import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A refusal of a call with this code, or a change of its answer. */
type Fault = { readonly status: number; readonly code: string } | ((answer: string) => string);

/** A front of an AWS server: it records the actions that are called, and makes some fail. */
export interface AwsFront {
  readonly url: string;
  /** The actions since the last `forget`, in order. */
  readonly actions: readonly string[];
  /** Those that change something. */
  readonly writes: () => readonly string[];
  /** By action. */
  readonly faults: Map<string, Fault>;
  /** The parameters of the last call of an action. */
  last(action: string): URLSearchParams;
  forget(): void;
  close(): Promise<void>;
}

export async function startAwsFront(behind: string): Promise<AwsFront> {
  const actions: string[] = [];
  const faults = new Map<string, Fault>();
  const called = new Map<string, URLSearchParams>();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = new URLSearchParams(await text(request));
    const action = body.get("Action") ?? "";
    actions.push(action);
    called.set(action, body);
    const fault = faults.get(action);
    if (typeof fault === "object") {
      response.writeHead(fault.status, { "content-type": "text/xml" });
      response.end(
        `<ErrorResponse><Error><Code>${fault.code}</Code><Message>m</Message></Error></ErrorResponse>`,
      );
      return;
    }
    const headers = { authorization: request.headers.authorization ?? "" };
    const sent = { method: "POST", headers, body };
    const answer = await fetch(behind, sent);
    const given = await answer.text();
    response.writeHead(answer.status, { "content-type": "text/xml" });
    response.end(fault === undefined ? given : fault(given));
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    actions,
    writes: () => actions.filter((action) => !action.startsWith("Describe")),
    faults,
    last: (action) => called.get(action) ?? new URLSearchParams(),
    forget() {
      actions.length = 0;
      faults.clear();
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
