/** Reads values from JSON whose form is not certain. */

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The JSON object of a response; empty for anything else. */
export async function objectOf(response: Response): Promise<Record<string, unknown>> {
  const said: unknown = await response.json().catch(() => undefined);
  return isRecord(said) ? said : {};
}
