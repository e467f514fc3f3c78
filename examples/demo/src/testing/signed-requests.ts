import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** Passes requests on to an S3 server, and records the credentials that signed them. */
export interface SignedRequests {
  readonly url: string;
  /** Access key ids, each with the session token if there was one. */
  readonly signers: ReadonlySet<string>;
  close(): Promise<void>;
}

export async function recordSigners(target: string): Promise<SignedRequests> {
  const signers = new Set<string>();
  const pass = async (asked: IncomingMessage) => {
    const { authorization = "", "x-amz-security-token": token } = asked.headers;
    const id = /Credential=([^/]+)/.exec(authorization)?.[1];
    if (id !== undefined) signers.add([id, ...(token === undefined ? [] : [token])].join(" "));
    const body = await buffer(asked);
    const { method, headers } = asked;
    const onward = request(`${target}${asked.url ?? "/"}`, { method, headers }).end(body);
    const [reply] = (await once(onward, "response")) as [IncomingMessage];
    return { status: reply.statusCode ?? 502, headers: reply.headers, body: await buffer(reply) };
  };
  const server = createServer((asked, answer) => {
    pass(asked).then(
      ({ status, headers, body }) => answer.writeHead(status, headers).end(body),
      () => asked.socket.destroy(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    signers,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
