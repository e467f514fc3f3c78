import { connect } from "node:net";

/**
 * Sends one command to a Redis on loopback over a connection of its own, and answers the reply's text without its
 * type mark: `PONG`, a number, the bytes of a bulk string. Undefined when there is no such value.
 * Enough to look after a server; programs use a client library.
 *
 * Rejects when the connection fails, when the signal is aborted, and with an error reply's text.
 *
 * @param password of the default user, if it has one.
 */
export function redisRequest(
  port: number,
  command: readonly string[],
  signal?: AbortSignal,
  password?: string,
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", ...(signal ? { signal } : {}) });
    let received = "";
    socket.setEncoding("latin1");
    socket
      .on("error", reject)
      .on("close", () => reject(new Error(`127.0.0.1:${port} closed the connection`)));
    socket.on("data", (chunk: string) => {
      received += chunk;
      const reply = parseReply(password === undefined ? received : received.replace(authenticated, ""));
      if (reply === "incomplete") return;
      if (reply.ok) resolve(reply.value);
      else reject(new Error(reply.error));
      socket.destroy();
    });
    socket.write((password === undefined ? "" : encode(["AUTH", password])) + encode(command));
  });
}

/** The reply to AUTH, in front of the command's. A refusal is the reply. */
const authenticated = /^\+OK\r\n/;

function encode(command: readonly string[]): string {
  const words = command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${command.length}\r\n${words.join("")}`;
}

type Reply = "incomplete" | { ok: true; value: string | undefined } | { ok: false; error: string };

function parseReply(received: string): Reply {
  const end = received.indexOf("\r\n");
  if (end === -1) return "incomplete";
  const text = received.slice(1, end);
  switch (received.charAt(0)) {
    case "+":
    case ":":
      return { ok: true, value: text };
    case "$":
      return parseBulk(received.slice(end + 2), Number(text));
    default:
      return { ok: false, error: text };
  }
}

function parseBulk(rest: string, length: number): Reply {
  if (length < 0) return { ok: true, value: undefined };
  return rest.length < length + 2
    ? "incomplete"
    : { ok: true, value: Buffer.from(rest.slice(0, length), "latin1").toString() };
}
