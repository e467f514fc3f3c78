import {
  findRedis,
  findRedis7,
  type RedisExecutable,
  type RedisServer,
  startRedis,
} from "@drover/local-servers";
import { describe, expect, it } from "vitest";
import { exerciseRole } from "./redis-users.fixture.ts";
import { commandsOf } from "./redis-users.ts";

const roles = ["bridge", "function", "gateway", "embedded", "operator", "deployer"] as const;
const withServer = async (executable: RedisExecutable, use: (server: RedisServer) => Promise<void>) => {
  const server = await startRedis({ persistence: false, executable });
  await use(server).finally(() => server.stop());
};

describe.concurrent.each([
  ["the newest server", () => findRedis()],
  ["Redis 7", () => findRedis7()],
] as const)("on %s", (_name, find) => {
  it.each(roles)(
    "%s: lives with what it is given, and with nothing less",
    { timeout: 600_000 },
    async (role) => {
      await withServer(await find(), async (server) => {
        const all = commandsOf(role);
        expect(await exerciseRole({ server, role, user: "all", commands: all })).toEqual({
          outcome: "lived",
          denied: [],
        });
        for (const command of all) {
          const commands = all.filter((name) => name !== command);
          const { denied } = await exerciseRole({
            server,
            role,
            user: `no-${command.replace("|", "-")}`,
            commands,
          });
          expect([command, denied]).toEqual([command, [command]]);
        }
      });
    },
  );
});
