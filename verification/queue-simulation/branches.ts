import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import type { LedgerScript } from "../../packages/queue/src/ledger/ledger-script.ts";

/** The branches that the scripts took: both ways of every condition, in every script that has it. */
export interface Branches {
  /** The script, with every condition made to note which way it went. */
  readonly instrument: <Name extends string>(script: LedgerScript<Name>) => LedgerScript<Name>;
  count(): Promise<{ readonly taken: number; readonly all: number; readonly missed: readonly string[] }>;
}

const noted = "simulation:branches";
const note = (id: number): string => `
local function WAY(n, condition)
  redis.call('SADD', '${noted}', ${id} .. ' ' .. n .. (condition and ' yes' or ' no'))
  return condition
end`;

/** Branches of the scripts on one server. A condition is identified by its script, its text and its place in it. */
export function countBranches(redis: Redis): Branches {
  const made = new Map<string, LedgerScript<string>>();
  const ways = new Map<string, string>();
  const make = <Name extends string>(script: LedgerScript<Name>): LedgerScript<Name> => {
    const id = made.size;
    let place = 0;
    const lua = script.lua
      .replaceAll(/--.*$/gm, "")
      .replaceAll(/\b(if|elseif) (.+?) then\b/g, (_, word: string, condition: string) => {
        const n = place++;
        for (const way of ["yes", "no"])
          ways.set(`${id} ${n} ${way}`, `${script.name}: ${condition} (${way})`);
        return `${word} WAY(${n}, ${condition}) then`;
      });
    const whole = `${note(id)}\n${lua}`;
    return { ...script, lua: whole, sha: createHash("sha1").update(whole).digest("hex") };
  };
  return {
    instrument(script) {
      const known = made.get(script.name);
      if (known) return { ...script, lua: known.lua, sha: known.sha };
      const fresh = make(script);
      made.set(script.name, fresh);
      return fresh;
    },
    async count() {
      const taken = new Set(await redis.smembers(noted));
      // A branch that one script can never take, because it does not call that function, counts as taken if another script
      // with the same text takes it.
      const texts = new Map<string, boolean>();
      for (const [way, text] of ways) {
        const bare = text.replace(/^.*?: /, "");
        texts.set(bare, (texts.get(bare) ?? false) || taken.has(way));
      }
      const missed = [...texts].filter(([, seen]) => !seen).map(([text]) => text);
      return { taken: texts.size - missed.length, all: texts.size, missed };
    },
  };
}
