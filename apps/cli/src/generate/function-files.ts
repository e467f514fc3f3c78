import {
  customResourceDefinition,
  type DeployableFunction,
  embeddedManifestsOf,
  functionManifestOf,
  NotEmbeddableError,
} from "@drover/controller";
import { stringify } from "yaml";
import { z } from "zod";
import { CommandError } from "../command-error.ts";

/** File contents by path, relative to the function's folder. */
export type GeneratedFiles = Readonly<Record<string, string>>;

const header = "# Written by `drover generate` from the code: change that, and run it again.\n";

/**
 * The files that are generated from a function's code.
 *
 * @param embedded if true, the function runs with a bridge in its process and is applied with kubectl, without a
 * ReconcileFunction.
 * @throws CommandError if its deployment is invalid; InvalidSchemaError if its kind's schema cannot be expressed in a
 * CRD.
 */
export function functionFiles(definition: DeployableFunction, embedded = false): GeneratedFiles {
  const yaml = (...manifests: readonly object[]): string =>
    header + manifests.map((manifest) => stringify(manifest, { lineWidth: 110 })).join("---\n");
  const { for: resource } = definition.controller;
  return {
    ...(resource.foreign ? {} : { "deploy/crd.yaml": yaml(customResourceDefinition(resource)) }),
    ...(embedded
      ? { "deploy/embedded.yaml": yaml(...asCommandError(() => embeddedManifestsOf(definition))) }
      : { "deploy/function.yaml": yaml(asCommandError(() => functionManifestOf(definition))) }),
    Dockerfile: dockerfile(definition),
  };
}

function asCommandError<T>(made: () => T): T {
  try {
    return made();
  } catch (error) {
    if (error instanceof NotEmbeddableError) throw new CommandError(error.message, { cause: error });
    if (!(error instanceof z.ZodError)) throw error;
    throw new CommandError(`The function's deployment cannot be used:\n${z.prettifyError(error)}`, {
      cause: error,
    });
  }
}

const dockerfile = ({ deployment }: DeployableFunction): string => `${header}#
#     npm run build                # dist/main.mjs: the function with its dependencies
#     docker build -t ${deployment?.container?.image ?? "IMAGE"} .
#
# BASE may be any image that has Node 24. This one has no shell, no package manager and no root.
ARG BASE=gcr.io/distroless/nodejs24-debian13:nonroot@sha256:9eeb7f5887d0e239e78264b06f7f11d2e14be534050481803a9e4728fcdd278e
FROM \${BASE}
ENV NODE_ENV=production
# A young generation of an eighth of the default size, and one malloc arena for all threads.
ENV NODE_OPTIONS=--max-semi-space-size=8
ENV MALLOC_ARENA_MAX=1
ENV PATH=/nodejs/bin:/usr/local/bin:/usr/bin:/bin
WORKDIR /app
COPY --chmod=0444 dist/main.mjs ./
# A number, so that Kubernetes can see that it is not root.
USER 65532:65532
EXPOSE ${String(deployment?.container?.port ?? 8_080)}
# The old generation is collected after it has grown by half. With the above, this halves the memory.
ENTRYPOINT ["node", "--heap-growing-percent=50", "/app/main.mjs"]
`;
