import { defineWidgetConfig } from "@medusajs/admin-sdk";
import { Button, Container, Heading, Input, Label, Select, Text, Textarea } from "@medusajs/ui";
import { useEffect, useState } from "react";

import { call } from "../call";

interface Store {
  id: string;
  name: string;
  products: Array<{ ID: string; Name: string; DefaultQty: number; TemplateFields: Array<{ FieldName: string }> }>;
}
interface Mapping {
  store_id: string;
  product_id: string;
  pieces: number;
  fields: Record<string, string>;
}

/** What is printed for a variant. */
const VariantPrint = ({ data: { id } }: { data: { id: string } }) => {
  const [stores, setStores] = useState<Store[]>([]);
  const [mapping, setMapping] = useState<Mapping>();
  const [fields, setFields] = useState("");
  const [message, setMessage] = useState("");
  const fail = (error: Error) => setMessage(error.message);
  useEffect(() => {
    call<{ stores: Store[] }>("/products").then((found) => setStores(found.stores)).catch(fail);
    call<{ product: Mapping | null }>(`/variants/${id}`)
      .then(({ product }) => {
        setMapping(product ?? undefined);
        setFields(Object.entries(product?.fields ?? {}).map(([name, value]) => `${name}=${value}`).join("\n"));
      })
      .catch(fail);
  }, [id]);
  const choose = (value: string) => {
    const [store_id = "", product_id = ""] = value.split("/");
    const product = stores.find((one) => one.id === store_id)?.products.find((one) => one.ID === product_id);
    setMapping({ store_id, product_id, pieces: product?.DefaultQty ?? 1, fields: {} });
  };
  const save = () => {
    const { store_id, product_id, pieces } = mapping!;
    const pairs = fields.split("\n").filter(Boolean).map((line) => [line.split("=")[0]!.trim(), line.slice(line.indexOf("=") + 1)]);
    const body = JSON.stringify({ store_id, product_id, pieces, fields: Object.fromEntries(pairs) });
    call(`/variants/${id}`, { method: "POST", body }).then(() => setMessage("Changes saved.")).catch(fail);
  };
  return (
    <Container className="flex flex-col gap-3">
      <Heading level="h2">Print</Heading>
      <Label htmlFor="print-product">Print product</Label>
      <Select value={mapping && `${mapping.store_id}/${mapping.product_id}`} onValueChange={choose}>
        <Select.Trigger id="print-product"><Select.Value placeholder="Choose a product" /></Select.Trigger>
        <Select.Content>
          {stores.flatMap((store) =>
            store.products.map((one) => (
              <Select.Item key={`${store.id}/${one.ID}`} value={`${store.id}/${one.ID}`}>{store.name}: {one.Name}</Select.Item>
            )),
          )}
        </Select.Content>
      </Select>
      {mapping && (
        <>
          <Label htmlFor="print-pieces">Pieces in one unit</Label>
          <Input id="print-pieces" type="number" min={1} value={mapping.pieces} onChange={(e) => setMapping({ ...mapping, pieces: Number(e.target.value) })} />
          <Label htmlFor="print-fields">Fixed values, one Field=value in a line</Label>
          <Textarea id="print-fields" value={fields} onChange={(e) => setFields(e.target.value)} />
          <Button size="small" onClick={save}>Save</Button>
        </>
      )}
      {message && <Text size="small">{message}</Text>}
    </Container>
  );
};

export const config = defineWidgetConfig({ zone: "product_variant.details.side.after" });

export default VariantPrint;
