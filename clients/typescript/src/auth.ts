/** Access tokens: fetched, kept and renewed. */
import { ConnectionFailed, OAuthError, TimedOut } from "./errors.js";
import { objectOf, textOf } from "./json.js";

// Renewed this many seconds before it ends: a request on its way is not to arrive with one that has ended.
const EARLY = 30;
const SIGN_IN_SECONDS = 30;

/** `expiresAt` is in seconds since 1970. */
export interface Tokens {
  accessToken: string;
  expiresAt: number;
  refreshToken?: string | undefined;
  scope?: string | undefined;
}

/** An application by itself: its External_ID and one of its keys. Never in a browser. */
export interface ClientCredentials {
  clientId: string;
  clientSecret: string;
  scopes?: readonly string[];
}

/** A person who signed in: see `startSignIn`. Keep what `onTokens` gets: a refresh token works once. */
export interface Person {
  clientId: string;
  tokens: Tokens;
  clientSecret?: string;
  onTokens?: (tokens: Tokens) => void | Promise<void>;
}

/** A token from elsewhere; it is not renewed. */
export interface AccessToken {
  accessToken: string;
}

export type Credentials = ClientCredentials | Person | AccessToken;

export class TokenSource {
  #tokens: Tokens | undefined;
  #renewing: Promise<string> | undefined;

  constructor(readonly credentials: Credentials) {
    if ("accessToken" in credentials) this.#tokens = { accessToken: credentials.accessToken, expiresAt: Infinity };
    else if ("tokens" in credentials) this.#tokens = credentials.tokens;
  }

  /** The form of the token request, or undefined where nothing can be renewed. */
  form(): Record<string, string> | undefined {
    if ("accessToken" in this.credentials) return undefined;
    if ("tokens" in this.credentials) {
      const token = this.#tokens?.refreshToken;
      return token === undefined ? undefined : { grant_type: "refresh_token", refresh_token: token };
    }
    const scopes = this.credentials.scopes ?? [];
    return { grant_type: "client_credentials", ...(scopes.length ? { scope: scopes.join(" ") } : {}) };
  }

  /** `refused` is a token the service did not take. One request renews it for all that wait. */
  async token(renew: (form: Record<string, string>) => Promise<Tokens>, refused?: string): Promise<string> {
    const known = this.#tokens;
    const form = this.form();
    if (known !== undefined && form === undefined) return known.accessToken;
    if (known !== undefined && known.accessToken !== refused && Date.now() / 1000 < known.expiresAt - EARLY) {
      return known.accessToken;
    }
    this.#renewing ??= this.#renew(renew, form ?? {}).finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #renew(renew: (form: Record<string, string>) => Promise<Tokens>, form: Record<string, string>): Promise<string> {
    const found = await renew(form);
    this.#tokens = { ...found, refreshToken: found.refreshToken ?? this.#tokens?.refreshToken };
    if ("onTokens" in this.credentials) await this.credentials.onTokens?.(this.#tokens);
    return found.accessToken;
  }
}

/** A confidential client proves itself by HTTP Basic, a public one names itself. */
export function tokenRequest(baseUrl: string, clientId: string, clientSecret: string | undefined, form: Record<string, string>): Request {
  const body = new URLSearchParams(clientSecret ? form : { ...form, client_id: clientId });
  const headers = new Headers({ Accept: "application/json" });
  if (clientSecret) {
    // RFC 6749, 2.3.1: both are encoded as in a form first.
    const encoded = (text: string): string => new URLSearchParams({ x: text }).toString().slice(2);
    headers.set("Authorization", `Basic ${btoa(`${encoded(clientId)}:${encoded(clientSecret)}`)}`);
  }
  // A redirect would carry the body, with its codes and refresh tokens, to another address.
  return new Request(`${baseUrl}/oauth/token`, { method: "POST", body, headers, redirect: "manual" });
}

/** `said` is what `objectOf` read of the response. */
export function tokensOf(response: Response, said: Record<string, unknown>): Tokens {
  const accessToken = textOf(said["access_token"]);
  // No header takes other characters.
  if (!response.ok || !/^[\x21-\x7e]+$/.test(accessToken)) {
    throw new OAuthError(textOf(said["error"]) || `status ${response.status}`, textOf(said["error_description"]));
  }
  return {
    accessToken,
    expiresAt: Date.now() / 1000 + (typeof said["expires_in"] === "number" ? said["expires_in"] : 3600),
    refreshToken: textOf(said["refresh_token"]) || undefined,
    scope: textOf(said["scope"]) || undefined,
  };
}

async function send(request: Request): Promise<Response> {
  try {
    return await fetch(request, { signal: AbortSignal.timeout(SIGN_IN_SECONDS * 1000) });
  } catch (error) {
    const cause = error instanceof Error ? error : new Error(String(error));
    const Kind = cause.name === "TimeoutError" ? TimedOut : ConnectionFailed;
    throw new Kind(`${request.method} ${request.url}: ${cause.message}`, { cause });
  }
}

/** A sign-in under way: send the person to `url`, keep the rest for `finishSignIn` (PKCE, RFC 7636). */
export interface SignIn {
  url: string;
  state: string;
  verifier: string;
  redirectUri: string;
  clientId: string;
  baseUrl: string;
  issuer: string;
  /** Whether every answer names the issuer; true if it is left out. */
  namesIssuer?: boolean;
}

/** The address without slashes at its end; throws where secrets would cross a network in clear. */
export function safeAddress(baseUrl: string, allowHttp = false): string {
  if (!/^https?:\/\//.test(baseUrl)) throw new TypeError("The address of the service starts with http:// or https://.");
  const { protocol, hostname } = new URL(baseUrl);
  const isLoopback = /^(127(\.\d+){3}|\[::1\]|localhost|.+\.localhost)$/.test(hostname);
  if (protocol === "http:" && !allowHttp && !isLoopback) {
    throw new TypeError(`${baseUrl} would send keys and tokens in clear: use https://, or allowHttp on a network of your own.`);
  }
  return baseUrl.replace(/\/+$/, "");
}

export async function startSignIn(request: {
  baseUrl: string;
  clientId: string;
  redirectUri: string;
  scopes?: readonly string[];
  allowHttp?: boolean | undefined;
}): Promise<SignIn> {
  const baseUrl = safeAddress(request.baseUrl, request.allowHttp);
  const metadata = await metadataOf(baseUrl);
  const [state, verifier] = [randomText(24), randomText(48)];
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const url = new URL(textOf(metadata["authorization_endpoint"]));
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: request.clientId,
    redirect_uri: request.redirectUri,
    state,
    code_challenge: base64Url(new Uint8Array(digest)),
    code_challenge_method: "S256",
    ...(request.scopes?.length ? { scope: request.scopes.join(" ") } : {}),
  }).toString();
  return {
    url: url.href,
    state,
    verifier,
    redirectUri: request.redirectUri,
    clientId: request.clientId,
    baseUrl,
    issuer: textOf(metadata["issuer"]),
    namesIssuer: metadata["authorization_response_iss_parameter_supported"] === true,
  };
}

/**
 * Of this very service (RFC 8414, 3.3): else a false service could send the person to the sign-in of a true one, and take
 * the code that comes back.
 */
async function metadataOf(baseUrl: string): Promise<Record<string, unknown>> {
  const found = await send(new Request(`${baseUrl}/.well-known/oauth-authorization-server`, { redirect: "manual" }));
  if (!found.ok) throw new OAuthError("server_error", `The service responded with ${found.status} instead of its metadata.`);
  const metadata = await objectOf(found);
  for (const name of ["issuer", "authorization_endpoint"]) {
    if (originOf(textOf(metadata[name])) !== originOf(baseUrl)) {
      const names = `${baseUrl} names "${textOf(metadata[name])}" as its ${name}`;
      throw new OAuthError("invalid_issuer", `${names}; use the address of the service itself.`);
    }
  }
  return metadata;
}

function originOf(address: string): string {
  try {
    return new URL(address).origin;
  } catch {
    return "";
  }
}

/** The tokens for the address to which the browser was sent back. */
export async function finishSignIn(signIn: SignIn, address: string, clientSecret?: string): Promise<Tokens> {
  const answer = new URL(address).searchParams;
  // RFC 9207: refuses answers of other servers, and of a server that names itself always and did not here.
  const issuer = answer.get("iss") ?? (signIn.namesIssuer === false ? signIn.issuer : undefined);
  if (answer.get("state") !== signIn.state || issuer !== signIn.issuer) {
    throw new OAuthError("invalid_state", "This address does not belong to the sign-in that you started.");
  }
  const error = answer.get("error");
  if (error !== null) throw new OAuthError(error, answer.get("error_description") ?? "");
  const code = answer.get("code");
  if (code === null) throw new OAuthError("invalid_request", "The address contains no code.");
  const form = { grant_type: "authorization_code", code, redirect_uri: signIn.redirectUri, code_verifier: signIn.verifier };
  const response = await send(tokenRequest(signIn.baseUrl, signIn.clientId, clientSecret, form));
  return tokensOf(response, await objectOf(response));
}

function randomText(bytes: number): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
