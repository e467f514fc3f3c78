import { itDoesNotDiffer } from "../compared.fixture.ts";
import { endpointSlices } from "./family.ts";

itDoesNotDiffer(endpointSlices, 5);
