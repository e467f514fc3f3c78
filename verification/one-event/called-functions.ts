import { z } from "zod";

/** The functions that a Node process calls, by the profiler of its inspector. */
export interface CalledFunctions {
  /** The functions called since the last take: for each, its script's URL and the offset of its first character. */
  take(): Promise<readonly CalledFunction[]>;
  close(): void;
}

export interface CalledFunction {
  readonly url: string;
  readonly offset: number;
}

const replySchema = z.object({ id: z.int(), result: z.unknown(), error: z.unknown().optional() });
const coverageSchema = z.object({
  result: z.array(
    z.object({
      url: z.string(),
      functions: z.array(
        z.object({ ranges: z.array(z.object({ startOffset: z.int(), count: z.int() })).min(1) }),
      ),
    }),
  ),
});

/**
 * Counts the calls of a process that was started with `--inspect`
 * (https://chromedevtools.github.io/devtools-protocol/v8/Profiler/).
 *
 * @param url the WebSocket that the process prints at its start.
 * @throws Error if the inspector cannot be reached, or refuses a command.
 */
export async function openCalledFunctions(url: string): Promise<CalledFunctions> {
  const socket = new WebSocket(url);
  const pending = new Map<number, (reply: z.output<typeof replySchema>) => void>();
  socket.addEventListener("message", ({ data }) => {
    const reply = replySchema.safeParse(JSON.parse(String(data))).data;
    if (reply !== undefined) pending.get(reply.id)?.(reply);
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(new Error(`The inspector at ${url} cannot be reached.`)));
  });
  let last = 0;
  const command = async (method: string, params: object = {}): Promise<unknown> => {
    const id = ++last;
    const replied = new Promise<z.output<typeof replySchema>>((resolve) => pending.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await replied;
    pending.delete(id);
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  };
  await command("Profiler.enable");
  await command("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  return {
    async take() {
      const { result } = coverageSchema.parse(await command("Profiler.takePreciseCoverage"));
      return result.flatMap(({ url: script, functions }) =>
        functions.flatMap(({ ranges: [range] }) =>
          range !== undefined && range.count > 0 ? [{ url: script, offset: range.startOffset }] : [],
        ),
      );
    },
    close: () => socket.close(),
  };
}
