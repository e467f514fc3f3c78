import { equal, field, isArray, isObject } from "../json.ts";
import type { Json } from "../json.ts";

/** Maps a value to the values that one step of a path selects. */
type Step = (value: Json) => readonly Json[];

const token =
  /^\.?((?:[^.[\]\\]|\\.)+)|^\.?\[(?:'([^']*)'|"([^"]*)"|(\d+)|(\*)|\?\(@\.([^=!<>\s]+)\s*==\s*(?:'([^']*)'|"([^"]*)"|([^)]*))\))\]/;

const child =
  (key: string): Step =>
  (value) => {
    const found = field(value, key);
    return found === undefined ? [] : [found];
  };
const everyChild: Step = (value) => (isArray(value) ? value : isObject(value) ? Object.values(value) : []);

function stepOf(match: RegExpExecArray): Step {
  const [, plain, single, double, index, all, path, text, quoted, bare] = match;
  const bracketed = single ?? double;
  // As in Go, such a key is a path again.
  if (bracketed !== undefined) return jsonPath(`.${bracketed}`);
  const key = plain?.replaceAll(/\\(.)/g, "$1");
  if (key === "*" || all) return everyChild;
  if (key !== undefined) return child(key);
  if (index !== undefined)
    return (value) => (isArray(value) ? value.slice(Number(index), Number(index) + 1) : []);
  const wanted: Json = text ?? quoted ?? (bare === "true" ? true : bare === "false" ? false : Number(bare));
  return (value) => everyChild(value).filter((one) => equal(field(one, ...(path ?? "").split(".")), wanted));
}

/**
 * Compiles a JSONPath as printer columns use them: `.a.b`, `['a']`, `[0]`, `[*]`, `[?(@.type=="Ready")]`.
 * The function returns all values that the path selects. A path with an error selects nothing.
 */
export function jsonPath(path: string): (value: Json) => readonly Json[] {
  const steps: Step[] = [];
  for (let rest = path; rest !== "" && rest !== ".";) {
    const match = token.exec(rest);
    if (!match) return () => [];
    steps.push(stepOf(match));
    rest = rest.slice(match[0].length);
  }
  return (value) => steps.reduce<readonly Json[]>((found, step) => found.flatMap(step), [value]);
}
