import { expect, it } from "vitest";
import { parseLogLine } from "./log-line.ts";

it.each(["", "Listening", "{", '{"level":"info"', "{}", '{"level":"info","msg":7}', "[]"])(
  "%j is no line of a log, and passed over",
  (text) => expect(parseLogLine(text)).toBeUndefined(),
);

it("reads a line of a log, with what else stands in it", () => {
  const line = { level: "info", msg: "Serving", url: "http://127.0.0.1:1", more: [1] };
  expect(parseLogLine(JSON.stringify(line))).toEqual(line);
});
