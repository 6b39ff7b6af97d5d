import { defineWidgetConfig } from "@medusajs/admin-sdk";
import { Alert, Button, Container, Heading, Hint, Input, Label, Select, toast } from "@medusajs/ui";
import { useState } from "react";

import { useLoaded } from "../plugin";

interface Product {
  ID: string;
  Name: string;
  DefaultQty: number;
  TemplateFields: Array<{ FieldName: string; Prompt: string }>;
}
interface Mapping {
  store_id: string;
  product_id: string;
  pieces: number;
  fields: Record<string, string>;
}

/** What is printed for a variant. */
const VariantPrint = ({ data: { id } }: { data: { id: string } }) => {
  const offers = useLoaded<{ stores: Array<{ id: string; name: string; products: Product[] }> }>("/products");
  const saved = useLoaded<{ product: Mapping | null }>(`/variants/${id}`);
  const [changed, setChanged] = useState<Mapping>();
  const mapping = changed ?? saved.state?.product ?? undefined;
  const stores = offers.state?.stores ?? [];
  const productOf = (store: string, product: string) => stores.find((one) => one.id === store)?.products.find((one) => one.ID === product);
  const product = mapping && productOf(mapping.store_id, mapping.product_id);
  const problem = offers.problem || saved.problem;
  const choose = (value: string) => {
    const [store_id = "", product_id = ""] = value.split("/");
    setChanged({ store_id, product_id, pieces: productOf(store_id, product_id)?.DefaultQty ?? 1, fields: {} });
  };
  const save = () => {
    if (mapping === undefined) return;
    const { store_id, product_id, pieces } = mapping;
    const fields = Object.fromEntries(Object.entries(mapping.fields).filter(([, value]) => value));
    saved.act(`/variants/${id}`, "POST", { store_id, product_id, pieces, fields });
    setChanged(undefined);
    toast.info("Saving what is printed for this variant");
  };
  return (
    <Container className="divide-y p-0">
      <Heading level="h2" className="px-6 py-4">Print</Heading>
      {problem && <Alert variant="error" className="m-4 whitespace-pre-line">{problem}</Alert>}
      <div className="flex flex-col gap-4 px-6 py-4">
        <div className="flex flex-col gap-1">
          <Label size="small" htmlFor="print-product">Print product</Label>
          <Select value={mapping ? `${mapping.store_id}/${mapping.product_id}` : ""} onValueChange={choose}>
            <Select.Trigger id="print-product"><Select.Value placeholder="Choose a product" /></Select.Trigger>
            <Select.Content>
              {stores.map((store) => (
                <Select.Group key={store.id}>
                  <Select.Label>{store.name}</Select.Label>
                  {store.products.map((one) => <Select.Item key={one.ID} value={`${store.id}/${one.ID}`}>{one.Name}</Select.Item>)}
                </Select.Group>
              ))}
            </Select.Content>
          </Select>
        </div>
        {mapping && (
          <>
            <div className="flex flex-col gap-1">
              <Label size="small" htmlFor="print-pieces">Pieces in one unit</Label>
              <Input id="print-pieces" type="number" min={1} value={mapping.pieces} onChange={(event) => { setChanged({ ...mapping, pieces: Number(event.target.value) }); }} />
            </div>
            {product?.TemplateFields.map(({ FieldName, Prompt }) => (
              <div key={FieldName} className="flex flex-col gap-1">
                <Label size="small" htmlFor={`print-${FieldName}`}>{Prompt || FieldName}</Label>
                <Input
                  id={`print-${FieldName}`}
                  placeholder="From the buyer"
                  value={mapping.fields[FieldName] ?? ""}
                  onChange={(event) => { setChanged({ ...mapping, fields: { ...mapping.fields, [FieldName]: event.target.value } }); }}
                />
              </div>
            ))}
            <Hint>Every buyer gets this value, and the shop shows no field for it.</Hint>
            <Button size="small" isLoading={saved.isBusy} disabled={changed === undefined} onClick={save}>Save</Button>
          </>
        )}
      </div>
    </Container>
  );
};

export const config = defineWidgetConfig({ zone: "product_variant.details.side.after" });

export default VariantPrint;
