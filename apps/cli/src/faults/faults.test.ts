import { type Sandbox, startSandbox } from "@drover/sandbox";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { folderOfTest } from "../../../../packages/testing/src/folder.fixture.ts";
import { type CommandResult, expectError, spawnDrover } from "../testing/run-command.ts";

let sandbox: Sandbox;
let folder: string;
let kubeconfig: string;
let program: string;

/** Ensures that a ConfigMap `a` exists, and notes each of its starts and each response. */
const ensuring = `
import { appendFileSync, readFileSync } from "node:fs";
const note = (line) => appendFileSync(process.argv[2], line + "\\n");
const { clusters: [{ cluster: { server } }], users: [{ user: { token } }] } = JSON.parse(readFileSync(process.env.DROVER_KUBECONFIG, "utf8"));
if (process.env.DROVER_KUBECONFIG !== process.env.KUBECONFIG) throw new Error("Which cluster?");
note("started");
const path = server + "/api/v1/namespaces/default/configmaps";
const init = { method: "POST", headers: { "content-type": "application/json", authorization: "Bearer " + token }, body: JSON.stringify({ metadata: { name: "a" } }) };
for (let tries = 0; tries < 5; tries++) {
  const status = await fetch(path, init).then((answer) => answer.status, () => "nothing");
  note(String(status));
  if (status === 201 || status === 409) process.exit(0);
}
process.exit(7);
`;

beforeEach(async () => {
  sandbox = await startSandbox();
  folder = folderOfTest();
  kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig());
  program = join(folder, "ensure.mjs");
  writeFileSync(program, ensuring);
});
afterEach(() => sandbox.close());

const planned = (...rules: object[]): string => {
  const file = join(folder, "plan.json");
  writeFileSync(file, JSON.stringify({ rules }));
  return file;
};
const faults = (...words: string[]): Promise<CommandResult> =>
  spawnDrover(["faults", "--kubeconfig", kubeconfig, ...words]);
const ensure = (...words: string[]): Promise<CommandResult> =>
  faults(...words, "--", process.execPath, program, join(folder, "notes"));
const noted = (): string[] => readFileSync(join(folder, "notes"), "utf8").trim().split("\n");
const made = (): number => sandbox.objects("configmaps").length;

describe("drover faults", () => {
  it("loses an answer; the command tries again, and the record shows it", async () => {
    const plan = planned({ when: { verb: "create", nth: 1 }, do: "lose answer" });
    const { code, stderr } = await ensure("--plan", plan, "--record", join(folder, "record.json"));
    expect(noted()).toEqual(["started", "nothing", "409"]);
    expect(stderr).toContain(
      "#1 create configmaps default/a -> 201, answer lost\n#2 create configmaps default/a -> 409\n",
    );
    expect(stderr).toContain("Calls: 2. Faults: 1. Lives: 1.");
    expect(JSON.parse(readFileSync(join(folder, "record.json"), "utf8"))).toMatchObject({
      plan: { rules: [{ when: { verb: "create", nth: 1 }, do: "lose answer" }] },
      calls: [
        { committed: true, client: "reset" },
        { committed: false, client: 409 },
      ],
    });
    expect([code, made()]).toEqual([0, 1]);
  });

  it.each([
    ["before", ["started", "started", "201"]],
    ["after", ["started", "started", "409"]],
  ])("kills the command %s a commit, and starts it again", async (when, expected) => {
    const plan = planned({ do: `kill ${when}`, when: { verb: "create", life: 1 } });
    const { code, stderr } = await ensure("--plan", plan);
    expect([code, noted(), made()]).toEqual([0, expected, 1]);
    expect(stderr).toContain("Calls: 2. Faults: 1. Lives: 2.");
  });

  it("names the rules that matched nothing, and fails", async () => {
    const ran = ensure("--plan", planned({ when: { verb: "delete" }, do: "reset" }));
    await expectError(ran, `Not met: {"do":"reset","when":{"verb":"delete"}}`);
  });

  it("ends with the command's own code", async () => {
    const { code } = await ensure("--plan", planned({ do: "refuse", status: 503 }));
    expect(noted()).toEqual(["started", ...Array<string>(5).fill("503")]);
    expect([code, made()]).toEqual([7, 0]);
  });

  it("lets a seed choose, and writes down the plan that does the same again", async () => {
    const seeded = await ensure("--seed", "3", "--rate", "0.6");
    const firstNotes = noted();
    const [, again = ""] = /^To repeat this run, use the plan: (.+)$/m.exec(seeded.stderr) ?? [];
    const plan = join(folder, "again.yaml");
    writeFileSync(plan, again);
    rmSync(join(folder, "notes"));
    await sandbox.close();
    sandbox = await startSandbox();
    writeFileSync(kubeconfig, sandbox.kubeconfig());
    const second = await ensure("--plan", plan);
    expect([second.code, noted()]).toEqual([seeded.code, firstNotes]);
    expect(firstNotes.length).toBeGreaterThan(2);
  });

  it("writes the kubeconfig where it is asked to, and answers stale reads from a view", async () => {
    const view = await sandbox.staleView();
    const [old, leads] = [join(folder, "old"), join(folder, "leads-here")];
    writeFileSync(old, view.kubeconfig());
    view.freeze();
    const reading = `
      const { clusters: [{ cluster: { server } }], users: [{ user: { token } }] } = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
      const path = server + "/api/v1/namespaces/default/configmaps";
      const ask = async (init, query = "") => (await fetch(path + query, { ...init, headers: { "content-type": "application/json", authorization: "Bearer " + token } })).json();
      (async () => {
        await ask({ method: "POST", body: JSON.stringify({ metadata: { name: "b" } }) });
        console.log((await ask({}, "?resourceVersion=0")).items.length, (await ask({})).items.length);
      })();`;
    const plan = planned({ do: "stale", view: "old" });
    const { stdout } = await faults(
      ...["--plan", plan, "--view", `old=${old}`, "--write-kubeconfig", leads],
      ...["--", process.execPath, "-e", reading, leads],
    );
    expect(stdout).toBe("0 1\n");
    expect(existsSync(leads)).toBe(true);
  });

  it.each<[string, string[], RegExp]>([
    ["neither plan nor seed", [], /error: No faults are given\. Give --plan or --seed\./],
    [
      "a plan that is none",
      ["--plan", "PLAN"],
      /error: The plan cannot be used:\n {2}- rules\[0\]\.do: there is no fault "lose"/,
    ],
    [
      "a plan that is not there",
      ["--plan", "absent"],
      /'absent' is invalid\. There is no such file\. Give the path of a plan\./,
    ],
    ["a plan that is no YAML", ["--plan", "BROKEN"], /error: .*broken\.yaml is not YAML: /],
    ["a rate of nothing", ["--plan", "PLAN", "--rate", "1"], /--rate is the rate of a seed/],
    [
      "an unknown view",
      ["--plan", "STALE"],
      /The plan has a view old\. Give its kubeconfig: --view old=KUBECONFIG/,
    ],
    ["a rate that is none", ["--seed", "1", "--rate", "2"], /Give a number from 0 to 1/],
  ])("refuses %s", async (_, words, problem) => {
    const plan = planned(words.includes("STALE") ? { do: "stale", view: "old" } : { do: "lose" });
    const broken = join(folder, "broken.yaml");
    writeFileSync(broken, "rules: [");
    const file = (word: string): string => (word === "BROKEN" ? broken : plan);
    await expectError(faults(...words.map((word) => (/^[A-Z]+$/.test(word) ? file(word) : word))), problem);
  });

  it("names the command that cannot be run", async () => {
    await expectError(
      faults("--seed", "1", "--", join(folder, "nothing")),
      /error: .*nothing cannot be run: .*ENOENT/,
    );
  });
});
