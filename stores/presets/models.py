"""Output profiles, and the settings for print files that name one."""

from typing import ClassVar

import pghistory
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

CODE = r"^[A-Za-z0-9._-]{1,64}\Z"
INK_PERCENT = (100, 400)
PPI = (72, 1200)
BLEED_MM = (0, 25)


@pghistory.track(exclude=["content"])
class OutputProfile(models.Model):
    """The ICC profile of an output condition (paper, inks and press). It is replaced, never changed."""

    description = models.CharField(max_length=200, editable=False)
    file_name = models.CharField(max_length=200, editable=False)
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    size = models.PositiveIntegerField(editable=False)
    content = models.BinaryField(editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["description", "pk"]

    def __str__(self) -> str:
        return self.description


class Standard(models.TextChoices):
    PDF_X4 = "PDF/X-4", "PDF/X-4"


class Policy(models.TextChoices):
    MANAGED = "Managed", "Managed: colors of the source, with their profiles"
    CMYK = "CMYK", "CMYK: everything converted, black text on the K plate"


@pghistory.track()
class PrintPreset(models.Model):
    """A print shop's settings for the print files of products that use the preset.

    `printing.press.rules.PresetRules` holds the same as plain data. Without a profile the shipped one is used.
    """

    # The row `preset` as the record that PresetRules.from_json reads.
    RULES_SQL: ClassVar[str] = """
SELECT json_build_object('code', preset.code, 'name', preset.name, 'standard', preset.standard,
       'policy', preset.policy, 'profile', coalesce(profile.sha256, ''), 'bleed_mm', preset.bleed_mm::float8,
       'safe_mm', preset.safe_mm::float8, 'marks', preset.marks, 'slug', preset.slug,
       'keeps_overprint', preset.keeps_overprint,
       'highest_ink', preset.highest_ink, 'lowest_ppi', preset.lowest_ppi, 'severities', preset.severities)::text
FROM stores_printpreset preset LEFT JOIN stores_outputprofile profile ON profile.id = preset.profile_id
"""

    code = models.CharField(
        "preset ID",
        max_length=64,
        unique=True,
        validators=[RegexValidator(CODE, _("Use 1 to 64 letters, digits and . _ - only."))],
        help_text="Products and catalog files refer to the preset by this ID. It cannot be changed later.",
    )
    name = models.CharField(max_length=200)
    profile = models.ForeignKey(
        OutputProfile,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="presets",
        verbose_name="output profile",
        help_text="Empty: the included profile, ISO Coated v2 300%.",
    )
    standard = models.CharField(max_length=16, choices=Standard.choices, default=Standard.PDF_X4)
    policy = models.CharField("colors", max_length=16, choices=Policy.choices, default=Policy.CMYK)
    bleed_mm = models.DecimalField(
        "bleed (mm)",
        max_digits=5,
        decimal_places=3,
        null=True,
        blank=True,
        validators=[MinValueValidator(BLEED_MM[0]), MaxValueValidator(BLEED_MM[1])],
        help_text="The bleed that the printer requires around the trim. Empty: the bleed of each template.",
    )
    safe_mm = models.DecimalField(
        "safe distance (mm)",
        max_digits=5,
        decimal_places=3,
        default=3,
        validators=[MinValueValidator(BLEED_MM[0]), MaxValueValidator(BLEED_MM[1])],
        help_text="The distance that text keeps from the trim.",
    )
    marks = models.BooleanField("crop marks", default=True)
    slug = models.BooleanField(
        "slug line", default=False, help_text="Prints product, page and preset outside the bleed."
    )
    keeps_overprint = models.BooleanField(
        "keeps overprint",
        db_default=False,
        default=False,
        help_text="Applies to artwork PDFs. Proofs do not show overprint.",
    )
    highest_ink = models.PositiveSmallIntegerField(
        "highest total ink (%)",
        default=300,
        validators=[MinValueValidator(INK_PERCENT[0]), MaxValueValidator(INK_PERCENT[1])],
    )
    lowest_ppi = models.PositiveSmallIntegerField(
        "lowest resolution (ppi)",
        default=150,
        validators=[MinValueValidator(PPI[0]), MaxValueValidator(PPI[1])],
        help_text="The lowest resolution of a picture at its printed size.",
    )
    severities = models.JSONField(
        default=dict,
        blank=True,
        help_text='Severity of preflight rules, by code: "Error", "Warning" or "Off".',
    )
    created = models.DateTimeField(default=timezone.now, editable=False)
    updated = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(code__regex=CODE), name="print_preset_code_form"),
            models.CheckConstraint(
                condition=models.Q(highest_ink__range=INK_PERCENT, lowest_ppi__range=PPI),
                name="print_preset_limits",
            ),
            models.CheckConstraint(
                condition=models.Q(safe_mm__range=BLEED_MM)
                & (models.Q(bleed_mm__isnull=True) | models.Q(bleed_mm__range=BLEED_MM)),
                name="print_preset_lengths",
            ),
        ]
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name
