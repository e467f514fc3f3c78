// How a process outside has the one inside run other controllers: HTTP on a Unix socket in the cluster's folder, which is
// the same on both sides. What it asks for is answered when it is done.
import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { z } from "zod";
import type { ChosenControllers } from "../controller-manager.ts";

const controllersSchema = z.array(z.string());

/** Inside: does what is asked for at `path`. It ends with its process. */
export async function answerControllers(path: string, manager: ChosenControllers): Promise<void> {
  const carryOut = async (asked: IncomingMessage): Promise<void> => {
    if (asked.method === "DELETE") await manager.stopControllers();
    else await manager.runControllers(controllersSchema.parse(JSON.parse(await text(asked))));
  };
  const server = createServer((asked, answer) => {
    carryOut(asked).then(
      () => answer.writeHead(204).end(),
      (error: unknown) => answer.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  server.listen(path);
  await once(server, "listening");
}

/** Outside: asks at `path`. */
export const askForControllers = (path: string): ChosenControllers => ({
  runControllers: (controllers) => ask(path, "PUT", JSON.stringify(controllers)),
  stopControllers: () => ask(path, "DELETE", ""),
});

async function ask(socketPath: string, method: string, body: string): Promise<void> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    request({ socketPath, method, agent: false }, resolve).on("error", reject).end(body),
  );
  const output = await text(answer);
  if (answer.statusCode !== 204) throw new Error(output);
}
