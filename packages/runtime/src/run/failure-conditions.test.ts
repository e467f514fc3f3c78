import { expect, it } from "vitest";
import { conditionsOf } from "../schema/parse-object.ts";
import { reconcileWidget, runOf, widgets, widgetsOfFile } from "./widgets.fixture.ts";

const { client, create } = await widgetsOfFile();

// The queue parks a key with its third failure in a row; kstatus reads these conditions.
it.each([0, 1, 2, 3, 9])(
  "after %i failures of three, the conditions state the result of the next one",
  async (fails) => {
    const name = `w${fails}`;
    await create(name);
    const run = runOf(name, { claim: { fails, reasons: [], class: "change", versions: {} } });
    const definition = { retry: { attempts: 3 }, reconcile: () => Promise.reject(new Error("no")) };
    const { kind } = await reconcileWidget(client, definition, run);
    expect(kind).toBe("retry");
    const conditions = conditionsOf((await client.get(widgets, run.key))!);
    expect(conditions.filter(({ status }) => status === "True").map(({ type }) => type)).toEqual([
      fails >= 2 ? "Stalled" : "Reconciling",
    ]);
  },
);
