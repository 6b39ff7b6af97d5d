from stores.typesetting.errors import (
    FontInvalid,
    Problem,
    Refused,
    RenderingBusy,
    RenderingFailed,
    RenderingTimedOut,
    TemplateInvalid,
    ValuesInvalid,
)
from stores.typesetting.fields import Field, resolve_values
from stores.typesetting.folder import load_fields, load_sample, load_template_folder, read_field
from stores.typesetting.fonts import FontSet, open_font
from stores.typesetting.parsing import parse_template
from stores.typesetting.rendering import PrintFile, Proof, render_print, render_proof, try_template
from stores.typesetting.template import Template

__all__ = [
    "Field",
    "FontInvalid",
    "FontSet",
    "PrintFile",
    "Problem",
    "Proof",
    "Refused",
    "RenderingBusy",
    "RenderingFailed",
    "RenderingTimedOut",
    "Template",
    "TemplateInvalid",
    "ValuesInvalid",
    "load_fields",
    "load_sample",
    "load_template_folder",
    "open_font",
    "parse_template",
    "read_field",
    "render_print",
    "render_proof",
    "resolve_values",
    "try_template",
]
