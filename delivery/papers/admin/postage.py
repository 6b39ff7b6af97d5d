from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from delivery.papers.models import PostagePrice
from delivery.papers.services.postage import save_postage_price
from fulfillment.core.admin.base import ConsoleAdmin


class PostagePriceForm(forms.ModelForm):
    class Meta:
        model = PostagePrice
        fields = ["starts", "per_piece", "note"]
        labels = {"starts": "Valid from", "per_piece": "Price per piece (USD)"}
        help_texts = {
            "starts": "The first day of this price.",
            "per_piece": "At most 4 decimals, as in the Postal Service's price list (Notice 123).",
            "note": "For example, the source of the price.",
        }


@admin.register(PostagePrice)
class PostagePriceAdmin(ConsoleAdmin):
    harmless_pages = ("add", "change", "delete")
    form = PostagePriceForm
    list_display = ["starts", "per_piece", "note"]
    list_display_links = ["starts", "per_piece"]
    search_fields = ["note"]
    search_help_text = "Note"
    add_label = "Add price"
    empty_help = (
        "Add the price of an EDDM Retail piece and the day it starts, and the papers of EDDM orders work out the "
        "postage. Prices of the Postal Service do not come with the service."
    )

    def save_model(
        self, request: HttpRequest, instance: PostagePrice, form: forms.ModelForm, change: bool
    ) -> None:
        values: dict[str, Any] = {name: form.cleaned_data[name] for name in ("starts", "per_piece", "note")}
        instance.pk = save_postage_price(price=instance if change else None, **values).pk
