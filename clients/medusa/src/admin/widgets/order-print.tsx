import { defineWidgetConfig } from "@medusajs/admin-sdk";
import { Badge, Button, Container, Heading, Text } from "@medusajs/ui";
import { useEffect, useState } from "react";

import { call, type PrintOrder } from "../call";

/** The print orders of an order: status, parcels, problem, and another try. */
const OrderPrint = ({ data: { id } }: { data: { id: string } }) => {
  const [orders, setOrders] = useState<PrintOrder[]>([]);
  const [problem, setProblem] = useState("");
  const load = (path = "", options?: RequestInit) =>
    call<{ orders: PrintOrder[] }>(`/orders/${id}${path}`, options)
      .then((found) => setOrders(found.orders))
      .catch((error: Error) => setProblem(error.message));
  useEffect(() => void load(), [id]);
  return (
    <Container className="flex flex-col gap-3">
      <Heading level="h2">Print</Heading>
      {problem && <Text className="text-ui-fg-error">{problem}</Text>}
      {orders.length === 0 && <Text size="small">Nothing was sent to print yet.</Text>}
      {orders.map((order) => (
        <div key={order.id} className="flex flex-col gap-1">
          <div className="flex items-center gap-2">
            <Badge size="2xsmall" color={order.state === "held" || order.state === "ended" ? "red" : "green"}>
              {order.status_name ?? (order.state === "held" ? "Held" : "To be sent")}
            </Badge>
            {order.is_test && <Badge size="2xsmall" color="orange">Test</Badge>}
            {order.print_order_number && <Text size="small">No. {order.print_order_number} at {order.store_id}</Text>}
          </div>
          {order.total && <Text size="small">{order.total} {order.currency}</Text>}
          {order.cancellation && <Text size="small">Cancellation: {order.cancellation}</Text>}
          {(order.shipments ?? []).map((one) => (
            <Text key={one.TrackingNumber} size="small">{one.Carrier} {one.TrackingNumber}</Text>
          ))}
          {order.problem && <Text size="small" className="whitespace-pre-line text-ui-fg-error">{order.problem}</Text>}
          {order.print_order_id && (
            <a className="txt-small text-ui-fg-interactive" href={`/admin/print/orders/${order.id}/packing-slip`}>Open packing slip</a>
          )}
          {order.state !== "placed" && (
            <Button size="small" variant="secondary" onClick={() => void load("/retry", { method: "POST" })}>
              {order.state === "ended" ? "Order again" : "Retry"}
            </Button>
          )}
        </div>
      ))}
    </Container>
  );
};

export const config = defineWidgetConfig({ zone: "order.details.side.after" });

export default OrderPrint;
