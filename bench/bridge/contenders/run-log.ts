import { closeSync, openSync, readSync } from "node:fs";
import { z } from "zod";

/** One run: its key, and when it began: ms of the machine's monotonic clock. */
export interface RunStart {
  readonly key: string;
  readonly at: number;
}

/** The file to which a no-op worker or reconciler writes a line per run. */
export interface RunLog {
  /** What was added since the last call. */
  read(): readonly RunStart[];
}

const nanoseconds = z.string().transform((text) => Number(text) / 1e6);
const line = z.tuple([z.string(), nanoseconds]);

export function followRunLog(file: string): RunLog {
  let offset = 0;
  let rest = "";
  return {
    read() {
      const bytes = readFrom(file, offset);
      offset += bytes.length;
      const text = rest + bytes.toString();
      const end = text.lastIndexOf("\n") + 1;
      rest = text.slice(end);
      return text.slice(0, end).split("\n").filter(Boolean).map(parsed);
    },
  };
}

function parsed(text: string): RunStart {
  const [key, at] = line.parse(text.split(" "));
  return { key, at };
}

function readFrom(file: string, offset: number): Buffer {
  const descriptor = openSync(file, "a+");
  try {
    const chunks: Buffer[] = [];
    for (let at = offset; ;) {
      const chunk = Buffer.allocUnsafe(1 << 20);
      const bytes = readSync(descriptor, chunk, 0, chunk.length, at);
      if (bytes === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, bytes));
      at += bytes;
    }
  } finally {
    closeSync(descriptor);
  }
}
