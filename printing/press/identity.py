"""Marks a file as PDF/X-4: metadata, information dictionary and output intent."""

import hashlib
import uuid
import zlib
from collections.abc import Iterator
from functools import lru_cache
from html import escape
from io import BytesIO

import pikepdf

from printing.press.profiles import OutputCondition
from printing.press.rules import PDF_X4

# A fixed date for all files, so that equal orders have equal bytes.
MOMENT = "2000-01-01T00:00:00+00:00"
MOMENT_OF_PDF = "D:20000101000000+00'00'"
PRODUCER = "Store Fulfillment"
REGISTRY = "http://www.color.org"
# Placeholders for the IDs of the finished file: `static_id` writes these digits of pi.
NO_DOCUMENT = b"00000000-0000-4000-8000-000000000000"
NO_ID = b"31415926535897932384626433832795"
_XMP = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about=""
 xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:pdf="http://ns.adobe.com/pdf/1.3/"
 xmlns:pdfxid="http://www.npes.org/pdfx/ns/id/"
 xmlns:xmp="http://ns.adobe.com/xap/1.0/"
 xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/">
<dc:format>application/pdf</dc:format>
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">{title}</rdf:li></rdf:Alt></dc:title>
<pdf:Producer>{producer}</pdf:Producer>
<pdf:Trapped>False</pdf:Trapped>
<pdfxid:GTS_PDFXVersion>{standard}</pdfxid:GTS_PDFXVersion>
<xmp:CreateDate>{moment}</xmp:CreateDate>
<xmp:ModifyDate>{moment}</xmp:ModifyDate>
<xmp:MetadataDate>{moment}</xmp:MetadataDate>
<xmp:CreatorTool>{producer}</xmp:CreatorTool>
<xmpMM:DocumentID>uuid:{document}</xmpMM:DocumentID>
<xmpMM:InstanceID>uuid:{document}</xmpMM:InstanceID>
<xmpMM:RenditionClass>default</xmpMM:RenditionClass>
<xmpMM:VersionID>1</xmpMM:VersionID>
</rdf:Description>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>"""


def identify(pdf: pikepdf.Pdf, *, title: str) -> None:
    packet = _XMP.format(
        title=escape(title),
        producer=PRODUCER,
        standard=PDF_X4,
        moment=MOMENT,
        document=NO_DOCUMENT.decode(),
    )
    metadata = pikepdf.Stream(pdf, packet.encode(), Type=pikepdf.Name.Metadata, Subtype=pikepdf.Name.XML)
    pdf.Root.Metadata = pdf.make_indirect(metadata)
    pdf.trailer.Info = pdf.make_indirect(
        pikepdf.Dictionary(
            Title=title,
            Creator=PRODUCER,
            Producer=PRODUCER,
            CreationDate=MOMENT_OF_PDF,
            ModDate=MOMENT_OF_PDF,
            Trapped=pikepdf.Name("/False"),
            GTS_PDFXVersion=PDF_X4,
        )
    )


def give_id(file: BytesIO) -> bytes:
    """Names a finished file by its content: equal files have equal IDs, all others different ones.

    In place, because a file with large pictures must not be in memory twice.
    """
    content = file.getvalue()
    name = uuid.UUID(bytes=hashlib.sha256(content).digest()[:16], version=4)
    trailer = content.rfind(b"trailer")
    places = [(offset, str(name).encode()) for offset in _find_places(content, NO_DOCUMENT, 0)]
    places += [(offset, name.hex.encode()) for offset in _find_places(content, NO_ID, trailer)]
    # The buffer is copied while other code holds a reference to it.
    del content
    with file.getbuffer() as buffer:
        for offset, identifier in places:
            buffer[offset : offset + len(identifier)] = identifier
    return file.getvalue()


def _find_places(content: bytes, text: bytes, start: int) -> Iterator[int]:
    while (start := content.find(text, start)) >= 0:
        yield start
        start += len(text)


def intend(pdf: pikepdf.Pdf, condition: OutputCondition) -> None:
    """Adds the output intent and embeds its profile."""
    profile = pikepdf.Stream(pdf, _compress_profile(condition.profile), N=4, Filter=pikepdf.Name.FlateDecode)
    intent = pikepdf.Dictionary(
        Type=pikepdf.Name.OutputIntent,
        S=pikepdf.Name("/GTS_PDFX"),
        OutputConditionIdentifier=condition.condition,
        Info=condition.description,
        DestOutputProfile=pdf.make_indirect(profile),
    )
    if condition.condition != "Custom":
        intent.RegistryName = REGISTRY
    pdf.Root.OutputIntents = pikepdf.Array([pdf.make_indirect(intent)])


@lru_cache(maxsize=4)
def _compress_profile(profile: bytes) -> bytes:
    """Compressing a megabyte takes 40 ms, so each process does it once."""
    return zlib.compress(profile, 9)
