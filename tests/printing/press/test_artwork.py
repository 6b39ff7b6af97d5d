"""PDFs of others before they are printed: what is hidden is gone, what is shown is content, boxes are true."""

import io
from itertools import pairwise

import numpy as np
import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Stream
from PIL import Image

from printing.press import isolation
from printing.press.artwork import ArtworkRefused, place_artwork
from tests.support.printing.layered_files import BLUE, HIDDEN, changed, encrypted, layered, off
from tests.support.printing.pdf_making import one_page
from tests.support.printing.prepared_artwork import prepare_press_artwork
from tests.support.printing.programs import run

MM = 72 / 25.4


def drawn(folder, content, page=1):
    """As Ghostscript shows it: the colors of the four quarters."""
    (folder / "shown.pdf").write_bytes(content)
    options = ("-q", "-dNOPAUSE", "-dBATCH", "-dSAFER", "-sDEVICE=png16m", "-r72")
    run(
        "gs",
        *options,
        f"-dFirstPage={page}",
        f"-dLastPage={page}",
        f"-sOutputFile={folder}/shown.png",
        f"{folder}/shown.pdf",
    )
    with Image.open(folder / "shown.png") as made:
        return np.asarray(made.convert("RGB"))


@pytest.mark.parametrize("name", HIDDEN)
def test_hidden_layer_is_not_in_the_artwork(tmp_path, name):
    prepared = prepare_press_artwork(HIDDEN[name]).pdf

    assert drawn(tmp_path, prepared)[50, 75].tolist() == [255, 255, 255]
    assert drawn(tmp_path, prepared)[50, 25].tolist() == [255, 0, 0]
    assert b"Die line" not in prepared
    with pikepdf.open(io.BytesIO(prepared)) as pdf:
        assert b"0 0 1 rg 50 0 50 100 re f" not in b" ".join(pdf.pages[0].obj.Contents.read_bytes().split())


@pytest.mark.parametrize("default", [None, lambda layer: {"BaseState": Name.OFF, "ON": Array([layer])}])
def test_layer_that_is_shown_is_printed(tmp_path, default):
    assert drawn(tmp_path, prepare_press_artwork(layered(BLUE, default=default)).pdf)[50, 75].tolist() == [
        0,
        0,
        255,
    ]


def test_pictures_are_packed_so_that_their_colors_can_be_read():
    """ImageMagick packs them by the lengths of runs, and their RGB would be in a file of inks."""
    with pikepdf.new() as pdf:
        image = pdf.make_stream(b"\xfe\xcc\x80", Type=Name.XObject, Subtype=Name.Image, Width=1, Height=1)
        image.ColorSpace, image.BitsPerComponent, image.Filter = Name.DeviceRGB, 8, Name.RunLengthDecode
        page = pdf.add_blank_page().obj
        page.Resources, page.Contents = Dictionary(XObject=Dictionary(I=image)), pdf.make_stream(b"/I Do")
        pdf.save(packed := io.BytesIO(), stream_decode_level=pikepdf.StreamDecodeLevel.none)

    with pikepdf.open(io.BytesIO(prepare_press_artwork(packed.getvalue()).pdf)) as pdf:
        assert pdf.pages[0].obj.Resources.XObject.I.read_bytes() == b"\xcc\xcc\xcc"


@pytest.mark.parametrize("kind", ["form", "picture", "annotation"])
def test_object_of_a_hidden_layer_is_not_in_the_artwork(tmp_path, kind):
    def add(pdf, page):
        layer = pdf.make_indirect(Dictionary(Type=Name.OCG, Name="German"))
        pdf.Root.OCProperties = Dictionary(OCGs=Array([layer]), D=Dictionary(**off(layer)))
        form = Dictionary(Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 100, 100]))
        if kind == "picture":
            form = Dictionary(
                Type=Name.XObject,
                Subtype=Name.Image,
                Width=1,
                Height=1,
                BitsPerComponent=8,
                ColorSpace=Name.DeviceRGB,
            )
        stream = pdf.make_stream(b"\x00\x00\xff" if kind == "picture" else BLUE, form)
        if kind == "annotation":
            page.Annots = Array([pdf.make_indirect(stamp(stream, OC=layer))])
        else:
            stream.OC = layer
            page.Resources = Dictionary(XObject=Dictionary(X=stream))

    start = b"q 100 0 0 100 0 0 cm /X Do Q " if kind == "picture" else b"/X Do "
    artwork = changed(one_page(b"" if kind == "annotation" else start, (100, 100)), add)

    assert drawn(tmp_path, prepare_press_artwork(artwork).pdf).min() == 255


def test_hidden_layer_that_a_form_finds_in_its_page_is_not_in_the_artwork(tmp_path):
    def add(pdf, page):
        layer = pdf.make_indirect(Dictionary(Type=Name.OCG, Name="German"))
        pdf.Root.OCProperties = Dictionary(OCGs=Array([layer]), D=Dictionary(**off(layer)))
        form = Dictionary(Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 100, 100]))
        inner = pdf.make_stream(b"/OC /L BDC " + BLUE + b" EMC", form)
        page.Resources = Dictionary(Properties=Dictionary(L=layer), XObject=Dictionary(X=inner))

    artwork = changed(one_page(b"/X Do", (100, 100)), add)

    assert drawn(tmp_path, prepare_press_artwork(artwork).pdf).min() == 255


def stamp(look, **more):
    return Dictionary(
        Type=Name.Annot, Subtype=Name.Stamp, Rect=Array([50, 0, 100, 100]), F=4, AP=Dictionary(N=look), **more
    )


def test_annotations_and_filled_fields_become_content_and_are_counted(tmp_path):
    def add(pdf, page):
        look = pdf.make_stream(
            b"0 0 1 rg 0 0 50 100 re f", Dictionary(Subtype=Name.Form, BBox=Array([0, 0, 50, 100]))
        )
        hidden = stamp(look)
        hidden.F = 2
        field = Dictionary(
            Type=Name.Annot,
            Subtype=Name.Widget,
            FT=Name.Tx,
            T="name",
            V="x",
            Rect=Array([0, 0, 50, 100]),
            F=4,
            AP=Dictionary(N=look),
            DA="/Helv 0 Tf",
        )
        link = Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=Array([0, 0, 9, 9]))
        square = Dictionary(Type=Name.Annot, Subtype=Name.Square, Rect=Array([0, 0, 9, 9]))
        page.Annots = Array(
            [pdf.make_indirect(annotation) for annotation in (stamp(look), hidden, field, link, square)]
        )
        pdf.Root.AcroForm = Dictionary(Fields=Array([page.Annots[2]]))

    prepared = prepare_press_artwork(changed(one_page(b"", (100, 100)), add))

    [page] = prepared.pages
    assert (page.annotations, page.fields, page.dropped) == (1, 1, 1)
    shown = drawn(tmp_path, prepared.pdf)
    assert shown[50, 75].tolist() == shown[50, 25].tolist() == [0, 0, 255]
    assert b"/Annot" not in prepared.pdf
    assert b"/AcroForm" not in prepared.pdf


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_boxes_follow_turn_and_unit_of_the_page(tmp_path, turn):
    """A sheet of 140 x 120 points in units of two, with a trim 10 from the left and 30 from the bottom."""

    def add(pdf, page):
        page.MediaBox = Array([-20, -10, 120, 110])
        page.TrimBox, page.BleedBox = Array([-10, 20, 90, 100]), Array([-15, 15, 95, 105])
        page.Rotate, page.UserUnit = turn, 2

    [page] = (
        prepared := prepare_press_artwork(changed(one_page(b"1 0 0 rg -10 20 100 80 re f", (9, 9)), add))
    ).pages

    size = (280, 240) if turn % 180 == 0 else (240, 280)
    assert (page.width * MM, page.height * MM) == pytest.approx(size)
    left, top = {0: (20, 20), 90: (60, 20), 180: (60, 60), 270: (20, 60)}[turn]
    found = [value * MM for value in (page.trim.x, page.trim.y, page.trim.width, page.trim.height)]
    assert found == pytest.approx([left, top, *((200, 160) if turn % 180 == 0 else (160, 200))])
    red = np.argwhere(drawn(tmp_path, prepared.pdf)[:, :, 1] < 128)
    assert red.min(axis=0)[::-1].tolist() == pytest.approx([left, top], abs=1)


def test_pattern_stays_in_place_on_a_turned_page(tmp_path):
    def add(pdf, page):
        tile = pdf.make_stream(
            b"1 0 0 rg 0 0 10 10 re f",
            Dictionary(
                PatternType=1,
                PaintType=1,
                TilingType=1,
                BBox=Array([0, 0, 20, 20]),
                XStep=20,
                YStep=20,
                Resources=Dictionary(),
            ),
        )
        page.Resources = Dictionary(Pattern=Dictionary(P=tile))
        page.Rotate = 90

    artwork = changed(one_page(b"/Pattern cs /P scn 0 0 100 60 re f", (100, 60)), add)

    before, after = drawn(tmp_path, artwork), drawn(tmp_path, prepare_press_artwork(artwork).pdf)
    assert before.shape == after.shape
    assert np.abs(before.astype(int) - after).mean() < 2


def test_page_is_placed_by_its_trim_and_never_scaled(tmp_path):
    def add(pdf, page):
        page.TrimBox = Array([10, 30, 90, 70])

    prepared = prepare_press_artwork(changed(one_page(b"0 g 10 30 80 40 re f", (100, 120)), add))
    placed = place_artwork(prepared.pdf, prepared.pages[0], 0, 90 / MM, 50 / MM)

    shown = drawn(tmp_path, placed)
    assert shown.shape[:2] == (50, 90)
    assert shown[6:44, 6:84].max() == 0
    assert shown[:4].min() == shown[:, :4].min() == 255


def test_box_as_large_as_the_page_says_nothing_and_a_crop_box_is_the_trim():
    def same(pdf, page):
        page.TrimBox = page.BleedBox = Array([0, 0, 100, 100])

    def cropped(pdf, page):
        page.CropBox = Array([10, 10, 90, 90])

    [plain] = prepare_press_artwork(changed(one_page(b"", (100, 100)), same)).pages
    [cut] = prepare_press_artwork(changed(one_page(b"", (100, 100)), cropped)).pages

    assert (plain.trim, plain.bleed) == (None, None)
    assert cut.size == pytest.approx((80 / MM, 80 / MM))


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (encrypted(user="secret", owner="owner"), "artwork_password", "password"),
        (b"%PDF-1.7\nnothing\n%%EOF", "artwork_damaged", "damaged"),
        (b"GIF89a", "artwork_not_pdf", "not a PDF"),
    ],
)
def test_refusal_is_a_sentence_about_the_file(content, code, words):
    with pytest.raises(ArtworkRefused, match=words) as refused:
        isolation.prepare(content)
    assert refused.value.code == code


def chained(pdf, count):
    """Objects that each name the one before."""
    made = [pdf.make_indirect(Dictionary(A=1))]
    for _ in range(count):
        made.append(pdf.make_indirect(Dictionary(N=made[-1])))
    return made


def hold_chain(pdf, page):
    page.Resources = Dictionary(X=chained(pdf, 600)[-1])


def hold_each_of_a_chain(pdf, page):
    """All are near for who begins at the right end."""
    made = chained(pdf, 600)
    page.Resources = Dictionary(A=Array(made), X=made[-1])


def inherit_chain(pdf, page):
    del page.Resources
    page.Parent.Resources = Dictionary(X=chained(pdf, 600)[-1])


def hold_ring(pdf, page):
    made = chained(pdf, 600)
    made[0].N = made[-1]
    page.Resources = Dictionary(X=made[300])


def hold_arrays(pdf, page):
    outermost = pdf.make_indirect(Array([1]))
    for _ in range(30):
        for _ in range(20):
            outermost = Array([outermost])
        outermost = pdf.make_indirect(outermost)
    page.Resources = Dictionary(X=outermost)


@pytest.mark.parametrize(
    "change",
    [hold_chain, hold_each_of_a_chain, inherit_chain, hold_ring, hold_arrays],
    ids=lambda render: render.__name__,
)
def test_objects_too_deep_in_each_other_are_refused(change):
    """Who copies them by recursion, in a thread with a small stack, would end the process."""
    with pytest.raises(ArtworkRefused, match="deep in each other; allowed: 500") as refused:
        isolation.prepare(changed(one_page(b"", (100, 100)), change))
    assert refused.value.code == "artwork_too_complex"


def test_name_that_would_fill_the_findings_about_it_is_refused():
    """A file of 54 kB gave findings of 100 MB."""

    def named(length):
        plate = Array([Name.Separation, Name("/" + "A" * length), Name.DeviceCMYK, Dictionary()])
        words = pikepdf.String("/" + "a" * 2000)

        def change(pdf, page):
            page.Resources = Dictionary(ColorSpace=Dictionary(C=pdf.make_indirect(plate)), X=words)

        return changed(one_page(b"", (100, 100)), change)

    assert prepare_press_artwork(named(127)).pages
    with pytest.raises(ArtworkRefused, match="name of more than 500 characters") as refused:
        prepare_press_artwork(named(1000))
    assert refused.value.code == "artwork_too_complex"


def test_forms_that_share_their_resources_are_no_deeper_for_being_many():
    def hold(pdf, page):
        page.Resources = shared = pdf.make_indirect(Dictionary(XObject=Dictionary()))
        for number in range(1000):
            form = Stream(pdf, b"(1 0 R [[[)", Subtype=Name.Form, BBox=Array([0, 0, 9, 9]), Resources=shared)
            shared.XObject[f"/F{number}"] = pdf.make_indirect(form)

    assert isolation.prepare(changed(one_page(b"", (100, 100)), hold)).pages


def test_objects_that_name_those_before_and_after_are_no_deeper_than_all_of_them():
    def hold(pdf, page):
        made = chained(pdf, 60)
        for link, next_link in pairwise(made):
            link.After = next_link
        page.Resources = Dictionary(X=made[30])

    assert isolation.prepare(changed(one_page(b"", (100, 100)), hold)).pages


def test_isolated_work_gives_the_same_and_keeps_nothing_active():
    def add(pdf, page):
        pdf.Root.OpenAction = Dictionary(S=Name.JavaScript, JS="app.alert(1)")
        page.AA = Dictionary(O=Dictionary(S=Name.JavaScript, JS="app.alert(2)"))
        page.TrimBox = Array([10, 10, 90, 90])

    artwork = changed(encrypted(user="", owner="owner"), add)

    prepared = prepare_press_artwork(artwork)

    assert isolation.prepare(artwork) == prepared
    assert b"JavaScript" not in prepared.pdf
    with pytest.raises(ArtworkRefused, match="1 pages; 1 to 0"):
        prepare_press_artwork(artwork, most_pages=0)
