import struct
from io import BytesIO
from zlib import compress, crc32

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image, ImageCms
from PIL.PngImagePlugin import PngInfo

from accounts.api import idempotency
from fulfillment.core import concurrency_limits
from stores.proofs.models import Asset
from tests.factories.templates import field, make_card, page

PATH = "/api/v1/store/associated/asset"


@pytest.fixture
def client(world):
    return world.as_application()


def encode(form="PNG", size=(40, 30), mode="RGB", color="teal", **options):
    out = BytesIO()
    Image.new(mode, size, color).save(out, form, **options)
    return out.getvalue()


def fetched(client, record):
    response = client.get(record["URL"].removeprefix("http://127.0.0.1:8000"))
    return response["Content-Type"], b"".join(response.streaming_content)


def code(response):
    assert response.status_code == 400, response.content
    return response.json()["Code"]


def test_asset_sent_raw_is_kept_and_served(client):
    response = client.post(PATH, encode(), content_type="image/png")

    assert response.status_code == 201
    record = response.json()
    assert set(record) == {"AssetID", "Width", "Height", "URL", "Created"}
    assert (record["Width"], record["Height"], record["Created"][-1]) == (40, 30, "Z")
    media_type, content = fetched(client, record)
    assert (media_type, Image.open(BytesIO(content)).size) == ("image/png", (40, 30))


def test_asset_sent_as_form_is_checked_by_its_content(client):
    file = SimpleUploadedFile("x.png", encode("JPEG"), content_type="image/png")

    record = client.post(PATH, {"anything": file}).json()

    assert fetched(client, record)[0] == "image/jpeg"


def test_metadata_stay_behind_and_the_picture_stands_upright(client):
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "SECRET PLACE"
    jpeg = encode("JPEG", exif=exif, comment=b"SECRET COMMENT")
    info = PngInfo()
    info.add_text("Author", "SECRET AUTHOR")

    turned = client.post(PATH, jpeg + b"SECRET TAIL", content_type="image/jpeg").json()
    plain = client.post(PATH, encode(pnginfo=info) + b"SECRET TAIL", content_type="image/png").json()

    assert (turned["Width"], turned["Height"]) == (30, 40)
    for record in (turned, plain):
        content = fetched(client, record)[1]
        assert b"SECRET" not in content
        assert not Image.open(BytesIO(content)).getexif()


def test_colors_are_converted_before_their_profile_is_left_behind(client):
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    with_profile = client.post(PATH, encode(icc_profile=lab), content_type="image/png").json()
    cmyk = client.post(PATH, encode("JPEG", mode="CMYK", color=0), content_type="image/jpeg").json()
    palette = client.post(PATH, encode(mode="P", color=3, transparency=3), content_type="image/png").json()

    pictures = [Image.open(BytesIO(fetched(client, record)[1])) for record in (with_profile, cmyk, palette)]
    assert [picture.mode for picture in pictures] == ["RGB", "RGB", "RGBA"]
    assert pictures[0].getpixel((0, 0)) == (0, 128, 128)
    assert [picture.info.get("icc_profile") for picture in pictures] == [None] * 3


def profile(space, tables):
    """A small ICC profile (version 2) of a matrix, or of gray, with gamma 1 of every color."""
    curve = b"curv" + bytes(4) + struct.pack(">I", 0)
    content = {name: curve for name in tables if name.endswith(b"TRC")}
    content |= {name: b"XYZ " + bytes(4) + xyz(*value) for name, value in tables.items() if value}
    content |= {b"desc": b"desc" + bytes(4) + struct.pack(">I", 2) + b"x" + bytes(80)}
    start, listed, body = 128 + 4 + 12 * len(content), b"", b""
    for name, data in content.items():
        padded = data + bytes(-len(data) % 4)
        listed += struct.pack(">4sII", name, start + len(body), len(data))
        body += padded
    size = start + len(body)
    head = struct.pack(">I4xI4s4s4s12x4s28x", size, 0x02400000, b"mntr", space, b"XYZ ", b"acsp")
    head += xyz(0.9642, 1.0, 0.8249)
    return head + bytes(128 - len(head)) + struct.pack(">I", len(content)) + listed + body


def xyz(*values):
    return struct.pack(">3i", *(round(value * 65_536) for value in values))


WHITE = (0.9642, 1.0, 0.8249)
CURVES = {b"rTRC": None, b"gTRC": None, b"bTRC": None}
# Red and blue are exchanged, and light is linear.
SWAPPED = profile(
    b"RGB ",
    {
        b"wtpt": WHITE,
        b"bXYZ": (0.4361, 0.2225, 0.0139),
        b"gXYZ": (0.3851, 0.7169, 0.0971),
        b"rXYZ": (0.1431, 0.0606, 0.7141),
        **CURVES,
    },
)
LINEAR_GRAY = profile(b"GRAY", {b"wtpt": WHITE, b"kTRC": None})


def kept_pixel(client, picture, **options):
    out = BytesIO()
    picture.save(out, "PNG", **options)
    record = client.post(PATH, out.getvalue(), content_type="image/png").json()
    return Image.open(BytesIO(fetched(client, record)[1])).convert("RGBA").getpixel((0, 0))


def test_profile_applies_to_every_kind_of_png(client):
    plain = Image.new("RGB", (4, 4), (200, 100, 0))
    through = plain.copy()
    through.putalpha(128)
    kinds = [plain, through, plain.convert("P", palette=Image.Palette.ADAPTIVE)]

    solid, seen_through, palette = (kept_pixel(client, kind, icc_profile=SWAPPED) for kind in kinds)

    assert solid[0] < 20
    assert solid[2] > 220
    assert seen_through == (*solid[:3], 128)
    assert palette == solid
    assert kept_pixel(client, kinds[2], icc_profile=SWAPPED, transparency=0) == (*solid[:3], 0)


def test_profile_of_gray_counts(client):
    gray = Image.new("L", (4, 4), 55)
    lighter = kept_pixel(client, gray, icc_profile=LINEAR_GRAY)

    assert lighter[0] == pytest.approx(128, abs=3)
    assert kept_pixel(client, gray.convert("LA"), icc_profile=LINEAR_GRAY) == lighter
    assert kept_pixel(client, gray.convert("RGB"), icc_profile=LINEAR_GRAY) == lighter
    assert kept_pixel(client, gray, icc_profile=b"damaged")[0] == 55


@pytest.mark.parametrize("clear", [None, 257 * 7])
def test_gray_of_sixteen_bits_keeps_its_shades(client, clear):
    rows = b"\0" + b"".join(struct.pack(">H", shade * 257) for shade in range(256))
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", 256, 1, 16, 0, 0, 0, 0)),
        (b"IDAT", compress(rows)),
        (b"IEND", b""),
    ]
    if clear is not None:
        parts.insert(1, (b"tRNS", struct.pack(">H", clear)))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc32(kind + data))
        for kind, data in parts
    )

    record = client.post(PATH, png, content_type="image/png").json()

    picture = Image.open(BytesIO(fetched(client, record)[1]))
    assert picture.mode == ("L" if clear is None else "RGBA")
    shown = [picture.convert("RGBA").getpixel((x, 0)) for x in range(256)]
    assert shown == [(x, x, x, 0 if clear == x * 257 else 255) for x in range(256)]


@pytest.mark.parametrize("media_type", ["", "image/gif", "application/json", "application/octet-stream"])
def test_asset_with_another_content_type_is_415(client, media_type):
    assert client.generic("POST", PATH, encode(), content_type=media_type).status_code == 415


@pytest.mark.parametrize("count", [0, 2])
def test_form_needs_exactly_one_file(client, count):
    files = {f"f{n}": SimpleUploadedFile("x.png", encode()) for n in range(count)} or {"text": "x"}

    assert code(client.post(PATH, files)) == "asset_one_file"


def test_unreadable_picture_is_refused(client):
    frames = [Image.new("RGB", (9, 9), color) for color in ("red", "blue")]
    animated = BytesIO()
    frames[0].save(animated, "PNG", save_all=True, append_images=frames[1:])

    assert code(client.post(PATH, animated.getvalue(), content_type="image/png")) == "asset_animated"
    assert code(client.generic("POST", PATH, b"", CONTENT_TYPE="image/png")) == "asset_empty"
    for content in (b"<svg/>", encode("GIF"), encode()[:60], encode("BMP")):
        assert code(client.post(PATH, content, content_type="image/png")) == "asset_unreadable"


def test_photo_with_a_second_picture_is_taken_as_a_jpeg(client):
    """As phones write them; it was a server error."""
    photo = encode("MPO", save_all=True, append_images=[Image.new("RGB", (8, 6))])

    record = client.post(PATH, photo, content_type="image/jpeg").json()

    assert fetched(client, record)[0] == "image/jpeg"
    assert (record["Width"], record["Height"]) == (40, 30)


def test_progressive_jpeg_of_many_samples_is_refused_before_decoding(client, monkeypatch):
    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", lambda self: pytest.fail("the picture was decoded"))
    photo = encode("JPEG", size=(5_200, 4_900), progressive=True, subsampling=0, quality=20)

    response = client.post(PATH, photo, content_type="image/jpeg")

    assert code(response) == "asset_too_many_pixels"
    assert "progressive JPEG of 76,440,000 samples" in response.content.decode()


def test_limits_are_checked_before_decoding(client, monkeypatch):
    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", lambda self: pytest.fail("the picture was decoded"))
    giant = encode(mode="1", size=(8000, 8000), color=0)
    bomb = bytearray(encode(mode="1", size=(8, 8), color=0))
    bomb[16:24] = (60_000).to_bytes(4) * 2
    bomb[29:33] = crc32(bomb[12:29]).to_bytes(4)
    large = encode() + b"\0" * (10 * 1024 * 1024)

    assert len(giant) < 100_000
    assert code(client.post(PATH, giant, content_type="image/png")) == "asset_too_many_pixels"
    assert code(client.post(PATH, bytes(bomb), content_type="image/png")) == "asset_too_many_pixels"
    assert code(client.post(PATH, large, content_type="image/png")) == "asset_too_large"
    assert code(client.post(PATH, {"f": SimpleUploadedFile("x.png", large)})) == "asset_too_large"
    assert code(client.post(PATH, large + large, content_type="image/png")) == "asset_too_large"


def test_asset_is_for_its_application_and_store_only(world, client):
    photo = {"Field": "Photo", "Kind": "Image", "X": 5, "Y": 5, "Width": 20, "Height": 20}
    for store in (world.associated, world.demo):
        make_card(
            store,
            TemplateFields=[field("Photo", Type="Image", SubType="Upload")],
            Template={"Pages": [page(photo)]},
        )

    def send(sender, store):
        response = sender.post(f"/api/v1/store/{store}/asset", encode(), content_type="image/png")
        return response.json().get("AssetID", response.status_code)

    def use(caller, store, asset_id):
        path = f"/store/{store}/product/card/proof"
        return caller.call("POST", path, {"Photo": asset_id}).status_code

    own, other = send(client, "associated"), world.as_application(world.other_application)
    on_behalf = world.as_user(world.outsider, application=world.application)
    assert use(client, "associated", own) == use(on_behalf, "associated", own) == 200
    assert use(client, "demo", own) == 400
    assert use(other, "demo", send(client, "demo")) == 400
    assert send(other, "associated") == 403
    assert use(world.as_user(world.user), "associated", own) == 400

    through_console = send(world.as_user(world.user), "demo")
    assert use(world.as_user(world.user), "demo", through_console) == 200
    assert use(world.as_user(world.outsider), "demo", through_console) == 400


def test_storage_failure_is_503_and_leaves_nothing(client, broken_storage, stored_files):
    broken_storage(0)

    response = client.post(PATH, encode(), content_type="image/png")

    assert (response.status_code, response.json()["Code"]) == (503, "storage_unavailable")
    assert response["Retry-After"]
    assert (Asset.objects.count(), stored_files()) == (0, [])


def keyed(client, content, media_type="image/png", key="k-1"):
    return client.post(PATH, content, content_type=media_type, HTTP_IDEMPOTENCY_KEY=key)


def test_same_picture_under_a_key_is_kept_once(client, stored_files):
    first = keyed(client, encode())
    again = keyed(client, encode())
    form = client.post(PATH, {"file": SimpleUploadedFile("x.png", encode())}, HTTP_IDEMPOTENCY_KEY="k-1")

    assert [response.status_code for response in (first, again, form)] == [201] * 3
    assert first.json() == again.json() == form.json()
    assert [response.get("Idempotent-Replayed") for response in (first, again, form)] == [
        None,
        "true",
        "true",
    ]
    assert (Asset.objects.count(), len(stored_files())) == (1, 1)


def test_large_form_under_a_key_is_read_again_from_its_start(client):
    """Beyond 2.5 MB a form's file is on disk."""
    noise = BytesIO()
    Image.effect_noise((2200, 1600), 90).save(noise, "PNG")
    files = [SimpleUploadedFile("x.png", noise.getvalue()) for _ in range(2)]
    assert len(noise.getvalue()) > 2_621_440

    responses = [client.post(PATH, {"file": file}, HTTP_IDEMPOTENCY_KEY="k-1") for file in files]

    assert [response.status_code for response in responses] == [201, 201]
    assert responses[0].json() == responses[1].json()


def test_other_picture_under_the_key_is_refused(client):
    keyed(client, encode())
    other = keyed(client, encode(color="red"))

    assert (other.status_code, other.json()["Code"]) == (422, "idempotency_key_reused")
    assert Asset.objects.count() == 1


def test_refused_picture_leaves_its_key_free(client):
    large = encode() + b"\0" * (10 * 1024 * 1024)
    assert code(keyed(client, large)) == "asset_too_large"
    assert code(keyed(client, b"GIF89a")) == "asset_unreadable"

    assert keyed(client, encode()).status_code == 201


def test_upload_with_a_key_keeps_its_slot_while_its_body_is_in_memory(client, monkeypatch):
    """Each of eight threads held 95 MB that one caller sent, and waited for a slot again."""
    under_way = []
    monkeypatch.setattr(
        idempotency, "stored_response", lambda **_: under_way.append(list(concurrency_limits._under_way))
    )

    response = client.post(
        PATH, encode(), content_type="image/png", headers={"Idempotency-Key": "with a slot"}
    )

    assert response.status_code == 201
    assert all("pictures" in dict(held) for held in under_way)
