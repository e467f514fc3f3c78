import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** A page's first paragraph, on one line. */
const firstParagraph = (text: string): string =>
  (text.split(/\n\n/)[1] ?? "").replaceAll("\n", " ").replaceAll("**", "");

/**
 * The index of the documentation for language models: the page docs/README.md with paths from the root.
 *
 * @see https://llmstxt.org
 */
it("llms.txt lists every page of the documentation", async () => {
  const [, ...sections] = textOf("docs/README.md")
    .replaceAll(/\]\((?!https?:)([^)]+)\)/g, "](docs/$1)")
    .split(/^\*\*(.+)\*\*$/m);
  const titled = sections.map((text, i) => (i % 2 === 0 ? `## ${text}` : text.trim()));
  const lines = ["# Drover", `> ${firstParagraph(textOf("README.md"))}`, ...titled];
  await expect(`${lines.join("\n\n")}\n`).toMatchFileSnapshot("../../llms.txt");
});
