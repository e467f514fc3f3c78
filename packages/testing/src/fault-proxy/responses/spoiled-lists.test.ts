import { expect, it } from "vitest";
import { parseCall } from "../calls/proxied-call.ts";
import { spoiledLists } from "./spoiled-lists.ts";

it.each(["no metadata", "no uid", "endless"] as const)(
  "a spoiled list keeps large integers: %s",
  async (how) => {
    const body = '{"metadata":{},"items":[{"metadata":{"uid":"u"},"spec":{"n":9007199254740993}}]}';
    const call = parseCall({ id: 1, life: 1, method: "GET", url: "/api/v1/pods" });
    const page = await spoiledLists().spoil({ do: "spoil list", how }, call, () =>
      Promise.resolve({ status: 200, body }),
    );
    expect(String(page?.body)).toContain('"n":9007199254740993');
  },
);
