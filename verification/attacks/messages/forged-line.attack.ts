import type { Attack } from "../attack.ts";
import { printed } from "./printed.ts";

/** Ends of lines and marks of direction, by their code points; every one of them that Unicode has, not a list of ours. */
const odd = Array.from({ length: 0x11_0000 }, (_, point) => point).filter(
  (point) =>
    (point < 0xd800 || point > 0xdfff) &&
    /^[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]$/u.test(String.fromCodePoint(point)),
);

export const attack: Attack = {
  name: "untrusted text adds no line to a log or a terminal, and does not reverse the direction of text",
  kind: "text becomes structure",
  needs: [],
  async run({ log }) {
    log(`${odd.length} code points`);
    const script = `
      import { openLog } from "@drover/runtime";
      import { oneLine } from "@drover/controller";
      import { printableJson } from "./apps/cli/src/printable-json.ts";
      const words = ${JSON.stringify(odd)}.map((point) => "a" + String.fromCodePoint(point) + '{"level":"fatal"}');
      const log = openLog({ process: "attacked" });
      for (const word of words) log.warn({ key: word, [word]: [word] }, word);
      log.warn({ err: new Error(words.join("")) }, "all");
      console.log(oneLine(words.join("")));
      console.log(printableJson(words.join("")));`;
    const text = await printed({ script });
    const passed = odd.filter((point) => point !== 10 && text.includes(String.fromCodePoint(point)));
    const lines = text.trimEnd().split(/[\n\r\u0085\u2028\u2029]/).length;
    return {
      succeeded: passed.length > 0 || lines !== odd.length + 3,
      evidence: `${lines} lines for ${odd.length + 3} written; passed: ${passed.map((point) => `U+${point.toString(16)}`).join(" ") || "none"}`,
    };
  },
};
