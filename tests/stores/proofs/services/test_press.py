"""Print files and soft proofs by the preset of a product."""

import io
from datetime import timedelta

import pikepdf
import pytest
from django.core.files.storage import default_storage
from django.utils import timezone
from PIL import Image

from accounts.callers import Caller
from fulfillment.core.errors import Conflict
from fulfillment.core.files.stored import list_folder
from stores.catalog.selectors.products import stored_product
from stores.catalog.services.products import save_product
from stores.presets.models import PrintPreset
from stores.presets.services import remove_preset
from stores.proofs.models import Asset
from stores.proofs.selectors import product_version_of
from stores.proofs.services import proofs
from stores.proofs.services.assets import add_asset, clean_picture, own_files, remove_asset_files
from stores.proofs.services.print_rendering import render_print_file
from stores.proofs.services.retention import retention_rules
from tests.factories.presets import PrintPresetFactory, make_profile
from tests.factories.templates import field, make_card, page, text_box
from tests.support.printing.pdfx_rules import faults

PHOTO = field("Photo", Type="Image", SubType="Upload")
PHOTO_BOX = {"Field": "Photo", "Kind": "Image", "X": 10, "Y": 15, "Width": 30, "Height": 20}


def photo_card(store, **changes):
    template = {"Pages": [page(text_box("Name", Color="#000000"), PHOTO_BOX)]}
    return make_card(store, TemplateFields=[field("Name"), PHOTO], Template=template, **changes)


def upload(caller, store, image, form="JPEG", **options):
    out = io.BytesIO()
    image.save(out, form, **options)
    picture = clean_picture(caller=caller, content=out.getvalue())
    return add_asset(caller=caller, store_id=store.pk, picture=picture)


def printed(product, values, caller=None):
    return render_print_file(caller=caller or Caller(), product=product_version_of(product.pk), values=values)


def separated_files():
    shards = list_folder("press-pictures")[0]
    return [name for shard in shards for name in list_folder(f"press-pictures/{shard}")[1]]


def images_of(content):
    with pikepdf.open(io.BytesIO(content)) as pdf:
        return [
            (str(stream.ColorSpace), stream.read_raw_bytes())
            for stream in pdf.objects
            if isinstance(stream, pikepdf.Stream) and str(stream.get("/Subtype")) == "/Image"
        ]


def test_product_prints_by_its_preset_and_without_one_by_the_built_in(world):
    preset = PrintPresetFactory(code="coated", policy="CMYK", marks=False)
    plain = make_card(world.associated)
    coated = make_card(world.associated, "coated-card", Preset=preset.code)

    files = {product.external_id: printed(product, {"Name": "Ada"}).content for product in (plain, coated)}

    boxes = {}
    for name, content in files.items():
        assert faults(content) == []
        with pikepdf.open(io.BytesIO(content)) as pdf:
            first = pdf.pages[0].obj
            boxes[name] = list(first.MediaBox) == list(first.BleedBox)
    assert boxes == {"card": False, "coated-card": True}


def test_changed_preset_counts_at_once_and_its_profile_goes_into_the_file(world):
    preset = PrintPresetFactory(code="coated", policy="CMYK")
    product = make_card(world.associated, Preset="coated")
    before = printed(product, {"Name": "Ada"})

    preset.profile = make_profile()
    preset.save()
    after = printed(product, {"Name": "Ada"})

    assert before.sha256 != after.sha256
    with pikepdf.open(io.BytesIO(after.content)) as pdf:
        intent = pdf.Root.OutputIntents[0]
        assert str(intent.OutputConditionIdentifier) == "Custom"
        assert intent.DestOutputProfile.read_bytes() == bytes(preset.profile.content)


def test_uploads_keep_their_plates_and_are_separated_once(world, stored_files, monkeypatch):
    PrintPresetFactory(code="coated", policy="CMYK")
    caller = Caller()
    product = photo_card(world.associated, Preset="coated")
    store = product.store
    ink = upload(caller, store, Image.new("CMYK", (600, 400), (0, 0, 0, 178)), quality=95)
    color = upload(caller, store, Image.new("RGB", (600, 400), (200, 30, 30)), quality=95)
    assert (ink.plates, color.plates) == ("plates.jpg", "")

    [(space, content)] = images_of(printed(product, {"Name": "Ada", "Photo": str(ink.pk)}).content)
    assert space == "/DeviceCMYK"
    with Image.open(io.BytesIO(content)) as picture:
        assert picture.getpixel((300, 200)) == (0, 0, 0, 178)

    first = printed(product, {"Name": "Ada", "Photo": str(color.pk)})
    monkeypatch.setattr(proofs, "separate", None)
    assert printed(product, {"Name": "Ada", "Photo": str(color.pk)}) == first
    assert [space for space, _ in images_of(first.content)] == ["/DeviceCMYK"]


def test_separated_pictures_are_removed_when_they_are_old(world, stored_files, monkeypatch):
    PrintPresetFactory(code="coated", policy="CMYK")
    product = photo_card(world.associated, Preset="coated")
    asset = upload(Caller(), product.store, Image.new("RGB", (60, 40), (200, 30, 30)))
    printed(product, {"Name": "Ada", "Photo": str(asset.pk)})
    [rule] = [rule for rule in retention_rules() if rule.name == "separated pictures"]
    assert rule.count() == 0

    later = timezone.now() + timedelta(days=15)
    monkeypatch.setattr(timezone, "now", lambda: later)

    assert (rule.count(), sum(rule.remove(10)), rule.count()) == (1, 1, 0)


def test_unused_upload_is_removed_with_its_plates(world, stored_files, settings):
    asset = upload(Caller(), world.associated, Image.new("CMYK", (60, 40), (0, 0, 0, 178)))
    names = [f"assets/{asset.pk.hex[:2]}/{asset.pk.hex}.{form}" for form in ("jpg", "plates.jpg")]
    assert all(default_storage.exists(name) for name in names)
    Asset.objects.update(last_used=timezone.now() - timedelta(days=settings.ASSET_RETENTION_DAYS + 1))

    for rule in retention_rules():
        sum(rule.remove(10))

    assert not any(default_storage.exists(name) for name in names)


def test_erased_upload_takes_its_separated_copies_with_it(world, stored_files):
    PrintPresetFactory(code="coated", policy="CMYK")
    product = photo_card(world.associated, Preset="coated")
    store = product.store
    ink = upload(Caller(), store, Image.new("CMYK", (60, 40), (0, 0, 0, 178)))
    kept, color = (upload(Caller(), store, Image.new("RGB", (60, 40), (200, red, 30))) for red in (30, 60))
    for asset in (ink, kept, color):
        printed(product, {"Name": "Ada", "Photo": str(asset.pk)})
    assert len(separated_files()) == 3

    erased = [ink, color]
    Asset.objects.filter(pk__in=[asset.pk for asset in erased]).delete()
    remove_asset_files(erased)

    [left] = separated_files()
    assert left.startswith(kept.sha256)
    assert not any(default_storage.exists(name) for asset in erased for name in own_files(asset))
    assert all(default_storage.exists(name) for name in own_files(kept))


def test_preset_that_is_used_stays(world):
    preset = PrintPresetFactory(code="coated")
    product = make_card(world.associated, Preset="coated")
    with pytest.raises(Conflict, match="used by Card"):
        remove_preset(preset=preset)

    record = stored_product(product.pk).record
    save_product(store=product.store, product=product, values={**record, "Preset": None})
    remove_preset(preset=preset)
    assert not PrintPreset.objects.exists()
