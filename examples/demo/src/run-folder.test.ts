import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, it } from "vitest";
import { lockRunFolder } from "./run-folder.ts";
import { folderOfTest } from "../../../packages/testing/src/folder.fixture.ts";

let path: string;
beforeEach(() => (path = folderOfTest()));
const kubeconfig = "/somewhere/kubeconfig";

/** Takes the folder in another process that is killed while it has it. */
const takeAndDie = () => {
  const source = new URL("run-folder.ts", import.meta.url).href;
  const program = `
    const { lockRunFolder } = await import(${JSON.stringify(source)});
    lockRunFolder(process.argv[1]).noteProcess("redis", 7);
    process.kill(process.pid, "SIGKILL");`;
  const args = ["--input-type=module", "--eval", program, path];
  return promisify(execFile)(process.execPath, args).catch((error: unknown) => error);
};

it("is refused to a second run, with the process that has it and what to do", () => {
  const folder = lockRunFolder(path, kubeconfig);
  const holder = `process ${process.pid}, since`;
  expect(() => lockRunFolder(path)).toThrow(holder);
  expect(() => lockRunFolder(path)).toThrow(`kill ${process.pid}`);
  expect(() => lockRunFolder(path)).toThrow("KUBECONFIG=/somewhere/kubeconfig");
  folder.release();
});

it("is free again after its release, and records no crash", () => {
  const folder = lockRunFolder(path);
  folder.release();
  const again = lockRunFolder(path);
  expect(again.crashed).toBeUndefined();
  again.release();
});

it("is taken over from a killed process, and records the crash; its files are removed", async () => {
  expect(await takeAndDie()).toMatchObject({ signal: "SIGKILL" });
  writeFileSync(join(path, "kubeconfig"), "of a server that is gone");
  const folder = lockRunFolder(path);
  expect(folder.crashed).toMatchObject({ kubeconfig: folder.kubeconfig, processes: { redis: 7 } });
  expect(existsSync(folder.kubeconfig)).toBe(false);
  folder.release();
});
