"""The answer of a selection."""

from rest_framework import serializers


class SelectedRouteSerializer(serializers.Serializer):
    PostalCode = serializers.CharField()
    CarrierRouteID = serializers.CharField(help_text="A type letter (C, R, H or B) and three digits.")
    ResidentialCount = serializers.IntegerField()
    BusinessCount = serializers.IntegerField()
    TotalCount = serializers.IntegerField()
    Pieces = serializers.IntegerField()
    MedianIncome = serializers.IntegerField(allow_null=True)
    MedianAge = serializers.FloatField(allow_null=True)
    HouseholdSize = serializers.FloatField(allow_null=True)
    FacilityName = serializers.CharField(
        allow_blank=True, help_text="The post office of the route, where the data names it."
    )


class SelectionSerializer(serializers.Serializer):
    SelectionID = serializers.UUIDField()
    Created = serializers.DateTimeField()
    ExpiresAt = serializers.DateTimeField(help_text="Until then it can be quoted and ordered.")
    Vintage = serializers.CharField(help_text="The month the counts are of, YYYY-MM.")
    ResidentialCount = serializers.IntegerField()
    BusinessCount = serializers.IntegerField()
    TotalCount = serializers.IntegerField()
    Pieces = serializers.IntegerField(help_text="What a mailing to the selection takes.")
    BoundingBox = serializers.ListField(
        child=serializers.FloatField(),
        min_length=4,
        max_length=4,
        allow_null=True,
        help_text="West, south, east, north; null where it is not known where the routes are.",
    )
    Routes = SelectedRouteSerializer(many=True)
