import { followChanges } from "./follow";
import { startMissed } from "./start";

let looking: Promise<void> | undefined;

/** Everything that events may have missed. One look at a time: another one waits for its end. */
export function look(): Promise<void> {
  looking ??= startMissed().then(followChanges).finally(() => (looking = undefined));
  return looking;
}
