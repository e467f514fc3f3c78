// The hooks of both contestants, over HTTP: each answers with the children in the parent's spec.
import { type KubeObject, kubeObjectSchema } from "@drover/kube";
import { receiveCall, signMessage, readSignatureHeaders } from "@drover/webhook";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { makeCertificate, serveTls } from "../../../packages/kube/src/testing/certificate.ts";
import { listen } from "../../harness/listen.ts";
import { type HookCalls, versionsOf } from "./hook-calls.ts";

/** The identity of Drover's function, and what it shares with the gateway. */
export const droverFunction = {
  namespace: "default",
  name: "bundles",
  secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
};

export interface HookServer {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** The same over TLS, with the certificate in this file. */
  readonly secureOrigin: string;
  readonly certificateFile: string;
  close(): void;
}

/**
 * `/metacontroller` is a sync hook; every other path is a function that Drover's gateway calls.
 *
 * @param folder for the certificate.
 */
export async function openHookServer(calls: HookCalls, folder: string): Promise<HookServer> {
  const serve: RequestListener = (request, response) => {
    const hook = request.url === "/metacontroller" ? metacontrollerHook : droverHook;
    hook(calls, request, response).catch((error: unknown) => {
      console.error(error);
      response.writeHead(500).end();
    });
  };
  const server = createServer(serve);
  const origin = `http://127.0.0.1:${await listen(server)}`;
  const secure = await serveTls(await makeCertificate(folder, "hooks"), serve);
  return {
    origin,
    secureOrigin: secure.url,
    certificateFile: join(folder, "hooks.crt"),
    close() {
      for (const each of [server, secure.server]) {
        each.close();
        each.closeAllConnections();
      }
    },
  };
}

const declaredSchema = z.object({
  spec: z.looseObject({ children: z.array(z.looseObject({ kind: z.string() })) }),
});
const declaredBy = (parent: unknown) => declaredSchema.parse(parent).spec.children;

function record(calls: HookCalls, parent: KubeObject, children: readonly KubeObject[]): void {
  const { uid, generation = 0 } = parent.metadata;
  calls.record({ parentUid: uid, generation, observed: versionsOf(children) });
}

const syncSchema = z.object({
  parent: kubeObjectSchema,
  children: z.record(z.string(), z.record(z.string(), kubeObjectSchema)),
});

async function metacontrollerHook(calls: HookCalls, request: IncomingMessage, response: ServerResponse) {
  const { parent, children } = syncSchema.parse(JSON.parse((await buffer(request)).toString()));
  record(
    calls,
    parent,
    Object.values(children).flatMap((named) => Object.values(named)),
  );
  const answer = { status: {}, children: declaredBy(parent) };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

async function droverHook(calls: HookCalls, request: IncomingMessage, response: ServerResponse) {
  const { namespace, name, secret } = droverFunction;
  const { call } = receiveCall({
    headers: readSignatureHeaders((header) => [request.headers[header]].flat()[0]),
    body: await buffer(request),
    secrets: [secret],
    audience: { name: `${namespace}/${name}` },
    now: Date.now(),
  });
  const parent = kubeObjectSchema.parse(call.object);
  record(
    calls,
    parent,
    (call.children ?? []).map((child) => kubeObjectSchema.parse(child)),
  );
  const children = declaredBy(parent).map((object) =>
    object.kind === "Secret" ? { object, update: "Recreate" } : object,
  );
  const body = JSON.stringify({ outcome: "composed", children });
  const signed = signMessage([secret], { id: call.token, at: Date.now() }, body);
  response.writeHead(200, { "content-type": "application/json", ...signed }).end(body);
}
