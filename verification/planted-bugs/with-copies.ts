import { startFunction, type FunctionUnderTest } from "@drover/testing";

/** The function, whose runs are given copies of their objects; `told` of every run that was. */
export const withCopies =
  (start: FunctionUnderTest, told: () => void): FunctionUnderTest =>
  async (world) => {
    const living = await startFunction(start, world);
    return {
      ...living,
      controllers: living.controllers.map((controller) => ({
        ...controller,
        copies: true,
        reconcile(context) {
          // The API server sends them with every object; copies have none.
          if (!("managedFields" in context.object.metadata)) told();
          return controller.reconcile(context);
        },
      })),
    };
  };
