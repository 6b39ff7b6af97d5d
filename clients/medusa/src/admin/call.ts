export interface PrintOrder {
  id: string;
  order_id: string;
  external_id: string;
  state: "open" | "held" | "placed" | "ended";
  problem: string | null;
  store_id: string;
  print_order_id: string | null;
  print_order_number: string | null;
  status_name: string | null;
  is_test: boolean;
  currency: string | null;
  total: string | null;
  shipments: Array<{ Carrier: string; TrackingNumber: string }> | null;
  cancellation: string | null;
}

/** The plug-in's own routes, as the person who is signed in. */
export async function call<T>(path: string, options: RequestInit = {}): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`/admin/print${path}`, { credentials: "include", headers, ...options });
  const text = await response.text();
  const body = text ? (JSON.parse(text) as T & { message?: string }) : ({} as T & { message?: string });
  if (!response.ok) throw new Error(body.message ?? `The shop responded with ${response.status}.`);
  return body;
}
