import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, it } from "vitest";

const root = new URL("../..", import.meta.url).pathname;
const tracked = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
}).split("\0");
const files = new Set(tracked);
const folders = new Set(tracked.flatMap(foldersOf));
const pages = tracked.filter((path) => path.endsWith(".md"));

function foldersOf(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === "." ? ["."] : [folder, ...foldersOf(folder)];
}

const textOf = (page: string): string => readFileSync(join(root, page), "utf8");
const withoutCode = (text: string): string =>
  text.replaceAll(/^(```+|~~~+)[^]*?^\1$/gm, "").replaceAll(/(`+)(?!`)[^]*?[^`]\1(?!`)/g, "");

/** The destinations of a page's links: `[text](destination)`, `[text]: destination`. */
function linksOf(text: string): readonly string[] {
  const prose = withoutCode(text);
  const inline = [...prose.matchAll(/\]\(\s*<?([^\s)>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
  const defined = [...prose.matchAll(/^\s*\[[^\]]+\]:\s+<?([^\s>]+)>?/gm)];
  return [...inline, ...defined].flatMap(([, destination]) => destination ?? []);
}

/**
 * The names under which a page's headings are linked.
 *
 * @see https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#section-links
 */
function anchorsOf(text: string): ReadonlySet<string> {
  const prose = text.replaceAll(/^(```+|~~~+)[^]*?^\1$/gm, "");
  const anchors = new Set<string>();
  for (const [, heading = ""] of prose.matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const name = plain.replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "").replaceAll(" ", "-");
    let unique = name;
    for (let again = 1; anchors.has(unique); again += 1) unique = `${name}-${again}`;
    anchors.add(unique);
  }
  return anchors;
}

/** What is wrong with a link; undefined if it leads to a file, a folder or a heading of this repository, or elsewhere. */
function problemOf(page: string, link: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) {
    if (/^mailto:/.test(link)) return undefined;
    return URL.canParse(link) && link.startsWith("https://") ? undefined : "is not an https URL";
  }
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : normalize(join(dirname(page), decodeURI(path))).replace(/\/$/, "");
  if (!files.has(target) && !folders.has(target)) return "leads to no file of this repository";
  if (anchor === undefined || !target.endsWith(".md")) return undefined;
  return anchorsOf(textOf(target)).has(anchor) ? undefined : `has no heading ${anchor}`;
}

it.each(pages)("the links of %s lead somewhere", (page) => {
  const problems = linksOf(textOf(page)).flatMap((link) => {
    const problem = problemOf(page, link);
    return problem === undefined ? [] : [`${link}: ${problem}`];
  });
  expect(problems).toEqual([]);
});

it("a link is found in prose and not in code, and its heading by the name that GitHub gives it", () => {
  const text =
    "# Two `parts`, *here*\n[a](x.md#b) `[c](d)`\n```\n[e](f)\n```\n[g]: h.md\n# Two parts, here\n";
  expect(linksOf(text)).toEqual(["x.md#b", "h.md"]);
  expect([...anchorsOf(text)]).toEqual(["two-parts-here", "two-parts-here-1"]);
  expect(problemOf("docs/README.md", "absent.md")).toMatch(/no file/);
  expect(problemOf("docs/README.md", "../README.md#absent")).toMatch(/no heading/);
  expect(problemOf("docs/README.md", "http://example.com")).toMatch(/https/);
});
