/** What the pages of the plug-in share: its own routes, and the names of states. */
import { useEffect, useState } from "react";

export interface PrintOrder {
  id: string;
  order_id: string;
  /** Of the shop's order; only on the settings page. */
  display_id?: string;
  external_id: string;
  state: "open" | "held" | "placed" | "ended";
  problem: string | null;
  store_id: string;
  print_order_id: string | null;
  print_order_number: string | null;
  status: number | null;
  status_name: string | null;
  is_test: boolean;
  currency: string | null;
  total: string | null;
  shipments: Array<{ Carrier: string; TrackingNumber: string; TrackingURL: string | null }> | null;
  cancellation: string | null;
}

const SHIPPED = 60;

/** The words and the color of an order's badge. */
export function badgeOf({ state, status, status_name }: PrintOrder): { text: string; color: "green" | "red" | "blue" | "orange" } {
  if (state === "held") return { text: "Held", color: "red" };
  if (state === "open") return { text: "To be sent", color: "orange" };
  // The name of the store's status has no spaces.
  const text = (status_name ?? "Received").replace(/(?<=[a-z])(?=[A-Z])/g, " ").replace(/ \w/g, (letter) => letter.toLowerCase());
  return { text, color: state === "ended" ? "red" : (status ?? 0) >= SHIPPED ? "green" : "blue" };
}

/** As the person who is signed in. */
async function call<T>(path: string, options: RequestInit = {}): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`/admin/print${path}`, { credentials: "include", headers, ...options });
  const body = JSON.parse((await response.text()) || "{}") as T & { message?: string };
  if (!response.ok) throw new Error(body.message ?? `The shop responded with ${String(response.status)}.`);
  return body;
}

interface Loaded<T> {
  state: T | undefined;
  problem: string;
  isBusy: boolean;
  /** Does something, and loads the state again. */
  act: (path: string, method?: string, body?: unknown) => void;
}

/** What a route says, and again after each action. */
export function useLoaded<T>(path: string): Loaded<T> {
  const [state, setState] = useState<T>();
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [round, setRound] = useState(0);
  const fail = (error: unknown): void => { setProblem(error instanceof Error ? error.message : String(error)); };
  useEffect(() => {
    const show = (found: T): void => {
      setState(found);
      setProblem("");
    };
    call<T>(path).then(show).catch(fail);
  }, [path, round]);
  const act = (action: string, method = "POST", body?: unknown): void => {
    setBusy(true);
    call(action, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
      .then(() => { setRound((one) => one + 1); })
      .catch(fail)
      .finally(() => { setBusy(false); });
  };
  return { state, problem, isBusy, act };
}
