import { z } from "zod";
import { type Started, startProcess, untilSo } from "./start-process.ts";

/** controller-runtime with everything as it is by default, or client-go's reflector alone. */
export interface GoContender {
  readonly process: Started;
  /** Resolves when its cache (or store) holds the first listing, with the ms since the start. */
  readonly synced: () => Promise<number>;
  /** A reflector's: resolves when it has taken the key that it waits for; ms of the monotonic clock. */
  readonly ended: () => Promise<number>;
}

export interface GoOptions {
  readonly program: string;
  readonly kubeconfig: string;
  readonly logFile: string;
  readonly be: "controller" | "reflector";
  readonly metadata: boolean;
  /** A controller's file of runs. */
  readonly runs?: string;
  /** The key of a reflector's last event. */
  readonly end?: string;
}

const reportSchema = z.object({
  event: z.enum(["synced", "ended"]),
  at: z.number().transform((nanoseconds) => nanoseconds / 1e6),
});

export async function startGo({ program, kubeconfig, logFile, be, ...how }: GoOptions): Promise<GoContender> {
  const events = new Map<string, number>();
  const child = await startProcess({
    name: `the Go ${be}`,
    command: program,
    args: [
      be,
      ...(how.metadata ? ["-metadata"] : []),
      ...(how.runs === undefined ? [] : ["-runs", how.runs]),
      ...(how.end === undefined ? [] : ["-end", how.end]),
    ],
    logFile,
    env: { KUBECONFIG: kubeconfig },
    onLine(line, stream) {
      if (stream !== "stdout" || !line.startsWith('{"at"')) return;
      const { event, at } = reportSchema.parse(JSON.parse(line));
      events.set(event, at);
    },
  });
  const when = async (event: "synced" | "ended"): Promise<number> => {
    await untilSo(child, event, () => events.has(event));
    return events.get(event) ?? NaN;
  };
  return {
    process: child,
    synced: async () => (await when("synced")) - child.startedAt,
    ended: () => when("ended"),
  };
}
