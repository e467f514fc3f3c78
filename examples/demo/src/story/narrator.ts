import { oneLine } from "@drover/controller";
import { styleText } from "node:util";

/** The kind of a message, which determines its colour. */
export type Tone = "plain" | "good" | "bad" | "quiet";

/** Prints messages, one a line, with the seconds since the start. */
export interface Narrator {
  readonly print: (text: string, tone?: Tone) => void;
  /** Prints lines unchanged, without a time. */
  readonly printLines: (lines: readonly string[]) => void;
}

/** The destination of the lines. Colour is used only on terminals, and not if NO_COLOR is set. */
export type Output = Pick<NodeJS.WriteStream, "write">;

/**
 * @param now milliseconds since the start.
 */
export function narrator(output: Output, colour: boolean, now: () => number): Narrator {
  const styled = (format: Parameters<typeof styleText>[0], text: string): string =>
    colour ? styleText(format, text, { validateStream: false }) : text;
  return {
    print: (text, tone = "plain") => {
      const time = styled("dim", `${formatSeconds(now()).padStart(8)}  `);
      const format = formats[tone];
      const line = oneLine(text);
      output.write(`${time}${format === undefined ? line : styled(format, line)}\n`);
    },
    printLines: (lines) => void output.write(lines.map((line) => `${line}\n`).join("")),
  };
}

const formats: Readonly<Record<Tone, Parameters<typeof styleText>[0] | undefined>> = {
  plain: undefined,
  good: "green",
  bad: "red",
  quiet: "dim",
};

/** Milliseconds as readable text: `0.42 s`, `12.3 s`, `75 s`. */
export function formatSeconds(span: number): string {
  const value = span / 1_000;
  return `${value.toFixed(value < 10 ? 2 : value < 60 ? 1 : 0)} s`;
}
