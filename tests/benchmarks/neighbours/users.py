"""Users with an account and no role: what is open to all is the demo store."""

import io
import os
import zlib
from typing import Any
from urllib.parse import urlsplit

from tests.benchmarks.neighbours.kinds import Kinds
from tests.benchmarks.neighbours.raw import UNIQUE, api, form, page, request
from tests.benchmarks.neighbours.scene import CARD, LETTER, PHOTO, PRODUCTS, Scene

USERS = Kinds("user")
BODY_BYTES = 930_000
ITEMS = 500
ORDER, QUOTE = "/store/demo/order", "/store/demo/quote"
PROOF = f"/store/demo/product/{LETTER}/proof"
ASSET = "/api/v1/store/demo/asset"
# 50 megapixels.
WIDE, HIGH = 10_000, 5_000


@USERS.kind("unknown-members")
def unknown_members(scene: Scene) -> list[bytes]:
    members = ",".join(f'"{number:05}":1' for number in range(BODY_BYTES // 10))
    body = f"{{{members}}}".encode()
    return [api("POST", path, scene.outsider, body) for path in (ORDER, QUOTE, "/user", PROOF)]


@USERS.kind("long-name")
def long_name(scene: Scene) -> list[bytes]:
    body = b'{"' + b"n" * 500_000 + b'":[' + b"1," * 200_000 + b"1]}"
    return [api("POST", ORDER, scene.outsider, body)]


@USERS.kind("deep-nesting")
def deep_nesting(scene: Scene) -> list[bytes]:
    bodies = [b"[" * BODY_BYTES, b"[" * (BODY_BYTES // 2) + b"]" * (BODY_BYTES // 2)]
    bodies += [b'{"a":' * (BODY_BYTES // 5), b"[" * 30 + b"[]," * 300_000 + b"1" + b"]" * 30]
    return [api("POST", ORDER, scene.outsider, body) for body in bodies]


@USERS.kind("huge-arrays")
def huge_arrays(scene: Scene) -> list[bytes]:
    items = b'{"Items":[' + b"{}," * 300_000 + b"{}]}"
    numbers = b'{"Items":[' + b"[1]," * 230_000 + b"1]}"
    digits = b'{"Items":' + b"9" * 4_000 + b',"Metadata":[' + (b"9" * 4_000 + b",") * 200 + b"1]}"
    emails = b"[" + b",".join(b'"a%d@b.example"' % number for number in range(45_000)) + b"]"
    bodies = [(ORDER, items), (QUOTE, numbers), (ORDER, digits), ("/user/emails", emails)]
    return [api("POST", path, scene.outsider, body) for path, body in bodies]


@USERS.kind("slow-api-body", pace="drip-body")
def slow_api_body(scene: Scene) -> list[bytes]:
    return [api("POST", ORDER, scene.outsider, b" " * 900_000)]


@USERS.kind("orders-of-500")
def orders_of_500(scene: Scene) -> list[bytes]:
    """Each item a print file of its own."""
    return [api("POST", ORDER, scene.outsider, big_order())]


def big_order(items: int = ITEMS) -> dict[str, Any]:
    from tests.factories.orders import RECIPIENT, card_data

    data = card_data()
    lines = [
        {
            "ProductID": CARD,
            "Quantity": 100,
            "TemplateData": {**data, "Name": f"Ada {number} {UNIQUE}"},
        }
        for number in range(items)
    ]
    return {"Recipient": RECIPIENT, "Items": lines}


@USERS.kind("quotes-of-500")
def quotes_of_500(scene: Scene) -> list[bytes]:
    lines = [
        {
            "ItemKey": f"{number}",
            "ProductID": f"plain-{number % PRODUCTS:03}",
            "Quantity": 100 + 50 * (number % 9),
        }
        for number in range(ITEMS)
    ]
    return [api("POST", QUOTE, scene.outsider, {"Items": lines, "ShipTo": {"CountryCode": "US"}})]


@USERS.kind("proofs-hard-text")
def proofs_hard_text(scene: Scene) -> list[bytes]:
    return [
        api("POST", PROOF, scene.outsider, letter(text)) for text in (*hard_texts(700), *hard_texts(4_000))
    ]


@USERS.kind("proofs-long-text")
def proofs_long_text(scene: Scene) -> list[bytes]:
    return [api("POST", PROOF, scene.outsider, letter(text)) for text in hard_texts(19_900)]


def hard_texts(size: int) -> list[str]:
    """Long words, another direction in every other word, marks on marks, emoji of many parts, places to break."""
    word = "Donaudampfschiff"
    bidi = "שלום abc \u202eעולם\u202c 123 "
    marks = "e" + "\u0301\u0323\u0308" * 33 + " "
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 "
    soft = "in\u00adcom\u00adpre\u00adhen\u00adsi\u00adble\u200b"
    scripts = "क्षत्रिय 中文字 الكتابة fi ffl ﷺ "
    samples = [word, "W" * 40, bidi, marks, family, soft, scripts, word + bidi + family + scripts, "a\n"]
    return [(sample * (size // len(sample) + 1))[:size] for sample in samples]


def letter(text: str) -> dict[str, str]:
    return {"Company": f"Company {UNIQUE}", "Contact": text[:200], "Letter": text}


@USERS.kind("proofs-long-lines")
def proofs_long_lines(scene: Scene) -> list[bytes]:
    """What must be shrunk into a box of one line."""
    return [
        api("POST", PROOF, scene.outsider, {"Company": f"{UNIQUE} {text}", "Line": text, "Contact": text})
        for text in (text.replace("\n", " ") for text in hard_texts(20_000))
    ]


@USERS.kind("proofs-of-large-pictures")
def proofs_of_large_pictures(scene: Scene) -> list[bytes]:
    headers = {**scene.outsider, "Content-Type": "image/png"}
    assets = [_upload(scene, headers, png(WIDE, HIGH, shade)) for shade in range(4)]
    return [
        api("POST", f"/store/demo/product/{PHOTO}/proof", scene.outsider, {"Photo": each}) for each in assets
    ]


def _upload(scene: Scene, headers: Any, content: bytes) -> str:
    import requests

    answer = requests.post(scene.url + ASSET, content, headers=headers, timeout=60)
    answer.raise_for_status()
    return str(answer.json()["AssetID"])


@USERS.kind("pictures-of-50-megapixels")
def pictures_at_the_limit(scene: Scene) -> list[bytes]:
    headers = {**scene.outsider, "Content-Type": "image/png"}
    return [request("POST", ASSET, headers, png(WIDE, HIGH, shade)) for shade in range(2)]


@USERS.kind("files-unread", pace="unread")
def files_unread(scene: Scene) -> list[bytes]:
    """Asks for a picture of 8 MB and takes nothing of it."""
    from PIL import Image

    from stores.proofs.models import Asset
    from stores.proofs.signed_urls import asset_url

    content = io.BytesIO()
    Image.frombytes("RGB", (1600, 1600), os.urandom(1600 * 1600 * 3)).save(content, "PNG")
    _upload(scene, {**scene.outsider, "Content-Type": "image/png"}, content.getvalue())
    return [request("GET", urlsplit(asset_url(Asset.objects.latest("created"))).path)]


@USERS.kind("photos-of-50-megapixels")
def photos_at_the_limit(scene: Scene) -> list[bytes]:
    """On their side: in a colour space that must be converted, the largest progressive one, and one beyond it."""
    headers = {**scene.outsider, "Content-Type": "image/jpeg"}
    bodies = [photo("CMYK"), photo("RGB", progressive=True), photo("CMYK", progressive=True)]
    return [request("POST", ASSET, headers, body) for body in bodies]


@USERS.kind("orders-of-large-pictures")
def orders_of_large_pictures(scene: Scene) -> list[bytes]:
    """Each picture is separated for print, once."""
    from tests.factories.orders import RECIPIENT

    bodies = [("image/png", png(WIDE, HIGH, shade)) for shade in range(100, 104)]
    bodies += [("image/jpeg", photo("RGB", quality=quality)) for quality in range(60, 64)]
    assets = [_upload(scene, {**scene.outsider, "Content-Type": kind}, body) for kind, body in bodies]
    items = [{"ProductID": PHOTO, "Quantity": 100, "TemplateData": {"Photo": each}} for each in assets]
    return [
        api("POST", ORDER, scene.outsider, {"Recipient": RECIPIENT, "Items": items[start:] + items[:start]})
        for start in range(len(items))
    ]


def photo(mode: str, **options: Any) -> bytes:
    from PIL import Image

    content, turned = io.BytesIO(), Image.Exif()
    turned[0x0112] = 6
    picture = Image.linear_gradient("L").resize((WIDE, HIGH)).convert(mode)
    picture.save(content, "JPEG", exif=turned, **{"quality": 60, **options})
    return content.getvalue()


@USERS.kind("picture-bombs")
def picture_bombs(scene: Scene) -> list[bytes]:
    """More pixels than allowed, and chunks that unpack to gigabytes."""
    headers = {**scene.outsider, "Content-Type": "image/png"}
    text = chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(60_000_000), 9))
    profile = chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(60_000_000), 9))
    bodies = [png(WIDE, HIGH, 0, claimed=(60_000, 60_000))]
    bodies += [
        png(40, 40, 0, more=text * 20),
        png(40, 40, 0, more=profile),
        png(40, 40, 0, packed=bytes(200_000_000)),
    ]
    return [request("POST", ASSET, headers, body) for body in bodies]


def png(
    width: int,
    height: int,
    shade: int,
    *,
    claimed: tuple[int, int] | None = None,
    more: bytes = b"",
    packed: bytes | None = None,
) -> bytes:
    """In true colour, of one shade: small however large it is."""
    size = claimed or (width, height)
    header = b"".join(each.to_bytes(4, "big") for each in size) + bytes([8, 2, 0, 0, 0])
    row = b"\0" + bytes([shade, 90, 90]) * width
    pixels = zlib.compress(row * height if packed is None else packed, 9 if packed is not None else 1)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            more,
            chunk(b"IDAT", pixels),
            chunk(b"IEND", b""),
        ]
    )


def chunk(name: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(name + content).to_bytes(4, "big")
    return len(content).to_bytes(4, "big") + name + content + checksum


@USERS.kind("new-accounts")
def new_accounts(scene: Scene) -> list[bytes]:
    """Each needs a password hash."""
    person = {"FirstName": "Jane", "LastName": "Doe", "Password": "a long pass phrase"}
    names = {"Username": f"jane{UNIQUE}", "Email": f"jane{UNIQUE}@print.example"}
    return [api("POST", "/user", scene.outsider, {**person, **names})]


@USERS.kind("portal-pages")
def portal_pages(scene: Scene) -> list[bytes]:
    cookie = scene.session("outsider")
    return [page(path, cookie) for path in ("/", "/profile", "/applications", "/guide", "/profile/keys")]


@USERS.kind("password-checks")
def password_checks(scene: Scene) -> list[bytes]:
    """The old password, guessed by who has a session."""
    fields = {"old_password": f"wrong{UNIQUE}", "new_password1": "x", "new_password2": "x"}
    return [form("/accounts/password-change/", scene.session("outsider"), **fields)]
