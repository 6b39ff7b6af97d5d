/** What can go wrong, as exceptions. */
import { isRecord, textOf } from "./json.js";

/** Everything this library throws on its own account. */
export class FulfillmentError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No answer came, not even after the tries that were allowed. What was sent may have been done. */
export class ConnectionFailed extends FulfillmentError {}

/** The answer took longer than the timeout. */
export class TimedOut extends ConnectionFailed {}

/** The token endpoint, or the person, said no: `code` is that of RFC 6749. */
export class OAuthError extends FulfillmentError {
  constructor(readonly code: string, readonly description = "") {
    super(description ? `${code}: ${description}` : code);
  }
}

/** One mistake in what was sent: `pointer` is a JSON pointer into it. */
export interface Fault {
  pointer: string;
  code: string;
  message: string;
}

/** The message without its place, which stands before it. */
function plain(fault: Fault): string {
  const place = fault.pointer.replace(/^\//, "");
  const names = [place, place.slice(place.lastIndexOf("/") + 1)];
  return names.reduce((text, name) => (text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text), fault.message);
}

/** An answer with an error status; `code` is stable, `errors` point into what was sent. */
export class ApiError extends FulfillmentError {
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly Fault[];
  readonly errorCount: number;

  constructor(
    readonly status: number,
    readonly problem: Readonly<Record<string, unknown>>,
    readonly headers: Headers,
  ) {
    const text = (name: string): string => textOf(problem[name]);
    const listed: unknown[] = Array.isArray(problem["Errors"]) ? problem["Errors"] : [];
    const errors = listed.filter(isRecord).map((one) => ({
      pointer: textOf(one["Pointer"]),
      code: textOf(one["Code"]),
      message: textOf(one["Message"]),
    }));
    const lines = [`${status} ${text("Code")}: ${text("detail") || text("title")}`.replace(" : ", ": ")];
    lines.push(...errors.map((one) => `  ${one.pointer || "(all of it)"}: ${plain(one)}`));
    super(lines.join("\n"));
    this.code = text("Code");
    this.title = text("title");
    this.detail = text("detail");
    this.errors = errors;
    this.errorCount = typeof problem["ErrorCount"] === "number" ? problem["ErrorCount"] : errors.length;
  }
}

/** 400, 413, 415, 422: what was sent breaks a rule. */
export class InvalidRequest extends ApiError {}
/** 401: the subscription key or the token is missing or not valid. */
export class Unauthorized extends ApiError {}
/** 403: this caller may not do that. */
export class Forbidden extends ApiError {}
/** 404 */
export class NotFound extends ApiError {}
/** 409: the state does not allow it. */
export class Conflict extends ApiError {}
/** 412: it has changed since it was read. */
export class PreconditionFailed extends ApiError {}
/** 429, after all tries. */
export class RateLimited extends ApiError {}
/** 500 and above, after all tries. */
export class ServerError extends ApiError {}

const KINDS: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidRequest,
  413: InvalidRequest,
  415: InvalidRequest,
  422: InvalidRequest,
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  412: PreconditionFailed,
  429: RateLimited,
};

export async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  let problem: Record<string, unknown> = { title: response.statusText, detail: text.slice(0, 500) };
  try {
    const said: unknown = JSON.parse(text);
    if (isRecord(said)) problem = said;
  } catch {
    // Not from the service itself: what it says stands in `detail`.
  }
  const Kind = response.status >= 500 ? ServerError : (KINDS[response.status] ?? ApiError);
  return new Kind(response.status, problem, response.headers);
}
