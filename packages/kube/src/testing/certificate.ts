import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server, type ServerOptions } from "node:https";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Makes a self-signed certificate for 127.0.0.1 with this common name, as `<name>.key` and `<name>.crt` in the folder. */
export async function makeCertificate(folder: string, name: string): Promise<Certificate> {
  const [keyFile, certFile] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1"];
  await promisify(execFile)("openssl", [
    ...["req", "-x509", ...curve, ...names],
    ...["-keyout", keyFile, "-out", certFile],
  ]);
  return { key: await readFile(keyFile, "utf8"), cert: await readFile(certFile, "utf8") };
}

/** Serves HTTPS on a free port of 127.0.0.1. */
export async function serveTls(options: ServerOptions, onRequest: RequestListener) {
  const server: Server = createServer(options, onRequest);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
