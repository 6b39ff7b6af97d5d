import { defineRouteConfig } from "@medusajs/admin-sdk";
import { Alert, Button, Container, Heading, StatusBadge, Table, Text } from "@medusajs/ui";
import type { ReactNode } from "react";

import { badgeOf, type PrintOrder, useLoaded } from "../../../plugin";

interface State {
  connection: { stores: string[]; problem: string | null };
  starts_on: "payment" | "order";
  contacts: Array<{ id: string; at: string; problem: string | null }>;
  orders: PrintOrder[];
}

const PrintSettings = () => {
  const { state, problem, isBusy, act } = useLoaded<State>("");
  return (
    <div className="flex flex-col gap-3">
      {problem && <Alert variant="error">{problem}</Alert>}
      <Section title="Print" action={state && <Connection isWorking={state.connection.problem === null} />}>
        {state ? <Facts state={state} /> : <Text size="small" className="px-6 py-4">Testing the connection</Text>}
      </Section>
      {state && (
        <>
          <Section
            title="Last contact"
            action={<Button size="small" variant="secondary" isLoading={isBusy} onClick={() => { act("/look"); }}>Look for changes</Button>}
          >
            <Contacts contacts={state.contacts} />
          </Section>
          <Section title="Not sent to print">
            <Waiting orders={state.orders} isBusy={isBusy} retry={(id) => { act(`/orders/${id}/retry`); }} />
          </Section>
        </>
      )}
    </div>
  );
};

const Section = ({ title, action, children }: { title: string; action?: ReactNode; children: ReactNode }) => (
  <Container className="divide-y p-0">
    <div className="flex items-center justify-between px-6 py-4">
      <Heading level="h2">{title}</Heading>
      {action}
    </div>
    {children}
  </Container>
);

const Connection = ({ isWorking }: { isWorking: boolean }) => (
  <StatusBadge color={isWorking ? "green" : "red"}>{isWorking ? "Connected" : "Not connected"}</StatusBadge>
);

const Facts = ({ state: { connection, starts_on } }: { state: State }) => (
  <div className="flex flex-col gap-2 px-6 py-4">
    {connection.problem && <Alert variant="error">{connection.problem}</Alert>}
    <Text size="small">Stores: {connection.stores.join(", ") || "none; request access to one in the portal of the print service"}</Text>
    <Text size="small" className="text-ui-fg-subtle">Orders are sent once they are {starts_on === "payment" ? "paid in full" : "placed"}.</Text>
  </div>
);

const Contacts = ({ contacts }: { contacts: State["contacts"] }) => {
  if (contacts.length === 0) return <Text size="small" className="px-6 py-4">None yet.</Text>;
  return (
    <Table>
      <Table.Body>
        {contacts.map((one) => (
          <Table.Row key={one.id}>
            <Table.Cell>{one.id === "webhook" ? "Webhook" : `Changes at ${one.id}`}</Table.Cell>
            <Table.Cell>{new Date(one.at).toLocaleString()}</Table.Cell>
            <Table.Cell className="text-ui-fg-error">{one.problem}</Table.Cell>
          </Table.Row>
        ))}
      </Table.Body>
    </Table>
  );
};

const Waiting = ({ orders, isBusy, retry }: { orders: PrintOrder[]; isBusy: boolean; retry: (id: string) => void }) => {
  if (orders.length === 0) return <Text size="small" className="px-6 py-4">Every due order was sent.</Text>;
  return orders.map((one) => (
    <div key={one.id} className="flex items-start justify-between gap-4 px-6 py-4">
      <div className="flex flex-col gap-1">
        <div className="flex items-center gap-2">
          <a className="txt-compact-small-plus text-ui-fg-interactive" href={`/app/orders/${one.order_id}`}>Order {one.display_id ?? one.order_id}</a>
          <StatusBadge color={badgeOf(one).color}>{badgeOf(one).text}</StatusBadge>
        </div>
        <Text size="small" className="whitespace-pre-line text-ui-fg-subtle">{one.problem ?? "It is being sent."}</Text>
      </div>
      <Button size="small" variant="secondary" className="shrink-0" isLoading={isBusy} onClick={() => { retry(one.order_id); }}>Retry</Button>
    </div>
  ));
};

export const config = defineRouteConfig({ label: "Print" });

export default PrintSettings;
