import type { Call } from "./transport.js";

/**
 * `most` more tries after the first, and for `outage` seconds as many as fit while the service is away.
 * A wait of more than `longestWait` seconds is left to the caller.
 */
export interface Retries {
  most: number;
  firstWait: number;
  longestWait: number;
  outage: number;
}

export const USUAL_RETRIES: Retries = { most: 4, firstWait: 0.5, longestWait: 60, outage: 45 };
const AWAY = new Set([502, 503, 504]);

/** Seconds to wait before the next try; undefined if there is to be none. `seconds` have passed since the first. */
export function waitAfter(
  retries: Retries,
  call: Call,
  tries: number,
  outcome: Response | Error,
  seconds: number,
): number | undefined {
  const lasts = outcome instanceof Error || AWAY.has(outcome.status);
  const isOver = tries > retries.most && !(lasts && retries.most > 0 && seconds < retries.outage);
  if (isOver || !isWorthAnother(call, outcome)) return undefined;
  // Half of it by chance: clients that failed together come back apart.
  const usual = Math.min(retries.firstWait * 2 ** (tries - 1), 8) * (0.5 + Math.random() / 2);
  const stated = outcome instanceof Response ? statedWait(outcome.headers) : undefined;
  if (stated === undefined) return usual;
  return stated > retries.longestWait ? undefined : stated + usual / 2;
}

function isWorthAnother(call: Call, outcome: Response | Error): boolean {
  // fetch does not say whether a request that failed was sent.
  if (!(outcome instanceof Response)) return (call.isRepeatable ?? false) && !isTheSameAgain(outcome);
  if (outcome.status === 429) return true;
  if (outcome.status === 500 || AWAY.has(outcome.status)) return call.isRepeatable ?? false;
  // The try before is still being worked on.
  return outcome.status === 409 && (call.takesKey ?? false) && outcome.headers.has("Retry-After");
}

/** Node.js names the cause: losses have a code, faults of the address or the file none, and certificates no waiting changes. */
function isTheSameAgain(error: Error): boolean {
  if (!(error.cause instanceof Error)) return false;
  const { code } = error.cause as { code?: unknown };
  return typeof code !== "string" || /CERT|LEAF_SIGNATURE|^UND_ERR_(REQ|INVALID|NOT)/.test(code);
}

/** What the service asks for, in `Retry-After` or, where nothing is left, in `RateLimit`. */
export function statedWait(headers: Headers): number | undefined {
  const said = headers.get("Retry-After");
  if (said !== null) {
    if (/^\s*\d+\s*$/.test(said)) return Number(said);
    const moment = Date.parse(said);
    return Number.isNaN(moment) ? undefined : Math.max(0, (moment - Date.now()) / 1000);
  }
  const limit = new Map([...(headers.get("RateLimit") ?? "").matchAll(/;\s*([rt])=(\d+)/g)].map((one) => [one[1], Number(one[2])]));
  return limit.get("r") === 0 ? limit.get("t") : undefined;
}
