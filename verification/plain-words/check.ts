/**
 * A part of `npm run check`: are comments of shipped code and Markdown written in plain English?
 *
 * Counts words that plain technical English hardly needs. In comments of comparable projects (kysely, hono, kube-rs,
 * controller-runtime) there are 0.0 to 0.2 of *who* and 0.1 to 0.2 of *tell* among 1,000 words, and at most 0.5 % of the
 * comments open with such a word as *What*. CONTRIBUTING.md has the rules. Exits with 1 where a limit is exceeded, and
 * names the files that have the most of it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryFiles, root } from "../harness/repository-files.ts";
import { commentsOf, countIn, type Measure, type Prose, proseOf } from "./measure.ts";

const WHO: Measure = {
  name: "who, whom, somebody, nobody",
  pattern: /\b(who(|m|se|ever)|(some|any|every|no)body)\b/gi,
  per: "1,000 words",
};
const TELL: Measure = {
  name: "tell, say, hear",
  pattern: /\b(tells?|told|telling|untold|says?|said|hears?|heard)\b/gi,
  per: "1,000 words",
};
const OPENING: Measure = {
  name: "openings",
  pattern: /^\s*(What|Whether|Who|Whom|Whose|Of|All that|Those)\b/gi,
  per: "100 parts",
};

/** To be lowered to what is reached, never raised. A part of `comments` is a comment. */
const LIMITS = [
  { of: "comments", measure: WHO, limit: 0.5 },
  { of: "comments", measure: TELL, limit: 0.5 },
  { of: "comments", measure: OPENING, limit: 1 },
  { of: "Markdown", measure: WHO, limit: 1 },
  { of: "Markdown", measure: TELL, limit: 0.5 },
] as const;

const files = repositoryFiles();
/** More than runs in a cluster: people read the examples and the template of `drover init`, too. */
const isShipped = (path: string): boolean =>
  /^(apps|packages|functions|examples)\/.*\.tsx?$/.test(path) &&
  !/\.(test|contract|fixture|faults)\.tsx?$|\/(testing(?!\/src\/fault-proxy)|conformance|mutants)\//.test(
    path,
  );
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const prose: Record<(typeof LIMITS)[number]["of"], readonly Prose[]> = {
  comments: files.filter(isShipped).map((path) => ({ path, parts: commentsOf(read(path)) })),
  Markdown: files
    .filter((path) => path.endsWith(".md") && !/^bench\/.*results/.test(path))
    .map((path) => ({ path, parts: [proseOf(read(path))] })),
};

for (const { of, measure, limit } of LIMITS) {
  const { share, most } = countIn(prose[of], measure);
  if (share <= limit) continue;
  process.exitCode = 1;
  console.log(
    `${of}: ${share.toFixed(2)} per ${measure.per} for "${measure.name}", and at most ${limit} are allowed. Most are in:`,
  );
  for (const { path, count } of most) console.log(`  ${count} ${path}`);
}
