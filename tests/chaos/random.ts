export { random, type Random } from "@drover/fault-proxy";
