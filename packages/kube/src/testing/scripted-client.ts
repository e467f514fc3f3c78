import { onTestFinished } from "vitest";
import { connect, type ConnectOptions } from "../client/connect.ts";
import { type ReplyScript, scriptedServer } from "./scripted-server.ts";

/** A scripted server and a client of it, until the test has ended. */
export async function scriptedClient(
  scripts: ReplyScript | readonly ReplyScript[],
  options: Partial<ConnectOptions> = {},
) {
  const server = await scriptedServer(...[scripts].flat());
  onTestFinished(() => server[Symbol.asyncDispose]());
  const client = await connect({ kubeconfig: server.kubeconfig, ...options });
  onTestFinished(() => client.close());
  return { server, client };
}
