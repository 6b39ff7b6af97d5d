export { type AccessToken, type ClientCredentials, type Credentials, finishSignIn, type Person, type SignIn, startSignIn, type Tokens } from "./auth.js";
export { Client } from "./client.js";
export * from "./errors.js";
export type * as models from "./models.js";
export { type Page, Pages } from "./paging.js";
export type { Retries } from "./retries.js";
export * from "./resources.js";
export { type CallOptions, type ClientOptions, Download, etagOf, headersOf, type UploadBody } from "./transport.js";
export { VERSION } from "./version.js";
