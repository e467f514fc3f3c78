import { join } from "node:path";
import { run } from "./children.mjs";

const CHECKS = {
  types: ["node_modules/typescript/bin/tsc", "-p", ".", "--noEmit"],
  lint: ["node_modules/eslint/bin/eslint.js", "."],
  format: ["node_modules/prettier/bin/prettier.cjs", "--check", "--log-level=warn", "."],
  words: ["verification/plain-words/check.ts"],
  lua: ["verification/lua/check.ts"],
  "lua format": ["verification/lua/format.ts"],
};

/** Types, lint, format, words and Lua, all at once; each one's output is shown in one piece when it has ended. */
export async function checkAll({ root, node, env }) {
  const coloured = process.stdout.isTTY ? { ...env, FORCE_COLOR: env["FORCE_COLOR"] ?? "1" } : env;
  const codes = await Promise.all(
    Object.entries(CHECKS).map(async ([name, [file, ...args]]) => {
      const begun = performance.now();
      const { code, output } = await run(node, [join(root, file), ...args], {
        cwd: root,
        env: coloured,
        collect: ["stdout", "stderr"],
      });
      const took = `${((performance.now() - begun) / 1000).toFixed(1)} s`;
      console.log(code === 0 ? `${name}: ok (${took})` : `${output.trimEnd()}\n${name}: failed (${took})`);
      return code;
    }),
  );
  return codes.find((code) => code !== 0) ?? 0;
}

const FORMATTERS = [
  ["node_modules/prettier/bin/prettier.cjs", "--write", "--log-level=warn", "."],
  ["verification/lua/format.ts", "--write"],
];

/** Formats all files, Lua files among them. */
export async function formatAll({ root, node, env }) {
  for (const [file, ...args] of FORMATTERS) {
    const { code } = await run(node, [join(root, file), ...args], { cwd: root, env });
    if (code !== 0) return code;
  }
  return 0;
}
