import { startFunction, type FunctionUnderTest } from "@drover/testing";

/** The function with cached objects for its runs; calls `onCached` for every run that got one. */
export const withCopies =
  (start: FunctionUnderTest, onCached: () => void): FunctionUnderTest =>
  async (world) => {
    const living = await startFunction(start, world);
    return {
      ...living,
      controllers: living.controllers.map((controller) => ({
        ...controller,
        copies: true,
        reconcile(context) {
          // The API server sends them with every object; copies have none.
          if (!("managedFields" in context.object.metadata)) onCached();
          return controller.reconcile(context);
        },
      })),
    };
  };
