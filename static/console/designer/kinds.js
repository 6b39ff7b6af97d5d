// The kinds of boxes. Those without `add` are chosen for a box that is there.

export const KINDS = {
  Text: { name: gettext("Text"), symbol: "title", add: gettext("Add a text box") },
  Image: { name: gettext("Picture"), symbol: "image", add: gettext("Add a picture box") },
  QRCode: { name: gettext("QR code"), symbol: "qr_code_2", add: gettext("Add a QR code box") },
  Code128: { name: gettext("Bar code"), symbol: "barcode", add: gettext("Add a bar code box") },
  EddmIndicia: { name: gettext("EDDM indicia"), symbol: "local_post_office" },
  EddmAddress: { name: gettext("EDDM address"), symbol: "contact_mail" },
};
