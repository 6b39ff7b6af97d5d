from rest_framework import serializers

from printing.preflight import RULES, Severity

CODES = [rule.code for rule in RULES]


class PreflightBoxSerializer(serializers.Serializer):
    """Millimetres from the upper left corner of the trimmed page."""

    X = serializers.FloatField()
    Y = serializers.FloatField()
    Width = serializers.FloatField()
    Height = serializers.FloatField()


class PreflightSerializer(serializers.Serializer):
    """One thing that may print badly."""

    Code = serializers.CharField(help_text=f"Stable; new ones are added. One of {', '.join(CODES)}.")
    Severity = serializers.ChoiceField(
        choices=[str(severity) for severity in Severity],
        help_text="Error refuses an order, Warning does not.",
    )
    Page = serializers.IntegerField(help_text="Counted from 1.")
    Box = PreflightBoxSerializer(
        help_text="Where: millimetres from the upper left corner of the trimmed page."
    )
    Found = serializers.CharField()
    Wanted = serializers.CharField()
    Message = serializers.CharField(help_text="What is wrong, for a person.")
    Remedy = serializers.CharField(help_text="What to do about it.")
