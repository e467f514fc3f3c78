import type { Format } from "./formats.ts";

/** Cuts the bytes of a watch into its frames: a line each, or a length prefix of four bytes and as many bytes. */
export interface FrameCutter {
  /** The frames that these bytes complete, whole with what separates them. */
  readonly cut: (bytes: Buffer) => readonly Buffer[];
}

export function frameCutter(format: Format): FrameCutter {
  const endOf = format === "metadata-protobuf" ? endOfCounted : endOfLine;
  let rest: Buffer = Buffer.alloc(0);
  return {
    cut(bytes) {
      rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const frames: Buffer[] = [];
      for (;;) {
        const end = endOf(rest);
        if (end === undefined || end > rest.length) return frames;
        frames.push(rest.subarray(0, end));
        rest = rest.subarray(end);
      }
    },
  };
}

function endOfLine(bytes: Buffer): number | undefined {
  const newline = bytes.indexOf(10);
  return newline === -1 ? undefined : newline + 1;
}

const endOfCounted = (bytes: Buffer): number | undefined =>
  bytes.length < 4 ? undefined : 4 + bytes.readUInt32BE(0);

/** The bookmark after which a watch that began with a listing goes on with what happens. */
export const endsInitialEvents = (frame: Buffer): boolean => frame.includes("k8s.io/initial-events-end");
