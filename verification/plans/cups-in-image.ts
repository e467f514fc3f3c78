// The program of an image in tests: a function that is called, in a way that depends on the tea. Before it answers a call, it
// writes down what it sees: its environment and the files of the folders that the environment names.
import { readSignatureHeaders, receiveCall, signMessage } from "@drover/webhook";
import { readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { z } from "zod";

const env = z
  .looseObject({
    DROVER_HTTP_HOST: z.string(),
    DROVER_HTTP_PORT: z.string(),
    DROVER_WEBHOOK_SECRETS: z.string(),
    DROVER_WEBHOOK_AUDIENCE: z.string(),
    DROVER_WEBHOOK_UID: z.string(),
    SEEN: z.string(),
    VERSION: z.string(),
  })
  .parse(process.env);

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    statSync(join(folder, file)).isFile(),
  );
const secretsFolder = realpathSync(env.DROVER_WEBHOOK_SECRETS);
const secret = readFileSync(join(secretsFolder, "current"), "utf8");
const callSchema = z.looseObject({ spec: z.object({ tea: z.string() }) });

/** Answers that are not those of a function, by the tea. */
const hostile: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  unsigned: (response) => response.writeHead(200).end('{"outcome":"composed","children":[]}'),
  redirect: (response) =>
    response.writeHead(307, { location: "/api/v1/namespaces/default/configmaps" }).end(),
  huge: (response) => response.writeHead(200).end(Buffer.alloc(2 ** 21, "a")),
  forbidden: (response) => response.writeHead(403).end("\u001b[2Jhunter2"),
  exits: () => process.exit(7),
  silent: () => undefined,
};

const configMapOf = (data: object) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a" },
  data,
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { headers, url, method } = request;
  const body = await buffer(request);
  const files = filesBelow(secretsFolder);
  writeFileSync(env.SEEN, JSON.stringify({ env: process.env, files, headers, url, method, secret }));
  if (headers["webhook-id"] === undefined) {
    const { parent } = z.looseObject({ parent: callSchema }).parse(JSON.parse(body.toString()));
    const data = { tea: parent.spec.tea, version: env.VERSION };
    return void response.writeHead(200).end(JSON.stringify({ children: [configMapOf(data)] }));
  }
  const { call } = receiveCall({
    headers: readSignatureHeaders((name) => [headers[name]].flat()[0]),
    body,
    secrets: [secret],
    audience: { name: env.DROVER_WEBHOOK_AUDIENCE, uid: env.DROVER_WEBHOOK_UID },
    now: Date.now(),
  });
  const { tea } = callSchema.parse(call.object).spec;
  const answerOf = hostile[tea];
  if (answerOf !== undefined) return void answerOf(response);
  const data = { tea, version: env.VERSION };
  const result =
    tea === "escapes"
      ? { outcome: "failed", message: "\u001b[2J\u202edone" }
      : {
          outcome: "composed",
          children: [configMapOf(data)],
          status: { filled: true },
        };
  const answer = JSON.stringify(result);
  response
    .writeHead(200, { ...signMessage([secret], { id: call.token, at: Date.now() }, answer) })
    .end(answer);
}

createServer((request, response) => {
  serve(request, response).catch((error: unknown) => response.writeHead(401).end(String(error)));
}).listen(Number(env.DROVER_HTTP_PORT), env.DROVER_HTTP_HOST, () => console.log("listening"));
