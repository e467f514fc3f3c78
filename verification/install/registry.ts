import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { listen } from "../harness/listen.ts";

interface Packed {
  /** The manifest in the tarball. */
  readonly manifest: { readonly name: string; readonly version: string };
  readonly tarball: string;
}

/**
 * Starts a registry in which one package is published, and which passes requests for others on. Its clients need no network but
 * loopback.
 *
 * @param upstream the URL of the registry with the others.
 * @returns its URL, and what ends it.
 */
export async function startRegistry({ manifest, tarball }: Packed, upstream: string) {
  const { name, version } = manifest;
  const bytes = readFileSync(tarball);
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  const server = createServer((request, response) => {
    const { url = "/", headers } = request;
    if (url === `${path}${name}`) {
      const dist = { tarball: `${origin}${path}${name}.tgz`, integrity };
      response.end(
        JSON.stringify({
          name,
          "dist-tags": { latest: version },
          versions: { [version]: { ...manifest, dist } },
        }),
      );
    } else if (url === `${path}${name}.tgz`) response.end(bytes);
    else
      passOn(new URL(url, upstream), headers.accept, response).catch((error: unknown) => {
        response.writeHead(502).end(String(error));
      });
  });
  // The same path as upstream: npm asks for the tarballs of others with their own paths.
  const path = new URL(upstream).pathname.replace(/\/?$/, "/");
  const origin = `http://127.0.0.1:${await listen(server)}`;
  return { url: `${origin}${path}`, close: () => server.close() };
}

async function passOn(url: URL, accept = "*/*", response: ServerResponse): Promise<void> {
  const { status, headers, body } = await fetch(url, { headers: { accept } });
  response.writeHead(status, { "content-type": headers.get("content-type") ?? "application/octet-stream" });
  await pipeline(body ?? [], response);
}
