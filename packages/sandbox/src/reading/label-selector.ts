// Label selectors in the text form of queries: `app=a,tier in (x,y),!old,n>3` (apimachinery, labels/selector.go).
import { labelKeyFaults, labelValueFaults } from "../admission/names.ts";
import { badRequest } from "../http/status.ts";

type Labels = (key: string) => string | undefined;
type Requirement = (labels: Labels) => boolean;

const special = /^(==|!=|=|!|\(|\)|,|>|<)/;
const tokens = (text: string): string[] => {
  const found: string[] = [];
  for (let rest = text.trimStart(); rest !== "";) {
    const [token = ""] = special.exec(rest) ?? /^[^\s=!(),<>]+/.exec(rest) ?? [rest];
    found.push(token);
    rest = rest.slice(token.length).trimStart();
  }
  return found;
};

/** The tokens that are left. `in` and `notin` are words (`isWord`) except in the place of an operator. */
interface Reader {
  readonly at: () => string;
  readonly take: () => string;
}
const isWord = (token: string): boolean => token !== "" && !special.test(token);
const unread = (found: string, expected: string): Error =>
  badRequest(`unable to parse requirement: found '${found}', expected: ${expected}`);
const invalid = (path: string, value: string, why: string): Error =>
  badRequest(`unable to parse requirement: ${path}: Invalid value: ${JSON.stringify(value)}: ${why}`);

function valuesIn({ at, take }: Reader): readonly string[] {
  const opened = take();
  if (opened !== "(") throw badRequest(`unable to parse requirement: found '${opened}' expected: '('`);
  const values: string[] = [];
  if (at() !== ")" && at() !== "," && !isWord(at())) throw unread(at(), "',', ')' or identifier");
  for (let value = ""; ;) {
    if (isWord(at())) {
      value = take();
      if (at() !== "," && at() !== ")") throw unread(at(), "',' or ')'");
    }
    values.push(value);
    value = "";
    const next = take();
    if (next === ")") return values;
    if (next !== ",") throw unread(next, "',', or identifier");
  }
}

function checked(key: string, values: readonly string[]): void {
  values.forEach((value, i) => {
    const faults = labelValueFaults(value);
    if (faults.length > 0) throw invalid(`values[${i}][${key}]`, value, faults.join("; "));
  });
}

const integer = /^[+-]?\d+$/;
function compared(key: string, bound: string, isLess: boolean): Requirement {
  if (!integer.test(bound))
    throw invalid("values[0]", bound, "for 'Gt', 'Lt' operators, the value must be an integer");
  return (labels) => {
    const found = labels(key) ?? "";
    return integer.test(found) && (isLess ? Number(found) < Number(bound) : Number(found) > Number(bound));
  };
}

function exactValue({ at, take }: Reader): string {
  if (at() === "" || at() === ",") return "";
  const value = take();
  if (!isWord(value)) throw unread(value, "identifier");
  return value;
}

function requirement(reader: Reader): Requirement {
  const negated = reader.at() === "!";
  if (negated) reader.take();
  const key = reader.take();
  if (!isWord(key)) throw unread(key, "identifier");
  const faults = labelKeyFaults(key);
  if (faults.length > 0) throw invalid("<nil>", key, faults.join("; "));
  if (negated) return (labels) => labels(key) === undefined;
  if (reader.at() === "" || reader.at() === ",") return (labels) => labels(key) !== undefined;
  const operator = reader.take();
  switch (operator) {
    case "in":
    case "notin": {
      const values = valuesIn(reader);
      checked(key, values);
      return (labels) => values.includes(labels(key) ?? "\0") === (operator === "in");
    }
    case "=":
    case "==":
    case "!=": {
      const value = exactValue(reader);
      checked(key, [value]);
      return (labels) => (labels(key) === value) === (operator !== "!=");
    }
    case ">":
    case "<":
      return compared(key, exactValue(reader), operator === "<");
    default:
      throw unread(operator, "in, notin, =, ==, !=, gt, lt");
  }
}

/** The predicate of a selector. Throws 400 with the words of the server if it cannot be parsed. */
export function labelRequirements(text: string): Requirement {
  const left = tokens(text);
  const reader: Reader = { at: () => left[0] ?? "", take: () => left.shift() ?? "" };
  const all: Requirement[] = [];
  const starts = (token: string): boolean => token === "!" || isWord(token);
  while (reader.at() !== "") {
    if (!starts(reader.at()))
      throw badRequest(`found '${reader.at()}', expected: !, identifier, or 'end of string'`);
    all.push(requirement(reader));
    const next = reader.take();
    if (next !== "" && next !== ",") throw badRequest(`found '${next}', expected: ',' or 'end of string'`);
    if (next === "," && !starts(reader.at()))
      throw badRequest(`found '${reader.at()}', expected: identifier after ','`);
  }
  return (labels) => all.every((one) => one(labels));
}
