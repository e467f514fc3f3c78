import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { folderOfTest } from "../../../testing/src/folder.fixture.ts";
import { folderSecrets } from "./folder-secrets.ts";

const secret = (byte: number): string => `whsec_${Buffer.alloc(24, byte).toString("base64")}`;
let folder: string;
let clock: number;
let troubles: unknown[];
beforeEach(() => void ([folder, clock, troubles] = [folderOfTest(), 0, []]));
const write = (name: string, text: string, mode = 0o600): void => {
  writeFileSync(join(folder, name), text);
  chmodSync(join(folder, name), mode);
};
const open = () =>
  folderSecrets(
    folder,
    () => clock,
    (error) => troubles.push(error),
  );

it("returns the current secret first, and the previous one while it exists", () => {
  write("current", `${secret(1)}\n`);
  const secrets = open();
  expect(secrets()).toEqual([secret(1)]);
  write("current", secret(2));
  write("previous", secret(1));
  expect(secrets()).toEqual([secret(1)]);
  clock += 2_000;
  expect(secrets()).toEqual([secret(2), secret(1)]);
});

it("keeps its secrets while the folder cannot be read", () => {
  write("current", secret(1));
  const secrets = open();
  write("current", "half a secr");
  clock += 2_000;
  expect(secrets()).toEqual([secret(1)]);
  expect(String(troubles[0])).toMatch(/current is not written as whsec_<base64>/);
  expect(String(troubles[0])).not.toMatch(/half/);
  // It is read no more often than without an error.
  clock += 1_999;
  expect(secrets()).toEqual([secret(1)]);
  expect(troubles).toHaveLength(1);
  write("current", secret(2));
  clock += 1;
  expect(secrets()).toEqual([secret(2)]);
});

it("refuses to start without a secret, or with one that every user may read", () => {
  expect(open).toThrow(/current does not exist/);
  write("current", secret(1), 0o644);
  expect(open).toThrow(/chmod 600/);
});
