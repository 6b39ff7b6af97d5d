import pytest
from django.forms import modelform_factory

from stores.presets.admin import PrintPresetForm
from stores.presets.models import PrintPreset

VALUES = {
    "name": "Ours",
    "standard": "PDF/X-4",
    "policy": "CMYK",
    "safe_mm": 3,
    "highest_ink": 300,
    "lowest_ppi": 150,
}


@pytest.mark.django_db
@pytest.mark.parametrize(("code", "fields"), [("built-in", ["code"]), ("built-in-2", [])])
def test_no_preset_has_the_id_of_the_built_in_one(code, fields):
    form = modelform_factory(PrintPreset, PrintPresetForm, fields="__all__")({"code": code, **VALUES})

    assert list(form.errors) == fields
