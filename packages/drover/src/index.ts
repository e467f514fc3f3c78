/**
 * # drover
 *
 * The one package that is published. Its entries are the public interface: each names what it exports from the packages of this
 * repository, and the docs name each of these. Here are the definitions that every function needs; the rest has subpaths:
 *
 * - `drover/kube`: objects in the cluster. `drover/compose`: functions that declare children.
 * - `drover/external`, `drover/aws`: resources outside the cluster, and those of AWS.
 * - `drover/runtime`, `drover/embedded`: the process of a function, without and with a bridge in it.
 * - `drover/testing`, `drover/testing/fault-proxy`: tests, with the faults that a function can meet.
 * - `drover/redis`: the rules of Redis users.
 *
 * `infra/build-package.ts` builds it, with the command `drover` of apps/cli.
 */
export {
  checkedAtRun,
  type ChildObject,
  type Condition,
  type Controller,
  defineController,
  defineFunction,
  defineResource,
  type DeployableFunction,
  foreignResource,
  immutable,
  type Log,
  type NamesInCode,
  type ObjectKey,
  objectKey,
  type ReconcileContext,
  reconcileFunctionOf,
  type ReconcileResult,
  type Resource,
  RetryAfterError,
  serverTime,
  type SpecOf,
  type StatusOf,
  TerminalError,
  testContext,
  ThrottledError,
} from "@drover/controller";
export { parseJson, writeJson } from "@drover/json";
