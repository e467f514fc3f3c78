/** A path after an error that no test takes, by its file and the line that it begins on. */
interface Explained {
  readonly file: string;
  readonly code: string;
  readonly reason: string;
}

const EXPLAINED: readonly Explained[] = [];

/** Why no test takes a path, where there is a reason. */
export const explanation = (file: string, code: string): string | undefined =>
  EXPLAINED.find((one) => one.file === file && one.code === code)?.reason;
