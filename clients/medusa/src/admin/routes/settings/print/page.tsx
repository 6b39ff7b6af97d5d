import { defineRouteConfig } from "@medusajs/admin-sdk";
import { Button, Container, Heading, Text } from "@medusajs/ui";
import { useEffect, useState } from "react";

import { call, type PrintOrder } from "../../../call";

interface State {
  connection: { stores: string[]; problem: string | null };
  starts_on: "payment" | "order";
  contacts: Array<{ id: string; at: string; problem: string | null }>;
  orders: PrintOrder[];
}

const PrintSettings = () => {
  const [state, setState] = useState<State>();
  const [problem, setProblem] = useState("");
  const load = () => call<State>("").then(setState).catch((error: Error) => setProblem(error.message));
  const look = () => call("/look", { method: "POST" }).then(load).catch((error: Error) => setProblem(error.message));
  const retry = (id: string) => call(`/orders/${id}/retry`, { method: "POST" }).then(load).catch((error: Error) => setProblem(error.message));
  useEffect(() => void load(), []);
  if (state === undefined) return <Container><Text>{problem || "Testing the connection"}</Text></Container>;
  const { connection, contacts, orders } = state;
  return (
    <Container className="flex flex-col gap-4">
      <Heading>Print</Heading>
      {problem && <Text className="text-ui-fg-error">{problem}</Text>}
      <div>
        <Heading level="h2">Connection</Heading>
        {connection.problem ? (
          <Text className="text-ui-fg-error">{connection.problem}</Text>
        ) : (
          <Text>Connected. Stores: {connection.stores.join(", ") || "none; request access to one in the portal"}</Text>
        )}
        <Text>Orders are sent once they are {state.starts_on === "payment" ? "paid in full" : "placed"}.</Text>
      </div>
      <div>
        <Heading level="h2">Last contact</Heading>
        {contacts.length === 0 && <Text>None yet.</Text>}
        {contacts.map((one) => (
          <Text key={one.id}>
            {one.id === "webhook" ? "Webhook" : `Changes of ${one.id}`}: {new Date(one.at).toLocaleString()} {one.problem}
          </Text>
        ))}
        <Button size="small" variant="secondary" onClick={() => void look()}>Look for changes</Button>
      </div>
      <div>
        <Heading level="h2">Not sent to print</Heading>
        {orders.length === 0 && <Text>No orders wait.</Text>}
        {orders.map((one) => (
          <div key={one.id} className="flex items-center justify-between gap-2 py-2">
            <div>
              <a className="text-ui-fg-interactive" href={`/app/orders/${one.order_id}`}>{one.external_id}</a>
              <Text size="small" className="whitespace-pre-line">{one.problem ?? "Being sent"}</Text>
            </div>
            <Button size="small" variant="secondary" onClick={() => void retry(one.order_id)}>Retry</Button>
          </div>
        ))}
      </div>
    </Container>
  );
};

export const config = defineRouteConfig({ label: "Print" });

export default PrintSettings;
