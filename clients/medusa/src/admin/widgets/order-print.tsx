import { defineWidgetConfig } from "@medusajs/admin-sdk";
import { Alert, Badge, Button, Container, Heading, StatusBadge, Text } from "@medusajs/ui";

import { badgeOf, type PrintOrder, useLoaded } from "../plugin";

interface Proofs {
  proofs: Array<{ title: string; pages: string[]; problem: string | null }>;
}

/** The print orders of an order: status, proof, parcels, problem, and another try. */
const OrderPrint = ({ data: { id } }: { data: { id: string } }) => {
  const { state, problem, isBusy, act } = useLoaded<{ orders: PrintOrder[] }>(`/orders/${id}`);
  const retry = () => { act(`/orders/${id}/retry`); };
  return (
    <Container className="divide-y p-0">
      <Heading level="h2" className="px-6 py-4">Print</Heading>
      {problem && <Alert variant="error" className="m-4">{problem}</Alert>}
      {state?.orders.length === 0 && (
        <Text size="small" className="px-6 py-4 text-ui-fg-subtle">Nothing was sent to print yet. Orders are sent once they are due.</Text>
      )}
      {state?.orders.map((order) => (
        <div key={order.id} className="flex flex-col gap-3 px-6 py-4">
          <Summary order={order} />
          {order.problem && <Alert variant={order.state === "placed" ? "warning" : "error"} className="whitespace-pre-line">{order.problem}</Alert>}
          <Proof row={order} />
          <div className="flex items-center gap-2">
            {order.state !== "placed" && (
              <Button size="small" variant="secondary" isLoading={isBusy} onClick={retry}>{order.state === "ended" ? "Order again" : "Retry"}</Button>
            )}
            {order.print_order_id && (
              <Button size="small" variant="secondary" asChild>
                <a href={`/admin/print/orders/${order.id}/packing-slip`} target="_blank" rel="noreferrer">Packing slip</a>
              </Button>
            )}
          </div>
        </div>
      ))}
    </Container>
  );
};

const Summary = ({ order }: { order: PrintOrder }) => {
  const { text, color } = badgeOf(order);
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center justify-between gap-2">
        <Text size="small" weight="plus">{order.print_order_number ? `No. ${order.print_order_number}` : "Not at the store yet"}</Text>
        <div className="flex items-center gap-1">
          {order.is_test && <Badge size="2xsmall" color="orange">Test</Badge>}
          <StatusBadge color={color}>{text}</StatusBadge>
        </div>
      </div>
      <Text size="small" className="text-ui-fg-subtle">
        {order.store_id}{order.total && order.currency && `, billed ${price(order.total, order.currency)}`}
      </Text>
      {order.cancellation && <Text size="small" className="text-ui-fg-subtle">Cancellation: {order.cancellation.toLowerCase()}</Text>}
      {(order.shipments ?? []).map((one) => (
        <Text key={one.TrackingNumber} size="small" className="text-ui-fg-subtle">
          {one.Carrier}{" "}
          {one.TrackingURL ? <a className="text-ui-fg-interactive" href={one.TrackingURL} target="_blank" rel="noreferrer">{one.TrackingNumber}</a> : one.TrackingNumber}
        </Text>
      ))}
    </div>
  );
};

const price = (total: string, currency: string): string => new Intl.NumberFormat(undefined, { style: "currency", currency }).format(Number(total));

const Proof = ({ row }: { row: PrintOrder }) => {
  const { state, problem } = useLoaded<Proofs>(`/orders/${row.id}/proofs`);
  if (problem) return <Text size="small" className="text-ui-fg-muted">No proof: {problem}</Text>;
  return state?.proofs.map((one, place) => (
    <div key={place} className="flex flex-col gap-1">
      <Text size="small" className="text-ui-fg-subtle">{one.title}{one.problem && !row.problem && ` has no proof: ${one.problem}`}</Text>
      <div className="flex flex-wrap gap-2">
        {one.pages.map((url, page) => (
          <a key={url} href={url} target="_blank" rel="noreferrer">
            <img src={url} alt={`${one.title}, page ${String(page + 1)}`} className="border-ui-border-base max-h-24 rounded border" />
          </a>
        ))}
      </div>
    </div>
  ));
};

export const config = defineWidgetConfig({ zone: "order.details.side.after" });

export default OrderPrint;
