import { oneLine } from "@drover/controller";
import { styleText } from "node:util";

/** What kind of news a line is. */
export type Tone = "plain" | "good" | "bad" | "quiet";

/** Tells a person what happens, a line each, with the seconds since the start. */
export interface Narrator {
  readonly say: (text: string, tone?: Tone) => void;
  /** Lines as they are, without a time. */
  readonly show: (lines: readonly string[]) => void;
}

/** Where the lines go. Colour is for terminals, and for those who have not said NO_COLOR. */
export type Output = Pick<NodeJS.WriteStream, "write">;

/**
 * @param now milliseconds since the start.
 */
export function narrator(output: Output, colour: boolean, now: () => number): Narrator {
  const styled = (format: Parameters<typeof styleText>[0], text: string): string =>
    colour ? styleText(format, text, { validateStream: false }) : text;
  return {
    say: (text, tone = "plain") => {
      const time = styled("dim", `${seconds(now()).padStart(8)}  `);
      const format = formats[tone];
      const line = oneLine(text);
      output.write(`${time}${format === undefined ? line : styled(format, line)}\n`);
    },
    show: (lines) => void output.write(lines.map((line) => `${line}\n`).join("")),
  };
}

const formats: Readonly<Record<Tone, Parameters<typeof styleText>[0] | undefined>> = {
  plain: undefined,
  good: "green",
  bad: "red",
  quiet: "dim",
};

/** Milliseconds as a person reads them: `0.42 s`, `12.3 s`, `75 s`. */
export function seconds(span: number): string {
  const value = span / 1_000;
  return `${value.toFixed(value < 10 ? 2 : value < 60 ? 1 : 0)} s`;
}
