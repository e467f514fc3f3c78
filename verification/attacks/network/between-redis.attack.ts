import { silentLog } from "@drover/controller";
import { freePort, privateTls } from "@drover/local-servers";
import { connectRedis, disconnectRedis } from "@drover/queue";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import type { Attack } from "../attack.ts";

const canary = "canary-password";

/** A machine between a process and Redis, with a certificate for the right host by an authority of its own. */
export const attack: Attack = {
  name: "a machine between a process and Redis gets no password",
  kind: "machine in the middle",
  needs: [],
  async run() {
    const folder = await mkdtemp(join(tmpdir(), "drover-between-"));
    const [genuine, forged] = [await privateTls(folder, "genuine"), await privateTls(folder, "forged")];
    const seen: string[] = [];
    const port = await freePort();
    const server = createServer(
      { key: await readFile(join(folder, "forged-key")), cert: await readFile(join(folder, "forged-crt")) },
      (socket) =>
        void socket
          .on("data", (data: Buffer) => void seen.push(data.toString()))
          .on("error", () => undefined),
    ).listen(port, "127.0.0.1");
    await once(server, "listening");
    const attempt = (ca: string | undefined, connectTimeout: number): Promise<string> =>
      connectRedis({
        url: `rediss://function@127.0.0.1:${port}`,
        password: canary,
        clientName: "attacked",
        log: silentLog,
        connectTimeout,
        loadsScripts: false,
        ...(ca !== undefined && { ca }),
      }).then(
        async (redis) => disconnectRedis(redis).then(() => "connected"),
        (error: unknown) => String(error),
      );
    const words: string[] = [];
    try {
      for (const ca of [genuine.ca, undefined]) words.push(await attempt(ca, 5_000));
      const succeeded = seen.join("").includes(canary);
      // Control: a client that trusts the forged authority sends it.
      await attempt(forged.ca, 1_000);
      if (!seen.join("").includes(canary))
        throw new Error("Nothing is sent to an authority that is believed either.");
      return { succeeded, evidence: succeeded ? "the password was sent" : (words[0] ?? "") };
    } finally {
      server.close();
      await rm(folder, { recursive: true });
    }
  },
};
